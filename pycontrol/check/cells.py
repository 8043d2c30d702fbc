"""The states of a world of stations and hosts (`mobile.py`): where hosts are is part of them.

What a station sends reaches who is in its cell then, and a host can change cells at any time, so events at different
nodes cannot be swapped: such a world is searched whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from causeway.pycontrol.check.mobile import MobileWorld
from causeway.pycontrol.check.space import MOVES, Move, Seen, Space, State, without
from causeway.pycontrol.check.world import Reach
from causeway.pycontrol.node import EVERYONE


@dataclass(eq=False)
class CellSpace(Space):
    """A space in which hosts move."""

    def __post_init__(self) -> None:
        super().__post_init__()
        world = self.machine.world
        assert isinstance(world, MobileWorld)
        self.world, self.stations = world, world.stations

    def reaches(self) -> tuple[Reach, ...]:
        return tuple(self.world.places.values())

    def moves(self, state: State) -> list[list[Move]]:
        """Changes of cells, too."""
        found = super().moves(state)
        for host, reach in enumerate(state.reaches, self.stations):
            found[host] += [Move(host, ("move", to)) for to in self.world.ways(host, reach, state.purses[0][MOVES] > 0)]
        return found

    def take(self, state: State, move: Move) -> tuple[State, int, str | None]:
        node, what, packet = move
        if packet >= 0 and not self._arrives(state, packet):  # lost, but not out of the purse
            return state._replace(flying=without(state.flying, packet)), 0, None
        if not (isinstance(what, tuple) and what[0] == "move"):
            return super().take(state, move)
        at, to = node - self.stations, what[1]
        free = self.world.is_way_home(node, state.reaches[at], to)
        purses = state.purses if free else self._paid(state.purses, node, MOVES)
        after = state._replace(reaches=(*state.reaches[:at], to, *state.reaches[at + 1 :]), purses=purses)
        return self._stepped(after, node, ("station", to[0] if to else -1))

    def _arrives(self, state: State, packet: int) -> bool:
        copy = self.machine.copies[packet]
        return not self._is_free(packet) or self.world.is_reached(copy.sender, copy.receiver, state.reaches)

    def sent(self, state: State, sends: Sequence[int]) -> Sequence[int]:
        """Who is in reach gets a copy of what is sent to everyone."""
        found: list[int] = []
        for packet in sends:
            copy = self.machine.copies[packet]
            everyone = self.world.in_reach(copy.sender, state.reaches) if copy.receiver == EVERYONE else [copy.receiver]
            found += [self.machine.packet(copy._replace(receiver=receiver)) for receiver in everyone]
        return found

    def busy(self, state: State) -> bool:
        return super().busy(state) or () in state.reaches

    def at_rest(self, state: State) -> bool:
        return super().at_rest(state) and () not in state.reaches

    def seen(self, state: State) -> Seen:
        seen = super().seen(state)
        seen.stations, seen.places = self.stations, dict(enumerate(state.reaches, self.stations))
        return seen
