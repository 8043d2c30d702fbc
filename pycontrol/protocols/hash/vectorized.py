"""Probabilistic clocks with the hash error detector (paper `hash`, Algorithms 2 and 3): the vectorized implementation.

A suspected message is delivered after its sender has named its dependencies (REQ, RSP) and all of them have been
delivered. The reference implementation is `node.py`; both give the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from causeway.bridge.events import Actions, Kind, Window
from causeway.errors import UserError
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.clocks.vectorized import ENTRY_BYTES, HEADER_BYTES
from causeway.pycontrol.protocols.hash.kernel import handle, sweep
from causeway.pycontrol.protocols.hash.state import Choices, Config, HashState, Packets, Search
from causeway.pycontrol.slots import new_slots, reserve
from causeway.pycontrol.state_arrays import allocate, with_room
from causeway.pycontrol.tape import K_BROADCAST, Tape, events_of, take

ID_BYTES = 8
"""Bytes of a message's id in an RSP."""
HASH_BYTES = 8
DEFAULT = Choices()


class HashDetector(Protocol):
    """All processes of a run."""

    passive = (Kind.LOST,)

    def __init__(
        self, clock_size: int, entries: int, limit: int, remember: int = 4096, retest: bool = False, even: bool = False,
        choices: Choices = DEFAULT,
    ) -> None:  # fmt: skip
        """Set the paper's parameters.

        Args:
            clock_size: Entries of a clock.
            entries: Entries per process, |f(p)|.
            limit: The maximum number of hashes per test (the paper's l).
            remember: The number of last deliveries that a process searches; a power of two.
            retest: Test a suspected message again after each delivery. The paper tests it once.
            even: Share the entries evenly among the processes.
            choices: Details that the paper leaves open.

        Raises:
            UserError: A parameter is out of range.
        """
        if not 1 <= entries <= clock_size:
            raise UserError(f"entries={entries} is not between 1 and the clock's size, {clock_size}")
        if remember & (remember - 1):
            raise UserError(f"remember={remember} is not a power of two")
        self.clock_size, self.entries, self.limit = clock_size, entries, limit
        self.remember, self.retest, self.even, self.choices = remember, retest, even, choices

    def start(self, context: Context) -> None:
        """Allocate the arrays."""
        super().start(context)
        near, one_request, quiet, _ = self.choices
        sizes = {"node": context.nodes, "entry": self.clock_size, "own": self.entries, "recent": self.remember}
        ring, sets = (self.remember, self.limit) if near else (1, 1)
        sizes |= {"near": ring, "mate": ring, "set": sets}
        app_bytes = HEADER_BYTES + ENTRY_BYTES * self.clock_size + HASH_BYTES
        mask = np.uint64((1 << self.choices.hash_bits) - 1)
        self._config = Config(
            context.reaction_ps, app_bytes, HEADER_BYTES, ID_BYTES, mask, self.limit, self.retest,
            near, one_request, quiet,
        )  # fmt: skip
        self._packets = allocate(Packets, {"slots": new_slots()}, slot=64)
        f = choose_entries(context.seed, context.nodes, self.clock_size, self.entries, self.even)
        search = allocate(Search, {"f": f}, slot=64, **sizes)
        self._s = allocate(HashState, {"slots": new_slots(), "search": search}, slot=64, item=64, **sizes)
        self._tape = allocate(Tape, reported=64, act=64)

    def on_window(self, window: Window) -> Actions:
        """Broadcast, receive, test and deliver messages, and answer requests."""
        self._make_room(len(window), int(np.count_nonzero(window.kind == K_BROADCAST)))
        handle(self._config, self._s, self._packets, self._tape, events_of(window))
        return take(self._tape, self.context)

    def scalars(self) -> Mapping[str, float]:
        """Return the counters of waiting messages, requests and hashes."""
        counts, lines = self._s.counts[0], self._s.lines.counts[0]
        return {
            "waited": float(lines["waited"]), "undelivered": float(lines["waiting"]),
            "requests": float(counts["requests"]), "hashes": float(counts["hashes"]),
            "skipped": float(counts["skipped"]),
        }  # fmt: skip

    def _make_room(self, events: int, broadcasts: int) -> None:
        """Make room for the maximum that a window with this number of events can cause."""
        most = events + int(self._s.lines.counts["waiting"][0])
        if self._s.slots.at["free"][0] < broadcasts:
            sweep(self._s)
            live = len(self._s.slots.free) - int(self._s.slots.at["free"][0])
            # then at least half of the slots are free, so sweeps are rare
            self._s = reserve(self._s, broadcasts + live)
        self._s = with_room(reserve(self._s, broadcasts), item=most)
        self._packets = reserve(self._packets, most)
        self._tape = with_room(self._tape, reported=3 * most, act=most)
