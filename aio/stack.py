"""The network stack of one node, between its event loop and the engine, as in an operating system.

It outlives the program, so that a connection is closed properly after its program has ended. It ends when the node
fails.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, Protocol

from causeway.aio.datagrams import Datagrams
from causeway.aio.names import Names, port_number
from causeway.aio.packets import Content, Datagram, Segment, Unreachable
from causeway.aio.streams import Streams
from causeway.bridge.events import BROADCAST_PEER

if TYPE_CHECKING:
    import random

    from causeway.aio.event_loop import SimulatedLoop
    from causeway.aio.tcp import Tcp

FIRST_FREE_PORT, LAST_PORT = 49_152, 65_535


class Wire(Protocol):
    """The function with which a stack sends: (peer or BROADCAST_PEER, content, size in bytes)."""

    def __call__(self, peer: int, content: Content, size_bytes: int) -> None:
        """Send a packet."""


class Stack:
    """Sockets and connections of one node since its last start."""

    def __init__(
        self, node: int, loop: SimulatedLoop, names: Names, wire: Wire, reaction_ps: int, chance: random.Random,
        mtu_bytes: int, tcp: Tcp | None,
    ) -> None:  # fmt: skip
        """Make a stack without sockets.

        Args:
            node: The node's id.
            loop: Its event loop.
            names: The names of all nodes.
            wire: Sends a packet.
            reaction_ps: The delay of packets from the node to itself.
            chance: The node's random generator.
            mtu_bytes: The size of the largest datagram.
            tcp: The simulator's TCP, if it has one.
        """
        self.node, self.loop, self.names, self.mtu_bytes, self.chance = node, loop, names, mtu_bytes, chance
        self._wire, self._reaction_ps, self.tcp = wire, reaction_ps, tcp
        self._last_port = FIRST_FREE_PORT + chance.randrange(LAST_PORT - FIRST_FREE_PORT)
        self.datagrams = Datagrams(self)
        self.streams = Streams(self)
        self.receivers: dict[type, Callable[[int, Any], None]] = {
            Datagram: self.datagrams.receive,
            Unreachable: self.datagrams.unreachable,
            Segment: self.streams.receive,
        }

    def receive(self, sender: int, content: Content) -> None:
        """Process a packet that arrived."""
        self.receivers[type(content)](sender, content)

    def send(self, peer: int, content: Content) -> None:
        """Send to one node. A packet to the node itself takes one reaction time and crosses no network."""
        if peer != self.node:
            self._wire(peer, content, content.size_bytes)
        else:
            self._send_to_itself(self.receive, peer, content)

    def send_everyone(self, datagram: Datagram) -> None:
        """Send to all nodes in range and, as Linux does, to the node's own sockets."""
        self._wire(BROADCAST_PEER, datagram, datagram.size_bytes)
        self._send_to_itself(self.receive, self.node, datagram)

    def _send_to_itself(self, call: Callable[..., None], *args: Any) -> None:
        self.loop.call_at_ps(self.loop.clock.now_ps + self._reaction_ps, call, *args)

    def resolve(self, addr: Any) -> tuple[int, int]:
        """Return (host, port) as (node, port)."""
        return self.names.node(addr[0], self.node), port_number(addr[1])

    def free_port(self, used: Container[int]) -> int:
        """Return the next port that is not in `used`."""
        for _ in range(LAST_PORT - FIRST_FREE_PORT + 1):
            self._last_port = self._last_port + 1 if self._last_port < LAST_PORT else FIRST_FREE_PORT
            if self._last_port not in used:
                return self._last_port
        raise OSError(f"node {self.node} has no free port left")

    def unused_port(self, kind: int) -> int:
        """Return a free port for a socket that will listen or receive datagrams."""
        return self.free_port(self.datagrams.ports if kind == socket.SOCK_DGRAM else self.streams.listeners)

    def close(self) -> None:
        """Close all sockets, as an operating system does when a program has ended."""
        self.datagrams.close_all()
        self.streams.close_all()
