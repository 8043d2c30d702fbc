"""Causal broadcast with probabilistic clocks and the hash error detector (paper `hash`, Algorithms 2, 3), over columns.

What the detector suspects is not delivered before its sender has named the dependencies (REQ, RSP) and all of them have
been delivered. The same protocol written as one process is `node.py`; it gives the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from causeway.bridge.errors import UserError
from causeway.bridge.events import Actions, Kind, Window, sends
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.columns import ENTRY_BYTES, HEADER_BYTES, longer, make_out
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.clocks.kernel import END, ROWS, WAITED, WAITING
from causeway.pycontrol.protocols.hash.kernel import (
    DEAD_COUNT,
    HASHES,
    K_BROADCAST,
    REQUESTS,
    SENDS,
    Config,
    Packets,
    Sends,
    State,
    handle,
    sweep,
)
from causeway.pycontrol.slots import FREE, Slots

ID_BYTES = 8
"""Of a message's name, in an RSP."""
HASH_BYTES = 8


class HashDetector(Protocol):
    """All processes."""

    passive = (Kind.LOST,)

    def __init__(
        self, clock_size: int, entries: int, limit: int, remember: int = 4096, hash_bits: int = 64,
        retest: bool = False, even: bool = False,
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
        self.remember, self.hash_bits, self.retest, self.even = remember, hash_bits, retest, even

    def start(self, context: Context) -> None:
        super().start(context)
        n, m, k, kept = context.nodes, self.clock_size, self.entries, self.remember
        app_bytes = HEADER_BYTES + ENTRY_BYTES * m + HASH_BYTES
        mask = np.uint64((1 << self.hash_bits) - 1)
        self._config = Config(context.reaction_ps, app_bytes, HEADER_BYTES, ID_BYTES, mask, self.limit, self.retest)
        self._slots, self._packet_slots = Slots(64), Slots(64)
        self._out, self._sends = make_out(64), _sends(64)
        self._packets = Packets(
            self._packet_slots.ring, self._packet_slots.free, self._packet_slots.state,
            kind=np.zeros(64, np.uint8), message=np.zeros(64, np.int64), sender=np.zeros(64, np.int32),
            copies=np.zeros(64, np.int32),
        )  # fmt: skip
        self._s = State(
            self._slots.ring, self._slots.free, self._slots.state,
            # by process
            clock=np.zeros((n, m), np.int32), f=choose_entries(context.seed, n, m, k, self.even),
            hash_now=np.zeros(n, np.uint64),
            lacks=np.zeros((n, 1), np.uint64), dep_now=np.zeros((n, 1), np.uint64), dep_count_now=np.zeros(n, np.int32),
            recent_sender=np.zeros((n, kept), np.int32), recent_message=np.zeros((n, kept), np.int64),
            delivered=np.zeros(n, np.int64), first=np.full(n, END, np.int32), last=np.full(n, END, np.int32),
            # by message in flight
            need=np.zeros((64, m), np.int32), sender=np.zeros(64, np.int32), id_of=np.zeros(64, np.int64),
            copies=np.zeros(64, np.int32), hash_at=np.zeros(64, np.uint64), dep=np.zeros((64, 1), np.uint64),
            dep_count=np.zeros(64, np.int32), dead=np.zeros(64, np.int32),
            # by waiting item
            item_next=np.zeros(64, np.int32), item_slot=np.zeros(64, np.int32), item_entry=np.zeros(64, np.int32),
            spare=np.arange(64, dtype=np.int32),
            # the run's, and room for the search
            counts=np.zeros(7, np.int64), by_entry=np.zeros((2, m), np.int32),
            candidate_entries=np.zeros((kept + 1, k), np.int32), candidate_hash=np.zeros(kept + 1, np.uint64),
            chosen=np.zeros(kept + 1, np.bool_),
        )  # fmt: skip

    def on_window(self, window: Window) -> Actions:
        self._make_room(len(window), int(np.count_nonzero(window.kind == K_BROADCAST)))
        counts, out, send = self._s.counts, self._out, self._sends
        counts[ROWS] = counts[SENDS] = 0
        handle(
            self._s, self._packets, out, send, self._config, window.kind, window.time_ps, window.node, window.ref,
            window.arg,
        )  # fmt: skip
        told, sent = int(counts[ROWS]), int(counts[SENDS])
        self.context.observe(out.op[:told], out.time_ps[:told], out.node[:told], out.message[:told])
        return sends(
            send.time_ps[:sent].copy(), send.node[:sent].copy(), send.packet[:sent].copy(), send.peer[:sent].copy(),
            send.size_bytes[:sent].copy(),
        )  # fmt: skip

    def scalars(self) -> Mapping[str, float]:
        counts = self._s.counts
        return {
            "waited": float(counts[WAITED]), "undelivered": float(counts[WAITING]),
            "requests": float(counts[REQUESTS]), "hashes": float(counts[HASHES]),
        }  # fmt: skip

    def _make_room(self, events: int, broadcasts: int) -> None:
        """For the most that a window of so many events can cause."""
        waiting = int(self._s.counts[WAITING])
        most = events + waiting
        if self._slots.state[FREE] < broadcasts:
            sweep(self._s)
            live = self._slots.capacity - int(self._slots.state[FREE])
            if self._slots.reserve(broadcasts + live):  # at least half of them are to be free after a sweep
                self._grow_messages()
        self._slots.reserve(broadcasts)
        if self._s.ring is not self._slots.ring or self._s.free is not self._slots.free:
            self._s = self._s._replace(ring=self._slots.ring, free=self._slots.free)
        if self._packet_slots.reserve(most):
            more = self._packet_slots.capacity - len(self._packets.kind)
            names = ("kind", "message", "sender", "copies")
            self._packets = self._packets._replace(**{k: longer(getattr(self._packets, k), more) for k in names})
        slots = self._packet_slots
        if self._packets.ring is not slots.ring or self._packets.free is not slots.free:
            self._packets = self._packets._replace(ring=slots.ring, free=slots.free)
        if most > (items := len(self._s.spare)):
            grown = {k: longer(getattr(self._s, k), most) for k in ("item_next", "item_slot", "item_entry")}
            spare = np.concatenate([self._s.spare, np.arange(items, items + most, dtype=np.int32)])
            self._s = self._s._replace(**grown, spare=spare)
        if len(self._out.op) < 3 * most:
            self._out, self._sends = make_out(6 * most), _sends(2 * most)

    def _grow_messages(self) -> None:
        s, more = self._s, self._slots.capacity - len(self._s.need)
        assert s.counts[DEAD_COUNT] == 0, "the sets were just swept"
        names = ("need", "sender", "id_of", "copies", "hash_at", "dep", "dep_count", "dead")
        grown: dict[str, Any] = {k: longer(getattr(s, k), more) for k in names}
        words = ((0, 0), (0, self._slots.capacity // 64 - s.lacks.shape[1]))
        for name, old in (("lacks", s.lacks), ("dep_now", s.dep_now), ("dep", grown["dep"])):
            grown[name] = np.pad(old, words)
        self._s = s._replace(**grown)


def _sends(rows: int) -> Sends:
    return Sends(
        np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int64), np.empty(rows, np.int32),
        np.empty(rows, np.int32),
    )  # fmt: skip
