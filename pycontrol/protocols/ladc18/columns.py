"""Best-effort broadcast over VCube trees with bundled messages (paper ladc18, Algorithm 2), over columns.

Everything that goes to the same neighbor within max_delay travels in one packet. The algorithm is in
`tasks.py` and `bundles.py`, the failure detectors are in `detectors.py`; the same written as one process, as the paper
has it, is `node.py`: it gives the same digest. Departures are marked and explained in
docs/papers/ladc18.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from causeway.bridge.events import Actions, Kind, Window, joined
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.ladc18 import kernel, state
from causeway.pycontrol.protocols.ladc18.state import Config, enlarged, make_out, make_state
from causeway.pycontrol.protocols.vcube.tree import dimension

KINDS = (int(Kind.ARRIVAL), int(Kind.TIMER), int(Kind.BROADCAST), int(Kind.NODE))


class Limits(NamedTuple):
    """The algorithm's parameters. Sizes are those of the paper's Table 1, in bytes."""

    processes: int
    max_delay_ps: int
    max_payload: int
    tree_size: int
    ack_size: int
    test_interval_ps: int = 0
    """0: no failure detector runs."""
    reply_timeout_ps: int = 0
    test_until_ps: int = 0
    """The detectors go on at least until then; after that, until all broadcasts are complete."""


class BundledBroadcast(Protocol):
    """All processes (nodes 0..n-1) and, where there are that many nodes, their failure detectors (nodes n..2n-1)."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def start(self, context: Context) -> None:
        super().start(context)
        limits = self.limits
        n, height = limits.processes, dimension(limits.processes)
        self._config = Config(
            n, height, context.reaction_ps, limits.max_delay_ps, limits.max_payload, limits.tree_size,
            limits.ack_size, limits.test_interval_ps, limits.reply_timeout_ps, limits.test_until_ps,
        )  # fmt: skip
        self._s = make_state(n)
        self._out = make_out(state.ROWS)
        if context.nodes > n:
            kernel.start(self._config, self._s, self._out)

    def on_window(self, window: Window) -> Actions:
        actions, done = [], 0
        while True:
            at = kernel.handle(
                self._config, self._s, self._out, done, window.kind, window.time_ps, window.node, window.ref, KINDS
            )
            actions.append(self._take())
            if at == len(window):
                return actions[0] if len(actions) == 1 else joined(actions)
            self._s = enlarged(self._s)
            if self._s.counts[state.NEED] > len(self._out.kind):
                self._out = make_out(2 * int(self._s.counts[state.NEED]))
            done = at

    def _take(self) -> Actions:
        """What is in `_out`: observers are told, process 0's packets recorded, the actions go back."""
        out, (rows, told, samples) = self._out, self._out.rows.tolist()
        out.rows[:] = 0
        if told:
            self.context.observe(out.op[:told], out.op_time[:told], out.op_node[:told], out.op_message[:told])
        for time_ps, items, bytes_ in zip(*(c[:samples].tolist() for c in out[-4:-1]), strict=True):
            self.context.record("node[0]", "bundled", time_ps, items)
            self.context.record("node[0]", "bytes", time_ps, bytes_)
        return Actions(
            out.kind[:rows].copy(), out.time_ps[:rows].copy(), out.node[:rows].copy(), out.ref[:rows].copy(),
            out.peer[:rows].copy(), out.size_bytes[:rows].copy(), np.zeros(rows, np.uint8),
        )  # fmt: skip

    def scalars(self) -> Mapping[str, float]:
        count = self._s.counts
        return {
            "packets": float(count[state.OWN_PACKETS]),
            "tree_messages": float(count[state.TREE_MESSAGES]),
            "ack_messages": float(count[state.ACK_MESSAGES]),
            "tests": float(count[state.TESTS]),
            "unfinished": float(count[state.UNFINISHED]),
            "last_arrival_ps": int(count[state.LAST_ARRIVAL]),
        }
