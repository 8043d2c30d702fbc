"""A small world of stations on wires and hosts in their cells: hosts move, fail, leave and join as the choices say.

A copy over the air reaches whoever is in reach when it is sent, and still when it arrives. A host may be in reach of
two stations, or of none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from causeway.bridge.network import WIRELESS
from causeway.pycontrol.check.world import Choice, Packet, World
from causeway.pycontrol.node import EVERYONE

Reach = tuple[int, ...]
"""The stations that reach a host, the nearest first."""


@dataclass
class MobileWorld(World):
    """Nodes 0 to stations - 1 are stations, the others hosts."""

    stations: int = 2
    places: dict[int, Reach] = field(default_factory=dict)

    def __post_init__(self) -> None:
        hosts = range(self.stations, self.count)
        self.broadcasters = self.callers = self.crashers = tuple(hosts)
        self.places = {host: (host % self.stations,) for host in hosts}
        super().__post_init__()
        for host in hosts:
            self._move(host, self.places[host])

    def choices(self) -> list[Choice]:
        """Moves, too."""
        found = super().choices()
        if self.budget.moves:
            found += [
                Choice("move", host, key=reach)
                for host in self.places
                for reach in self._cells()
                if reach != self.places[host]
            ]
        return found

    def _cells(self) -> Sequence[Reach]:
        single = [(station,) for station in range(self.stations)]
        pairs = [(a, b) for a in range(self.stations) for b in range(self.stations) if a != b]
        return [*single, *pairs, ()]

    def _do(self, what: str, node: int, packet: Packet | None, key: Hashable) -> None:
        if what == "move":
            self.budget.moves -= 1
            assert isinstance(key, tuple)
            self._move(node, key)
        elif what == "packet" and packet is not None and not self._reaches(packet):
            self._on_packet("loss", node, packet)
            self.budget.losses += 1  # nobody chose it
        else:
            super()._do(what, node, packet, key)

    def _move(self, host: int, reach: Reach) -> None:
        self.places[host] = reach
        nearest = reach[0] if reach else -1
        self._log("station", host, nearest, -1, "")
        self.nodes[host].on_station(nearest, 0, 0)

    def _reaches(self, packet: Packet) -> bool:
        if packet.interface != WIRELESS:
            return True
        host, station = max(packet.sender, packet.receiver), min(packet.sender, packet.receiver)
        return station in self.places.get(host, ())

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> None:
        if interface != WIRELESS or peer != EVERYONE:
            super().send(node, peer, content, size_bytes, interface, topic)
            return
        reached = [host for host, reach in self.places.items() if node in reach]
        for receiver in reached if node < self.stations else self.places[node]:
            self._log("sent", node, self.packets, receiver, str(content))
            self.flying.append(Packet(self.packets, node, receiver, content, interface))
        self.packets += 1

    def calm_down(self) -> None:
        """Everybody is up and in a cell from now on."""
        super().calm_down()
        for host in sorted(self.down):
            self.do(Choice("recover", host))
        for host, reach in self.places.items():
            if not reach:
                self._move(host, (host % self.stations,))
