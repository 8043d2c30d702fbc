"""Best-effort broadcast over VCube trees with bundled messages (paper ladc18): the vectorized implementation.

The algorithm is in `tasks.py` and `bundles.py`, the failure detectors are in `detectors.py`. The reference
implementation is `node.py`; both give the same digest. Departures are marked, and explained in docs/papers/ladc18.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from causeway.bridge.events import Actions, Window, joined
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.ladc18 import kernel
from causeway.pycontrol.protocols.ladc18.state import Config, enlarged, make_state, rows_at_first
from causeway.pycontrol.protocols.vcube.tree import dimension
from causeway.pycontrol.state_arrays import allocate, size_of, with_room
from causeway.pycontrol.tape import Tape, events_of, take


class Limits(NamedTuple):
    """The parameters of the algorithm. Sizes are those of the paper's Table 1 in bytes."""

    processes: int
    max_delay_ps: int
    max_payload: int
    tree_size: int
    ack_size: int
    test_interval_ps: int = 0
    """The time between two rounds of tests; 0 without failure detectors."""
    reply_timeout_ps: int = 0
    test_until_ps: int = 0
    """The detectors run until this time, or until the last broadcast is complete if this is later."""


class BundledBroadcast(Protocol):
    """All processes (nodes 0..n-1) and, if the network has 2n nodes, their failure detectors (nodes n..2n-1)."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def start(self, context: Context) -> None:
        """Allocate the arrays and start the detectors."""
        super().start(context)
        limits = self.limits
        n, height = limits.processes, dimension(limits.processes)
        self._config = Config(
            n, height, context.reaction_ps, limits.max_delay_ps, limits.max_payload, limits.tree_size,
            limits.ack_size, limits.test_interval_ps, limits.reply_timeout_ps, limits.test_until_ps,
        )  # fmt: skip
        self._s = make_state(n)
        rows = rows_at_first(n)
        self._tape = allocate(Tape, reported=rows, act=rows)
        if context.nodes > n:
            kernel.start(self._config, self._s, self._tape)

    def on_window(self, window: Window) -> Actions:
        """Handle packets, timers, broadcasts and crashes, and make room for them as needed."""
        actions, done, events = [], 0, events_of(window)
        while True:
            at = kernel.handle(self._config, self._s, self._tape, events, done)
            if samples := int(self._s.counts["samples"][0]):
                self._record(samples)
            actions.append(take(self._tape, self.context))
            if at == len(window):
                return actions[0] if len(actions) == 1 else joined(actions)
            self._s = enlarged(self._s)
            if (need := int(self._s.counts["need"][0])) > size_of(self._tape, "act"):
                self._tape = with_room(self._tape, reported=2 * need, act=2 * need)
            done = at

    def _record(self, samples: int) -> None:
        """Record the packets that process 0 has sent."""
        for time_ps, items, size_bytes in self._s.samples[:samples].tolist():
            self.context.record("node[0]", "bundled", time_ps, items)
            self.context.record("node[0]", "bytes", time_ps, size_bytes)
        self._s.counts["samples"] = 0

    def scalars(self) -> Mapping[str, float]:
        """Return the counters of messages, packets and tests."""
        count = self._s.counts[0]
        names = ("packets", "tree_messages", "ack_messages", "tests", "unfinished")
        return {name: float(count[name]) for name in names} | {
            name: int(count[name]) for name in ("last_arrival_ps", "learned_ps")
        }
