"""A model of stations on wires and hosts in cells. Hosts may move, crash, leave and join.

A copy by radio reaches a node that is in reach both when it is sent and when it arrives. A host may be in reach of one
station, of two, or of none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from causeway.explore.model import Choice, Model, Packet, Reach
from causeway.network.networks import WIRELESS
from causeway.pycontrol.node import EVERYONE


@dataclass
class MobileModel(Model):
    """A model whose nodes 0 to stations - 1 are stations; the others are hosts."""

    cells: ClassVar[bool] = True
    stations: int = 2
    places: dict[int, Reach] = field(default_factory=dict)
    """The stations that reach each host."""

    def __post_init__(self) -> None:
        hosts = range(self.stations, self.count)
        self.broadcasters = self.callers = self.crashers = tuple(hosts)
        self.places = {host: self._home(host) for host in hosts}
        super().__post_init__()
        for host in hosts:
            self._move(host, self.places[host])

    def _home(self, host: int) -> Reach:
        return (host % self.stations,)

    def choices(self) -> list[Choice]:
        """Return all events that can happen next, moves of hosts included."""
        ways = [(host, self.ways(host, reach, self.budget.moves > 0)) for host, reach in self.places.items()]
        return super().choices() + [Choice("move", host, key=reach) for host, found in ways for reach in found]

    def ways(self, host: int, reach: Reach, may_move: bool) -> Sequence[Reach]:
        """Return the places to which a host can move. A host outside all cells can always return to its home."""
        if not may_move:
            return () if reach else (self._home(host),)
        single = [(station,) for station in range(self.stations)]
        pairs = [(a, b) for a in range(self.stations) for b in range(self.stations) if a != b]
        return [to for to in (*single, *pairs, ()) if to != reach]

    def is_way_home(self, host: int, reach: Reach, to: Reach) -> bool:
        """Return whether a move is the host's return to its home cell, which costs no budget."""
        return not reach and to == self._home(host)

    def busy(self) -> bool:
        """Return whether a spontaneous event other than a timer is left."""
        return super().busy() or () in self.places.values()

    def _do(self, what: str, node: int, packet: Packet | None, key: Hashable) -> None:
        if what == "move":
            assert isinstance(key, tuple)
            self.budget.moves -= not self.is_way_home(node, self.places[node], key)
            self._move(node, key)
        elif what in ("packet", "twice") and packet is not None and not self._reaches(packet):
            self._on_packet("loss", node, packet)
            self.budget.losses += 1  # this loss is not a choice, so it costs no budget
        else:
            super()._do(what, node, packet, key)

    def _move(self, host: int, reach: Reach) -> None:
        self.places[host] = reach
        nearest = reach[0] if reach else -1
        self._log("station", host, nearest, -1, "")
        self.nodes[host].on_station(nearest, 0, 0)

    def _reaches(self, packet: Packet) -> bool:
        reaches = tuple(self.places.values())
        return packet.interface != WIRELESS or self.is_reached(packet.sender, packet.receiver, reaches)

    def is_reached(self, sender: int, receiver: int, reaches: Sequence[Reach]) -> bool:
        """Return whether a copy by radio arrives."""
        host = max(sender, receiver) - self.stations
        return 0 <= host < len(reaches) and min(sender, receiver) in reaches[host]

    def in_reach(self, node: int, reaches: Sequence[Reach]) -> Sequence[int]:
        """Return the receivers of a packet that the node sends to everyone."""
        if node >= self.stations:
            return reaches[node - self.stations]
        return [host for host, reach in enumerate(reaches, self.stations) if node in reach]

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> int:
        """Send a copy to each receiver in reach, and return the packet's id."""
        if interface != WIRELESS or peer != EVERYONE:
            return super().send(node, peer, content, size_bytes, interface, topic)
        for receiver in self.in_reach(node, tuple(self.places.values())):
            self._log("sent", node, self.packets, receiver, str(content))
            self.flying.append(Packet(self.packets, node, receiver, content, interface))
        self.packets += 1
        return self.packets - 1

    def calm_down(self) -> None:
        """End faults, and make every host recover and return to a cell."""
        super().calm_down()
        for host in sorted(self.down):
            self.do(Choice("recover", host))
        for host, reach in list(self.places.items()):
            if not reach:
                self.do(Choice("move", host, key=self._home(host)))
