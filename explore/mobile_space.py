"""The state space of a model of stations and hosts (`mobile_model.py`). A state includes the positions of hosts.

A packet of a station reaches the hosts that are in its cell at that time, and hosts can change cells at any time. So
events at different nodes do not commute, and such a model is searched without reduction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from causeway.explore.mobile_model import MobileModel
from causeway.explore.model import Reach
from causeway.explore.state_space import MOVES, ModelState, Move, Seen, Space, without
from causeway.pycontrol.node import EVERYONE


@dataclass(eq=False)
class CellSpace(Space):
    """A state space in which hosts move."""

    def __post_init__(self) -> None:
        super().__post_init__()
        model = self.machine.model
        assert isinstance(model, MobileModel)
        self.model, self.stations = model, model.stations

    def reaches(self) -> tuple[Reach, ...]:
        """Return the stations that reach each host at the start."""
        return tuple(self.model.places.values())

    def moves(self, state: ModelState) -> list[list[Move]]:
        """Return the possible events of each node, including moves of hosts."""
        found = super().moves(state)
        for host, reach in enumerate(state.reaches, self.stations):
            found[host] += [
                Move(host, ("move", to)) for to in self.model.ways(host, reach, state.fault_budgets[0][MOVES] > 0)
            ]
        return found

    def take(self, state: ModelState, move: Move) -> tuple[ModelState, int, str | None]:
        """Return the state after an event, the nodes that are sent a packet (a bit mask), and the violation."""
        node, what, packet = move
        if packet >= 0 and not self._arrives(state, packet):  # this loss costs no budget
            return state._replace(flying=without(state.flying, packet)), 0, None
        if not (isinstance(what, tuple) and what[0] == "move"):
            return super().take(state, move)
        at, to = node - self.stations, what[1]
        free = self.model.is_way_home(node, state.reaches[at], to)
        fault_budgets = state.fault_budgets if free else self._deduct(state.fault_budgets, node, MOVES)
        after = state._replace(reaches=(*state.reaches[:at], to, *state.reaches[at + 1 :]), fault_budgets=fault_budgets)
        return self._stepped(after, node, ("station", to[0] if to else -1))

    def _arrives(self, state: ModelState, packet: int) -> bool:
        copy = self.machine.copies[packet]
        return not self._is_free(packet) or self.model.is_reached(copy.sender, copy.receiver, state.reaches)

    def sent(self, state: ModelState, sends: Sequence[int]) -> Sequence[int]:
        """Return the copies of sent packets, one for each receiver in reach."""
        found: list[int] = []
        for packet in sends:
            copy = self.machine.copies[packet]
            everyone = self.model.in_reach(copy.sender, state.reaches) if copy.receiver == EVERYONE else [copy.receiver]
            found += [self.machine.packet(copy._replace(receiver=receiver)) for receiver in everyone]
        return found

    def busy(self, state: ModelState) -> bool:
        """Return whether a spontaneous event other than a timer is left."""
        return super().busy(state) or () in state.reaches

    def quiescent(self, state: ModelState) -> bool:
        """Return whether the state is quiescent, with all hosts in cells."""
        return super().quiescent(state) and () not in state.reaches

    def seen(self, state: ModelState) -> Seen:
        """Return the state as properties see it."""
        seen = super().seen(state)
        seen.stations, seen.places = self.stations, dict(enumerate(state.reaches, self.stations))
        return seen
