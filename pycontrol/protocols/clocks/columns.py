"""Causal broadcast with probabilistic clocks (paper `hash`, Algorithm 1), over columns.

    broadcast(m):   V[x] += 1 for x in f(p); m.V = V; send m to all
    reception(m):   wait until V[x] >= m.V[x] - 1 for x in f(sender) and V[x] >= m.V[x] elsewhere
                    V[x] += 1 for x in f(sender); deliver(m)

With `detect`, their error detector looks at each message about to be delivered, and what it suspects is told to the
observers (FLAGGED) and delivered: the paper says nothing of what an error handler would do.
The same protocol written as one process is `node.py`; it gives the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.errors import UserError
from causeway.bridge.events import BROADCAST_PEER, NO_ACTIONS, Actions, Kind, Window, sends
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.clocks.kernel import END, K_BROADCAST, NEXT, ROWS, WAITED, WAITING, Out, State, handle
from causeway.pycontrol.slots import Slots

HEADER_BYTES = 16
"""Sender, sequence number, length."""
ENTRY_BYTES = 4


class ProbabilisticClock(Protocol):
    """All processes. A message's id is its packet's id."""

    passive = (Kind.ARRIVAL, Kind.LOST)

    def __init__(self, clock_size: int, entries: int, detect: bool = False, even: bool = False) -> None:
        """`even`: every entry belongs to equally many processes (else each process draws its own)."""
        if not 1 <= entries <= clock_size:
            raise UserError(f"{entries} entries per process do not fit a clock of {clock_size}: 1 to {clock_size} do")
        self.clock_size, self.entries, self.detect, self.even = clock_size, entries, detect, even

    def entries_of_all(self) -> NDArray[np.int32]:
        """f: one row of entries a process."""
        return choose_entries(self.context.seed, self.context.nodes, self.clock_size, self.entries, self.even)

    def start(self, context: Context) -> None:
        super().start(context)
        nodes = context.nodes
        self._slots = slots = Slots(64)
        self._s = State(
            slots.ring, slots.free, slots.state,
            clock=np.zeros((nodes, self.clock_size), np.int32), f=self.entries_of_all(),
            need=np.zeros((64, self.clock_size), np.int32), sender=np.zeros(64, np.int32), id_of=np.zeros(64, np.int64),
            copies=np.zeros(64, np.int32), first=np.full(nodes, END, np.int32), last=np.full(nodes, END, np.int32),
            item_next=np.zeros(64, np.int32), item_slot=np.zeros(64, np.int32), item_entry=np.zeros(64, np.int32),
            spare=np.arange(64, dtype=np.int32), counts=np.zeros(3, np.int64),
        )  # fmt: skip
        self._out = make_out(64)

    def on_window(self, window: Window) -> Actions:
        asked = (window.kind == K_BROADCAST).nonzero()[0]
        self._make_room(len(window), len(asked))
        first = int(self._slots.state[NEXT])
        counts, out = self._s.counts, self._out
        counts[ROWS] = 0
        handle(self._s, out, self.detect, window.kind, window.time_ps, window.node, window.ref)
        rows = int(counts[ROWS])
        self.context.observe(out.op[:rows], out.time_ps[:rows], out.node[:rows], out.message[:rows])
        if not len(asked):
            return NO_ACTIONS
        return sends(
            window.time_ps[asked] + self.context.reaction_ps, window.node[asked],
            np.arange(first, first + len(asked)), np.full(len(asked), BROADCAST_PEER, np.int32),
            window.arg[asked] + np.int32(HEADER_BYTES + ENTRY_BYTES * self.clock_size),
        )  # fmt: skip

    def scalars(self) -> Mapping[str, float]:
        return {"waited": float(self._s.counts[WAITED]), "undelivered": float(self._s.counts[WAITING])}

    def _make_room(self, events: int, broadcasts: int) -> None:
        """For the most that a window of so many events can need."""
        if self._slots.reserve(broadcasts):
            s, more = self._s, self._slots.capacity - len(self._s.need)
            grown = {k: longer(getattr(s, k), more) for k in ("need", "sender", "id_of", "copies")}
            self._s = s._replace(**grown)
        if self._s.ring is not self._slots.ring or self._s.free is not self._slots.free:
            self._s = self._s._replace(ring=self._slots.ring, free=self._slots.free)
        items, waiting = len(self._s.spare), int(self._s.counts[WAITING])
        if waiting + events > items:
            more = waiting + events
            grown = {k: longer(getattr(self._s, k), more) for k in ("item_next", "item_slot", "item_entry")}
            spare = np.concatenate([self._s.spare, np.arange(items, items + more, dtype=np.int32)])
            self._s = self._s._replace(**grown, spare=spare)
        if len(self._out.op) < (rows := 3 * events + 2 * waiting):
            self._out = make_out(2 * rows)


def make_out(rows: int) -> Out:
    return Out(np.empty(rows, np.uint8), np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int64))


def longer(array: NDArray, more: int) -> NDArray:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
