"""The same algorithm with a floating-point clock, as in the paper's simulator (Neko).

Two events that have the same exact time may differ here by a rounding error, so that one of them comes first. No engine
has such a clock, so this module has its own event queue, without crashes. The processes are those of the reference
implementation.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from causeway.bridge.events import NO_ACTIONS, Actions, Window
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.ladc18.node import Process, Tally
from causeway.pycontrol.protocols.ladc18.vectorized import Limits

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode

SEND, TRAVEL, RECEIVE, REACT = 0.1, 0.8, 0.1, 0.1
"""ts, tt, tr and the reaction time of a process, in units. They are added one after the other."""


class FloatingProcess(Process):
    """Process p_i. Its times are in units."""

    def __init__(self, i: int, limits: Limits, tally: Tally, world: FloatingBroadcast) -> None:
        super().__init__(i, limits, tally)
        self.world = world

    @property
    def now_ps(self) -> int:
        """Return the time as a float in units, not in ps."""
        return self.world.now  # type: ignore[return-value]

    def deliver(self, message: int) -> None:
        """Do nothing, since this run has no observers."""

    def new_message(self) -> int:
        """Return the next number."""
        return next(self.world.numbers)

    def record(self, name: str, value: float) -> None:
        """Do nothing."""

    def set_timer(self, key: Hashable, delay_ps: int) -> None:
        """Set the timer of the bundle for `key` to the time at which it is due."""
        assert isinstance(key, int)
        self.world.timers[self.i, key] = self.world.put(self.due_ps[key], self.i, key)

    def cancel_timer(self, key: Hashable) -> None:
        """Cancel the timer of a bundle."""
        del self.world.timers[self.i, key]

    def send(self, peer: int, content: Any, size_bytes: int | None = None, interface: int = 0, topic: int = 0) -> None:
        """Send a packet as soon as the CPU is free."""
        world = self.world
        world.free[self.i] = max(world.now, world.free[self.i]) + SEND
        arrival = world.free[self.i] + TRAVEL + RECEIVE
        world.last_arrival = max(world.last_arrival, arrival)
        world.put(arrival + REACT, peer, (self.i, content))


class FloatingBroadcast(Protocol):
    """All processes of a run, each of which broadcasts its messages at time 0. The run has no events on its engine."""

    def __init__(self, limits: Limits, max_delay: float, sources: list[int]) -> None:
        self.limits = limits._replace(max_delay_ps=max_delay)  # type: ignore[arg-type]
        self.sources = sources

    def start(self, context: Context) -> None:
        """Execute the whole run."""
        super().start(context)
        self.now = self.last_arrival = 0.0
        self.numbers, self.order = count(), count()
        self.queue: list[tuple[float, int, int, Any]] = []
        self.timers: dict[tuple[int, Hashable], int] = {}
        self.free = [0.0] * self.limits.processes
        self.tally = Tally()
        self.processes = [FloatingProcess(i, self.limits, self.tally, self) for i in range(self.limits.processes)]
        for process in self.processes:
            process.runtime = cast("PerNode", SimpleNamespace(context=SimpleNamespace(reaction_ps=0.0)))
        for source in self.sources:
            self.processes[source].on_broadcast(0, 0)
        while self.queue:
            self._next()

    def put(self, time: float, process: int, what: Any) -> int:
        """Add an event, the bundle (a number) or packet of a process, and return its number."""
        number = next(self.order)
        heapq.heappush(self.queue, (time, number, process, what))
        return number

    def _next(self) -> None:
        self.now, number, i, what = heapq.heappop(self.queue)
        if not isinstance(what, int):
            self.processes[i].on_packet(what[1], what[0], 0)
        elif self.timers.get((i, what)) == number:
            del self.timers[i, what]
            self.processes[i].on_timer(what)

    def on_window(self, window: Window) -> Actions:
        """Do nothing."""
        return NO_ACTIONS

    def scalars(self) -> Mapping[str, float]:
        """Return the counters, and the last arrival in units."""
        tally = self.tally
        return {
            "packets": tally.packets, "tree_messages": tally.tree_messages, "ack_messages": tally.ack_messages,
            "unfinished": tally.unfinished, "last_arrival": self.last_arrival,
        }  # fmt: skip
