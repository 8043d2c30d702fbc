"""Flooding over TCP (SRDS 2018), as mobile20 configures it for its comparison.

All links are FIFO and reliable: TCP on the wires between stations, and TCP by radio between a host and its station.
When a node first receives a message, it forwards it on all other links. A station sends a message to the hosts of its
cell one by one, and waits 5 ms after each. Hosts do not move.

The simulator implements TCP (segments, acknowledgements, retransmissions, buffers) and has its statistics.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from causeway.network.networks import WIRE, WIRELESS_TCP
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocols.mobile.messages import Data
from causeway.pycontrol.protocols.mobile.meter import Meter
from causeway.pycontrol.protocols.mobile.stream import stream_of

MS_PS = 10**9
SPACING_PS = 5 * MS_PS
SPREAD_PS = 10_000 * MS_PS
"""Hosts connect at random times up to this one, since seventy simultaneous handshakes would not succeed."""
AGAIN_PS = 20_000 * MS_PS
"""The time after which a host without an answer sends Hello again, since its connection may have failed."""


@dataclass(frozen=True, slots=True)
class Hello:
    """A host's registration at the station of its cell, and the station's answer."""

    kind: ClassVar[str] = "hello"
    size_bytes: ClassVar[int] = 5


@dataclass(frozen=True, slots=True)
class App:
    """An application message."""

    kind: ClassVar[str] = "App"
    data: Data

    @property
    def size_bytes(self) -> int:
        """The size on the wire."""
        return self.data.size_bytes


class FloodingHost(Node):
    """A host that connects to the station that is nearest at the start."""

    def __init__(self, meter: Meter, spread_ps: int = SPREAD_PS) -> None:
        self.meter = meter
        self.spread_ps = spread_ps
        self.station = -1
        self.connected = False
        self.requested_ps = -1
        """The time of its first Hello."""
        self.SBuffer: dict[int, Data] = {}
        """Its own messages that have not reached the station yet."""

    @property
    def busy(self) -> bool:
        """True if it has messages to send, or is not connected."""
        return bool(self.SBuffer) or not self.connected

    def on_start(self) -> None:
        """Start outside the system, which the host joins when its station answers."""
        self.meter.clock = self.runtime
        self.left()

    def on_station(self, station: int, x_mm: int, y_mm: int) -> None:
        """Choose the first nearest station, and set the timer for Hello."""
        self.meter.moved(self.id, x_mm, y_mm, station)
        if self.station < 0 <= station:
            self.station = station
            self.set_timer("hello", stream_of(self).randrange(self.spread_ps))

    def on_timer(self, key: Hashable) -> None:
        """Send Hello until it is answered."""
        if not self.connected:
            self.requested_ps = self.now_ps if self.requested_ps < 0 else self.requested_ps
            self._transmit(Hello())
            self.set_timer("hello", AGAIN_PS)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Broadcast a message, if the host is connected."""
        if not self.connected:
            return
        message = self.new_message()
        self.meter.broadcast(message)
        self.deliver(message)
        self.meter.delivered(message)
        data = Data(message, size_bytes)
        self.SBuffer[message] = data
        self._transmit(App(data))

    def on_packet(self, content: Hello | App, sender: int, interface: int) -> None:
        """Deliver a message, or process the answer to Hello."""
        if isinstance(content, Hello):
            if not self.connected:
                self.connected = True
                self.meter.joined(self.now_ps - self.requested_ps)
                self.joined()
            return
        station = self.runtime.nodes[sender]
        assert isinstance(station, FloodingStation)
        station.arrived()
        self.deliver(content.data.message)
        self.meter.delivered(content.data.message)

    def _transmit(self, message: Hello | App) -> None:
        self.meter.sent(message, WIRELESS_TCP)
        self.send(self.station, message, message.size_bytes, WIRELESS_TCP)


class FloodingStation(Node):
    """A station that forwards a message at its first reception."""

    def __init__(self, meter: Meter, neighbours: Sequence[int]) -> None:
        self.meter = meter
        self.neighbours = neighbours
        self.hosts: list[int] = []
        self.seen: set[int] = set()
        self.pending: dict[int, tuple[App, int, deque[int]]] = {}
        self.in_flight = 0
        """The number of copies that have not reached their hosts yet."""

    @property
    def busy(self) -> bool:
        """True if a copy is on its way, or waits to be sent."""
        return bool(self.in_flight or self.pending)

    def on_start(self) -> None:
        """Leave the system, since stations deliver no messages."""
        self.meter.clock = self.runtime
        self.left()

    def on_packet(self, content: Hello | App, sender: int, interface: int) -> None:
        """Forward a message at its first reception, or answer Hello."""
        if isinstance(content, Hello):
            if sender not in self.hosts:
                self.hosts.append(sender)
            self._transmit(sender, content)
        elif content.data.message not in self.seen:
            self._forward(content, sender)

    def _forward(self, message: App, sender: int) -> None:
        self.seen.add(message.data.message)
        origin = self.runtime.nodes[sender]
        if isinstance(origin, FloodingHost):
            del origin.SBuffer[message.data.message]
        for neighbour in self.neighbours:
            if neighbour != sender:
                self.meter.sent(message, WIRE)
                self.send(neighbour, message, message.size_bytes, WIRE)
        hosts = deque(self.hosts)
        self.in_flight += len(hosts) - (sender in hosts)
        self.pending[message.data.message] = (message, sender, hosts)
        self.on_timer(message.data.message)

    def on_timer(self, key: Hashable) -> None:
        """Send a message to the next host.

        The order of hosts and the spacing are the same for all messages, so links are FIFO.
        """
        assert isinstance(key, int)
        message, sender, hosts = self.pending[key]
        if hosts:
            host = hosts.popleft()
            if host != sender:
                self._transmit(host, message)
            self.set_timer(key, SPACING_PS)
        else:
            del self.pending[key]

    def arrived(self) -> None:
        """Count a copy that has reached its host."""
        self.in_flight -= 1

    def _transmit(self, host: int, message: Hello | App) -> None:
        self.meter.sent(message, WIRELESS_TCP)
        self.send(host, message, message.size_bytes, WIRELESS_TCP)
