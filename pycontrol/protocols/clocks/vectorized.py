"""Causal broadcast with probabilistic clocks (paper `hash`, Algorithm 1): the vectorized implementation.

    broadcast(m):   V[x] += 1 for x in f(p); m.V = V; send m to all
    reception(m):   wait until V[x] >= m.V[x] - 1 for x in f(sender) and V[x] >= m.V[x] elsewhere
                    V[x] += 1 for x in f(sender); deliver(m)

With `detect`, the paper's error detector tests each message before its delivery. A suspected message is reported to the
observers (FLAGGED) and delivered nevertheless, since the paper does not define an error handler.

The reference implementation is `node.py`; both give the same digest.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import Actions, Kind, Window
from causeway.errors import UserError
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.clocks.entries import choose_entries
from causeway.pycontrol.protocols.clocks.kernel import handle
from causeway.pycontrol.protocols.clocks.state import ClockState, Config
from causeway.pycontrol.slots import new_slots, reserve
from causeway.pycontrol.state_arrays import allocate, with_room
from causeway.pycontrol.tape import K_BROADCAST, Tape, events_of, take

HEADER_BYTES = 16
"""Sender, sequence number and length of a message."""
ENTRY_BYTES = 4


class ProbabilisticClock(Protocol):
    """All processes of a run. A message and its packet have the same id."""

    passive = (Kind.ARRIVAL, Kind.LOST)

    def __init__(self, clock_size: int, entries: int, detect: bool = False, even: bool = False) -> None:
        """Set the paper's parameters.

        Args:
            clock_size: Entries of a clock.
            entries: Entries per process, |f(p)|.
            detect: Flag suspected messages.
            even: Share the entries evenly among the processes. By default each process draws its own.

        Raises:
            UserError: The clock has fewer entries than a process needs.
        """
        if not 1 <= entries <= clock_size:
            raise UserError(f"entries={entries} is not between 1 and the clock's size, {clock_size}")
        self.clock_size, self.entries, self.detect, self.even = clock_size, entries, detect, even

    def entries_of_all(self) -> NDArray[np.int32]:
        """Return f: a row of entries for each process."""
        return choose_entries(self.context.seed, self.context.nodes, self.clock_size, self.entries, self.even)

    def start(self, context: Context) -> None:
        """Allocate the arrays."""
        super().start(context)
        f = self.entries_of_all()
        self._config = Config(context.reaction_ps, HEADER_BYTES + ENTRY_BYTES * self.clock_size, self.detect)
        self._s = allocate(
            ClockState, {"slots": new_slots(), "f": f}, node=context.nodes, entry=self.clock_size, slot=64, item=64
        )
        self._tape = allocate(Tape, reported=64, act=64)

    def on_window(self, window: Window) -> Actions:
        """Broadcast, receive and deliver messages."""
        self._make_room(len(window), int(np.count_nonzero(window.kind == K_BROADCAST)))
        handle(self._config, self._s, self._tape, events_of(window))
        return take(self._tape, self.context)

    def scalars(self) -> Mapping[str, float]:
        """Return the number of messages that have waited, and of those that still wait."""
        counts = self._s.lines.counts[0]
        return {"waited": float(counts["waited"]), "undelivered": float(counts["waiting"])}

    def _make_room(self, events: int, broadcasts: int) -> None:
        """Make room for the maximum that a window with this number of events can need."""
        waiting = int(self._s.lines.counts["waiting"][0])
        self._s = with_room(reserve(self._s, broadcasts), item=waiting + events)
        self._tape = with_room(self._tape, reported=3 * events + 2 * waiting, act=broadcasts)
