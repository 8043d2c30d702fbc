"""The network stack of one node, between its event loop and the engine: what its operating system would be.

It outlives the program (a connection whose program has ended is still closed properly) and dies with the node.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, Protocol

from causeway.aio.datagrams import Datagrams
from causeway.aio.names import Names, port_number
from causeway.aio.streams import Streams
from causeway.aio.wire import Content, Datagram, Segment, Unreachable
from causeway.bridge.events import BROADCAST_PEER

if TYPE_CHECKING:
    import random

    from causeway.aio.loop import SimulatedLoop
    from causeway.aio.tcp import Tcp

FIRST_FREE_PORT, LAST_PORT = 49_152, 65_535


class Wire(Protocol):
    """How the stack sends: (peer or BROADCAST_PEER, content, size in bytes)."""

    def __call__(self, peer: int, content: Content, size_bytes: int) -> None: ...


class Stack:
    """Sockets and connections of one node since it last came up."""

    def __init__(
        self, node: int, loop: SimulatedLoop, names: Names, wire: Wire, reaction_ps: int, chance: random.Random,
        mtu_bytes: int, tcp: Tcp | None,
    ) -> None:  # fmt: skip
        """`tcp`: the simulator's, where it has one."""
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
        """A packet arrived."""
        self.receivers[type(content)](sender, content)

    def send(self, peer: int, content: Content) -> None:
        """To one node. What a node sends to itself takes its reaction time and crosses no network."""
        if peer != self.node:
            self._wire(peer, content, content.size_bytes)
        else:
            self._later(self.receive, peer, content)

    def send_everyone(self, datagram: Datagram) -> None:
        """To all in reach, and to the node's own sockets, as Linux does it."""
        self._wire(BROADCAST_PEER, datagram, datagram.size_bytes)
        self._later(self.receive, self.node, datagram)

    def _later(self, call: Callable[..., None], *args: Any) -> None:
        self.loop.call_at_ps(self.loop.clock.now_ps + self._reaction_ps, call, *args)

    def resolve(self, addr: Any) -> tuple[int, int]:
        """(host, port) as (node, port)."""
        return self.names.node(addr[0], self.node), port_number(addr[1])

    def free_port(self, used: Container[int]) -> int:
        """The next port that nobody has."""
        for _ in range(LAST_PORT - FIRST_FREE_PORT + 1):
            self._last_port = self._last_port + 1 if self._last_port < LAST_PORT else FIRST_FREE_PORT
            if self._last_port not in used:
                return self._last_port
        raise OSError(f"node {self.node} has no free port left")

    def unused_port(self, kind: int) -> int:
        """A free port for a socket that will listen, or take datagrams."""
        return self.free_port(self.datagrams.ports if kind == socket.SOCK_DGRAM else self.streams.listeners)

    def close(self) -> None:
        """The program has ended: its sockets are closed as its operating system would close them."""
        self.datagrams.close_all()
        self.streams.close_all()
