"""Sockets for programs: views of a transport's socket, and sockets that a program makes itself.

`get_extra_info('socket')` returns a `SocketView`, for programs that read its name or set an option. A `socket.socket`
that a program makes in a node has no descriptor. It can be bound, connected with `loop.sock_connect` and passed to
`create_connection(sock=...)`, as in libraries that try several addresses. It transfers no bytes itself.
"""

from __future__ import annotations

import errno
import os
import socket
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from causeway.aio.names import port_number
from causeway.pycontrol.outside import outside

if TYPE_CHECKING:
    from causeway.aio.networked import NetworkedLoop
    from causeway.aio.streams import StreamTransport


class SocketView:
    """The socket of a transport. It has the two addresses and stores options, but transfers no bytes."""

    family, proto = socket.AF_INET, 0

    def __init__(self, kind: socket.SocketKind, local: tuple[str, int], remote: tuple[str, int] | None) -> None:
        self.type, self._local, self._remote = kind, local, remote
        self._options: dict[tuple[int, int], Any] = {}

    def __repr__(self) -> str:
        return f"<simulated {self.type.name} {self._local} to {self._remote}>"

    def getsockname(self) -> tuple[str, int]:
        """Return the address of this end."""
        return self._local

    def getpeername(self) -> tuple[str, int]:
        """Return the address of the other end."""
        if self._remote is None:
            raise OSError(107, "Transport endpoint is not connected")
        return self._remote

    def setsockopt(self, level: int, option: int, value: Any, *_: Any) -> None:
        """Store an option."""
        self._options[level, option] = value

    def getsockopt(self, level: int, option: int, *_: Any) -> Any:
        """Return an option that was set; 0 for others."""
        return self._options.get((level, option), 0)

    def fileno(self) -> int:
        """Return -1, since there is no descriptor."""
        return -1

    def setblocking(self, flag: bool) -> None:
        """Do nothing, since the socket never blocks."""

    def get_inheritable(self) -> bool:
        """Return False, as for every socket that Python makes."""
        return False

    def gettimeout(self) -> float:
        """Return 0, since the socket never blocks."""
        return 0.0

    def __getattr__(self, name: str) -> Any:
        if name in ("send", "sendto", "sendall", "recv", "recvfrom", "recv_into", "accept", "connect", "bind"):
            raise outside(f"socket.{name}", "use the transport, or asyncio's streams")
        raise AttributeError(name)


class OwnSocket:
    """The state of a `socket.socket` that a program made."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.local: tuple[str, int] | None = None
        self.remote: tuple[str, int] | None = None
        """The other end of a socket for datagrams."""
        self.transport: StreamTransport | None = None
        self.options: dict[tuple[int, int], Any] = {}
        self.inheritable = False

    def is_on(self, option: int) -> bool:
        """Return whether an option of the socket's own level is set."""
        return bool(self.options.get((socket.SOL_SOCKET, option), 0))


_own: WeakKeyDictionary[socket.socket, OwnSocket] = WeakKeyDictionary()
KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM)


def make(loop: NetworkedLoop, sock: Any, family: int = -1, type: int = -1, proto: int = -1, fileno: Any = None) -> None:
    """Initialize a `socket.socket(...)` that is made in a node."""
    kind = socket.SOCK_STREAM if type == -1 else type & ~(socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    if fileno is not None or family not in (-1, socket.AF_INET) or kind not in KINDS:
        raise outside(
            f"a real socket in {loop.name}",
            "use asyncio's streams or create_datagram_endpoint (a node can make IPv4 sockets for streams and "
            "datagrams)",
        )
    _own[sock] = OwnSocket(kind)
    sock._closed, sock._io_refs = False, 0


def pair(loop: NetworkedLoop, *_: Any) -> tuple[socket.socket, socket.socket]:
    """Return a `socket.socketpair()` of a node, for `create_connection(sock=...)`."""
    made = socket.socket(), socket.socket()
    for sock, transport in zip(made, loop.stack.streams.pair(), strict=True):
        own(sock).transport = transport
    return made


def own(sock: Any, kind: int | None = None) -> OwnSocket:
    """Return the state of a socket that a node made.

    Raises:
        OutsideError: It was made outside a node.
        ValueError: Its kind is not `kind`.
    """
    found = _own.get(sock)
    if found is None:
        raise outside("a socket that was made elsewhere", "use asyncio's streams, which cross the simulated network")
    if kind is not None and found.kind != kind:
        raise ValueError(
            f"A {'Stream' if kind == socket.SOCK_STREAM else 'Datagram'} Socket was expected, got {sock!r}"
        )
    return found


def bind(loop: NetworkedLoop, sock: Any, addr: Any) -> None:
    """Bind a socket. Port 0 becomes a free port at once, so that the program can read it."""
    known = own(sock)
    port = port_number(addr[1]) or loop.stack.unused_port(known.kind)
    known.local = loop.stack.names.address(addr[0], loop.node, passive=True), port


def connect_now(loop: NetworkedLoop, sock: Any, addr: Any) -> None:
    """Connect a datagram socket (`socket.connect`); refuse a stream socket, which would block."""
    known = own(sock)
    if known.kind == socket.SOCK_STREAM:
        raise outside(f"a real socket in {loop.name}", "use asyncio's streams, or loop.sock_connect")
    known.remote = addr[0], addr[1]


def set_option(_: NetworkedLoop, sock: Any, level: int, option: int, value: Any, *more: Any) -> None:
    """Set an option of a socket."""
    own(sock).options[level, option] = value


def get_option(_: NetworkedLoop, sock: Any, level: int, option: int, *more: Any) -> Any:
    """Return an option of a socket."""
    return own(sock).options.get((level, option), 0)


def set_inheritable(_: NetworkedLoop, sock: Any, inheritable: bool) -> None:
    """Store the flag. Servers that start processes set it, but a node starts none."""
    own(sock).inheritable = bool(inheritable)


def get_inheritable(_: NetworkedLoop, sock: Any) -> bool:
    """Return the flag that was set."""
    return own(sock).inheritable


def nothing(_: NetworkedLoop, sock: Any, *more: Any) -> None:
    """Check that the node made the socket. Do nothing else, since the socket never blocks."""
    own(sock)


def name(_: NetworkedLoop, sock: Any) -> Any:
    """Return the address of this end."""
    known = own(sock)
    return known.transport.get_extra_info("sockname") if known.transport else known.local or ("0.0.0.0", 0)


def peer(_: NetworkedLoop, sock: Any) -> Any:
    """Return the address of the other end."""
    transport = own(sock).transport
    if transport is None:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    return transport.get_extra_info("peername")


def close(_: NetworkedLoop, sock: Any) -> None:
    """Close a socket. Reset its connection if no transport uses it."""
    sock._closed = True
    known = _own.pop(sock, None)
    if known is not None and known.transport is not None:
        known.transport.abort()


async def connect(loop: NetworkedLoop, sock: Any, addr: Any) -> None:
    """Connect a stream socket (`loop.sock_connect`)."""
    known = own(sock, socket.SOCK_STREAM)
    known.transport = await loop.stack.streams.open(addr, known.local)


def take_over(sock: Any) -> StreamTransport:
    """Return the transport of a connected socket, for `create_connection(sock=...)`."""
    known = own(sock, socket.SOCK_STREAM)
    transport, known.transport = known.transport, None
    if transport is None or transport.connection.over:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    return transport
