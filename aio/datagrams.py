"""UDP of one node: sockets, ports, broadcast, and the answer that a port has no socket."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

from causeway.aio.names import ANY_ADDRESS, BROADCASTS, LOOPBACK, WILDCARDS, address_of, is_address, port_number
from causeway.aio.packets import Datagram, Unreachable
from causeway.aio.sockets import SocketView

if TYPE_CHECKING:
    from causeway.aio.stack import Stack

SENDS_EMPTY = sys.version_info >= (3, 13)
"""Older versions of asyncio drop empty datagrams."""


class DatagramTransport(asyncio.DatagramTransport):
    """One UDP socket."""

    def __init__(
        self, stack: Stack, protocol: Any, local: tuple[str, int], remote: tuple[int, int] | None, broadcasts: bool,
        to_itself: bool,
    ) -> None:  # fmt: skip
        """Make a socket.

        Args:
            stack: The node's stack.
            protocol: The program's protocol.
            local: (address, port).
            remote: (node, port) of the other end, for a connected socket.
            broadcasts: True if it may broadcast.
            to_itself: True if it is connected to 127.0.0.1.
        """
        self._stack, self._protocol, self._broadcasts = stack, protocol, broadcasts
        self.host, self.port = local
        self.remote = remote
        self.is_choosy = remote is not None or self.host == LOOPBACK
        """True if the socket receives only some of the datagrams for its port."""
        self._to_itself = to_itself
        self._context = contextvars.copy_context()
        self._closing = False
        self._routes: dict[Any, tuple[int, int]] = {}
        """The (node, port) of each address to which it has sent."""
        me = LOOPBACK if to_itself else address_of(stack.node)
        peer = (LOOPBACK if to_itself else address_of(remote[0]), remote[1]) if remote is not None else None
        name = (me if peer and self.host == ANY_ADDRESS else self.host, self.port)
        super().__init__({"sockname": name, "peername": peer, "socket": SocketView(socket.SOCK_DGRAM, name, peer)})

    def __repr__(self) -> str:
        return f"<DatagramTransport of node {self._stack.node}, port {self.port}{', closing' * self._closing}>"

    # ---- sending --------------------------------------------------------------------------------------------------
    def sendto(self, data: Any, addr: Any = None) -> None:
        """Send a datagram. An OSError goes to the protocol's `error_received`, as in asyncio's own transport."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self._closing or (not data and not SENDS_EMPTY):
            return
        try:
            self._send(bytes(data), addr)
        except OSError as error:
            self._stack.loop.datagram_refused(error)
            self._protocol.error_received(error)

    def _send(self, data: bytes, addr: Any) -> None:
        if len(data) > self._stack.mtu_bytes:
            raise OSError(errno.EMSGSIZE, f"a datagram of {len(data)} bytes: no more than {self._stack.mtu_bytes}")
        route = self._routes.get(addr)
        if route is not None:
            self._stack.send(route[0], Datagram(route[1], self.port, data))
            return
        if self.remote is not None:
            if addr is not None and not self._is_remote(addr):
                raise ValueError(f"Invalid address: must be None or {self.get_extra_info('peername')}")
            self._stack.send(self.remote[0], Datagram(self.remote[1], self.port, data, local=self._to_itself))
            return
        if addr is None:
            raise OSError(errno.EDESTADDRREQ, os.strerror(errno.EDESTADDRREQ))
        host, port = addr[0], port_number(addr[1])
        if host in BROADCASTS:
            if not self._broadcasts:
                raise PermissionError(errno.EACCES, "broadcast needs create_datagram_endpoint(allow_broadcast=True)")
            self._stack.send_everyone(Datagram(port, self.port, data, broadcast=True))
            return
        local = host.startswith("127.") or host in WILDCARDS or host == "localhost"
        if not local and not self._stack.names.knows(host) and is_address(host):
            raise OSError(
                errno.ENETUNREACH, f"{os.strerror(errno.ENETUNREACH)} ({host} is not a node of the simulation)"
            )
        node = self._stack.node if local else self._stack.resolve(addr)[0]
        if not local:
            self._routes[addr] = node, port
        self._stack.send(node, Datagram(port, self.port, data, local=local))

    def _is_remote(self, addr: Any) -> bool:
        try:
            return self._stack.resolve(addr) == self.remote
        except OSError:
            return False

    # ---- receiving ------------------------------------------------------------------------------------------------
    def takes(self, sender: int, datagram: Datagram) -> bool:
        """Return whether a datagram for this port is for this socket."""
        if self.host == LOOPBACK and not datagram.local:
            return False
        return self.remote is None or self.remote == (sender, datagram.from_port)

    def take(self, data: bytes, addr: tuple[str, int]) -> None:
        """Pass a datagram to the protocol at once, since this is called while the node's loop runs."""
        if self._closing:
            return
        try:
            self._context.run(self._protocol.datagram_received, data, addr)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = "Exception in datagram_received"
            context = {"message": message, "exception": error, "transport": self, "protocol": self._protocol}
            self._stack.loop.call_exception_handler(context)

    def refuse(self) -> None:
        """Report to the protocol that the other end has no socket on the port."""
        refused = ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        self._stack.loop.inject(self._protocol.error_received, refused, context=self._context)

    # ---- asyncio.DatagramTransport --------------------------------------------------------------------------------
    def close(self) -> None:
        """Close the socket; the protocol's `connection_lost` follows."""
        if not self._closing:
            self._closing = True
            self._stack.datagrams.forget(self)
            self._stack.loop.inject(self._protocol.connection_lost, None, context=self._context)

    abort = close

    def is_closing(self) -> bool:
        """Return whether the socket is closed."""
        return self._closing

    def get_write_buffer_size(self) -> int:
        """Return 0, since datagrams are not buffered."""
        return 0

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Return zeros, since datagrams are not buffered."""
        return 0, 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing, since datagrams are not buffered."""

    def set_protocol(self, protocol: Any) -> None:
        """Set the protocol."""
        self._protocol = protocol

    def get_protocol(self) -> Any:
        """Return the protocol."""
        return self._protocol


class Datagrams:
    """All UDP sockets of a node."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.ports: dict[int, list[DatagramTransport]] = {}

    def open(
        self, factory: Any, local: tuple[str, int] | None, remote: tuple[int, int] | None, reuse: bool,
        broadcasts: bool, to_itself: bool = False,
    ) -> tuple[DatagramTransport, Any]:  # fmt: skip
        """Open a socket.

        Args:
            factory: Makes the protocol.
            local: (address, port), port 0 for any free one.
            remote: (node, port) to connect to.
            reuse: True if other sockets may have the same port.
            broadcasts: True if it may broadcast.
            to_itself: True if it is connected to 127.0.0.1.

        Returns:
            The transport and the protocol.
        """
        host, port = local or (ANY_ADDRESS, 0)
        if host not in (ANY_ADDRESS, LOOPBACK, address_of(self._stack.node)):
            raise OSError(errno.EADDRNOTAVAIL, f"{host} is not an address of node {self._stack.node}")
        if port == 0:
            port = self._stack.free_port(self.ports)
        elif port in self.ports and not reuse:
            raise OSError(errno.EADDRINUSE, f"port {port} of node {self._stack.node} is in use")
        protocol = factory()
        transport = DatagramTransport(self._stack, protocol, (host, port), remote, broadcasts, to_itself)
        self.ports.setdefault(port, []).append(transport)
        return transport, protocol

    def forget(self, transport: DatagramTransport) -> None:
        """Remove a closed socket from its port."""
        sockets = self.ports[transport.port]
        sockets.remove(transport)
        if not sockets:
            del self.ports[transport.port]

    def receive(self, sender: int, datagram: Datagram) -> None:
        """Pass a datagram to its socket, or answer that there is none."""
        takers: Any = self.ports.get(datagram.to_port, ())
        if len(takers) != 1 or takers[0].is_choosy:
            takers = [s for s in takers if s.takes(sender, datagram)]
        if not takers:
            if not datagram.broadcast:
                self._stack.send(sender, Unreachable(datagram.from_port, datagram.to_port))
            return
        addr = (LOOPBACK if datagram.local else self._stack.names.addresses[sender], datagram.from_port)
        if datagram.broadcast:
            for socket_ in takers:
                socket_.take(datagram.data, addr)
            return
        if len(takers) > 1:
            takers = [s for s in takers if s.remote is not None] or takers
        takers[-1].take(datagram.data, addr)

    def unreachable(self, sender: int, answer: Unreachable) -> None:
        """Report to connected sockets that the other end has no socket on the port."""
        for socket_ in self.ports.get(answer.to_port, ()):
            if socket_.remote == (sender, answer.from_port):
                socket_.refuse()

    def close_all(self) -> None:
        """Close all sockets."""
        for sockets in list(self.ports.values()):
            for socket_ in list(sockets):
                socket_.close()
