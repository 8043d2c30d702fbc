"""Causal broadcast with probabilistic clocks and the hash error detector (paper `hash`, Algorithms 2, 3), over columns.

What the detector suspects is not delivered before its sender has named the dependencies (REQ, RSP) and all of them have
been delivered. The same protocol written as one process is `node.py`; it gives the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from causeway.bridge.errors import UserError
from causeway.bridge.events import Actions, Kind, Window
from causeway.pycontrol.arrays import allocate, with_room
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.columns import ENTRY_BYTES, HEADER_BYTES
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.hash.kernel import handle, sweep
from causeway.pycontrol.protocols.hash.state import Choices, Config, Packets, Search, State
from causeway.pycontrol.slots import new_slots, reserve
from causeway.pycontrol.tape import K_BROADCAST, Tape, events_of, take

ID_BYTES = 8
"""Of a message's name, in an RSP."""
HASH_BYTES = 8
DEFAULT = Choices()


class HashDetector(Protocol):
    """All processes."""

    passive = (Kind.LOST,)

    def __init__(
        self, clock_size: int, entries: int, limit: int, remember: int = 4096, retest: bool = False, even: bool = False,
        choices: Choices = DEFAULT,
    ) -> None:  # fmt: skip
        """`limit`: hashes per test (the paper's l). `remember`: how many of its deliveries a process looks back on.
        `retest`: whether a suspected message is tested again after each delivery (the paper tests once).
        `even`: every entry belongs to equally many processes.
        """
        if not 1 <= entries <= clock_size:
            raise UserError(f"{entries} entries per process do not fit a clock of {clock_size}: 1 to {clock_size} do")
        if remember & (remember - 1):
            raise UserError(f"a process cannot look back on {remember} deliveries: choose a power of two")
        self.clock_size, self.entries, self.limit = clock_size, entries, limit
        self.remember, self.retest, self.even, self.choices = remember, retest, even, choices

    def start(self, context: Context) -> None:
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
        self._s = allocate(State, {"slots": new_slots(), "search": search}, slot=64, item=64, **sizes)
        self._tape = allocate(Tape, told=64, act=64)

    def on_window(self, window: Window) -> Actions:
        self._make_room(len(window), int(np.count_nonzero(window.kind == K_BROADCAST)))
        handle(self._config, self._s, self._packets, self._tape, events_of(window))
        return take(self._tape, self.context)

    def scalars(self) -> Mapping[str, float]:
        counts, lines = self._s.counts[0], self._s.lines.counts[0]
        return {
            "waited": float(lines["waited"]), "undelivered": float(lines["waiting"]),
            "requests": float(counts["requests"]), "hashes": float(counts["hashes"]),
            "skipped": float(counts["skipped"]),
        }  # fmt: skip

    def _make_room(self, events: int, broadcasts: int) -> None:
        """For the most that a window of so many events can cause."""
        most = events + int(self._s.lines.counts["waiting"][0])
        if self._s.slots.at["free"][0] < broadcasts:
            sweep(self._s)
            live = len(self._s.slots.free) - int(self._s.slots.at["free"][0])
            self._s = reserve(self._s, broadcasts + live)  # at least half of them are to be free after a sweep
        self._s = with_room(reserve(self._s, broadcasts), item=most)
        self._packets = reserve(self._packets, most)
        self._tape = with_room(self._tape, told=3 * most, act=most)
