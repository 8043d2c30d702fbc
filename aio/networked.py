"""An event loop with a network: asyncio's methods that open sockets, on the stack of one host."""

from __future__ import annotations

import asyncio
import random
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from causeway.aio import sockets
from causeway.aio.event_loop import SimulatedLoop
from causeway.aio.names import ANY_ADDRESS, LOOPBACK, port_number
from causeway.aio.stack import Stack
from causeway.pycontrol.outside import outside

ALTERNATIVES = {
    "sleep": "use await asyncio.sleep({seconds})",
    "thread": "use asyncio.create_task, and await the task",
    "process": "run its work as a coroutine, or as a separate node",
    "wait": "use asyncio.Event, Condition or Queue",
    "files": "use asyncio's streams, and pass data as parameters (node.params)",
    "socket": "use asyncio's streams or create_datagram_endpoint",
    "exit": "end `main`, or call node.stop() to end the whole run",
    "folder": "use absolute paths, such as Path(__file__).parent / 'data'",
}
"""Remedies for operations that are refused inside a simulation."""


class NetworkedLoop(SimulatedLoop, ABC):
    """The event loop of a program, with sockets. `causeway.aio.environment` uses its names and random numbers."""

    node: int
    stack: Stack
    _chance: random.Random | None = None
    read_at_ps, reads = -1, 0
    """The last instant at which the program read a clock, and the number of reads (causeway.pycontrol.answers)."""
    instead = ALTERNATIVES
    _numpy_chance: np.random.RandomState | None = None

    @abstractmethod
    def chance_of(self, what: str) -> random.Random:
        """Return a random generator for one use."""

    @property
    def chance(self) -> random.Random:
        """The generator behind `random`, os.urandom and similar functions."""
        if self._chance is None:
            self._chance = self.chance_of("program")
        return self._chance

    @property
    def has_drawn(self) -> bool:
        """True if the program has drawn random numbers."""
        return self._chance is not None or self._numpy_chance is not None

    @property
    def numpy_chance(self) -> np.random.RandomState:
        """The generator that replaces numpy's global one."""
        if self._numpy_chance is None:
            self._numpy_chance = np.random.RandomState(self.chance_of("numpy").getrandbits(32))
        return self._numpy_chance

    # ---- names ----------------------------------------------------------------------------------------------------
    async def getaddrinfo(
        self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> list[tuple[Any, ...]]:
        """Return rows as socket.getaddrinfo does."""
        return self.stack.names.getaddrinfo(self.node, host, port, family, type, proto, flags)

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        """Return the name and the port of an address."""
        return self.stack.names.getnameinfo(self.node, sockaddr, flags)

    def _end(self, addr: Any, passive: bool) -> tuple[str, int]:
        return self.stack.names.address(addr[0], self.node, passive), port_number(addr[1])

    # ---- datagrams ------------------------------------------------------------------------------------------------
    async def create_datagram_endpoint(
        self, protocol_factory: Callable[[], Any], local_addr: Any = None, remote_addr: Any = None, *, family: int = 0,
        proto: int = 0, flags: int = 0, reuse_address: Any = None, reuse_port: bool | None = None,
        allow_broadcast: bool | None = None, sock: Any = None,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Open a UDP socket."""
        if sock is not None:
            known = sockets.own(sock, socket.SOCK_DGRAM)
            local_addr, remote_addr = known.local, known.remote
            reuse_port = known.is_on(socket.SO_REUSEPORT) or known.is_on(socket.SO_REUSEADDR)
            allow_broadcast = known.is_on(socket.SO_BROADCAST)
        self.stack.names.getaddrinfo(self.node, None, 0, family)
        local = self._end(local_addr, True) if local_addr else None
        peer = self._end(remote_addr, False) if remote_addr else None
        remote = self.stack.resolve(peer) if peer else None
        transport, protocol = self.stack.datagrams.open(
            protocol_factory,
            local,
            remote,
            bool(reuse_port),
            bool(allow_broadcast),
            peer is not None and peer[0] == LOOPBACK,
        )
        self.call_soon(protocol.connection_made, transport)
        await asyncio.sleep(0)
        return transport, protocol

    # ---- streams --------------------------------------------------------------------------------------------------
    async def create_connection(
        self, protocol_factory: Callable[[], Any], host: Any = None, port: Any = None, *, ssl: Any = None,
        family: int = 0, proto: int = 0, flags: int = 0, sock: Any = None, local_addr: Any = None,
        server_hostname: Any = None, ssl_handshake_timeout: Any = None, ssl_shutdown_timeout: Any = None,
        happy_eyeballs_delay: Any = None, interleave: Any = None, all_errors: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Connect a stream, or use the connection of `sock`."""
        _refuse_tls("create_connection", ssl)
        if sock is not None:
            transport, protocol = sockets.take_over(sock), protocol_factory()
            transport.start(protocol)
            return transport, protocol
        self.stack.names.getaddrinfo(self.node, host, port, family)
        return await self.stack.streams.connect(protocol_factory, self._end((host, port), False), local_addr)

    async def sock_connect(self, sock: Any, address: Any) -> None:
        """Connect a stream socket that the program made."""
        await sockets.connect(self, sock, address)

    async def create_server(
        self, protocol_factory: Callable[[], Any], host: Any = None, port: Any = None, *, family: int = 0,
        flags: int = 0, sock: Any = None, backlog: int = 100, ssl: Any = None, reuse_address: Any = None,
        reuse_port: Any = None, ssl_handshake_timeout: Any = None, ssl_shutdown_timeout: Any = None,
        start_serving: bool = True, **_: Any,
    ) -> Any:  # fmt: skip
        """Listen for streams."""
        _refuse_tls("create_server", ssl)
        if sock is not None:
            host, port = sockets.own(sock, socket.SOCK_STREAM).local or (None, 0)
        if isinstance(host, list | tuple):
            host = host[0] if len(host) == 1 else ANY_ADDRESS
        address, number = self._end((host or ANY_ADDRESS, port), True)
        server = self.stack.streams.listen(protocol_factory, address, number)
        if start_serving:
            await server.start_serving()
        return server


def _refuse_tls(method: str, ssl: Any) -> None:
    if ssl:
        raise outside(f"{method}(ssl=...)", "talk in plain text inside the simulation (ssl=None)")
