"""Sockets as programs see them: pictures of them, and those that a program makes itself to connect them.

`get_extra_info('socket')` gives a `SocketView`, for programs that ask for its name or set an option. A `socket.socket`
that a program makes in a node has no descriptor; it can be bound, connected with `loop.sock_connect` and handed to
`create_connection(sock=...)`, which is what libraries do that try several addresses. It moves no bytes itself.
"""

from __future__ import annotations

import errno
import os
import socket
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from causeway.aio.errors import outside

if TYPE_CHECKING:
    from causeway.aio.node import NodeLoop
    from causeway.aio.streams import StreamTransport


class SocketView:
    """Knows its two ends, remembers options, and moves no bytes."""

    family, proto = socket.AF_INET, 0

    def __init__(self, kind: socket.SocketKind, local: tuple[str, int], remote: tuple[str, int] | None) -> None:
        self.type, self._local, self._remote = kind, local, remote
        self._options: dict[tuple[int, int], Any] = {}

    def __repr__(self) -> str:
        return f"<simulated {self.type.name} {self._local} to {self._remote}>"

    def getsockname(self) -> tuple[str, int]:
        return self._local

    def getpeername(self) -> tuple[str, int]:
        if self._remote is None:
            raise OSError(107, "Transport endpoint is not connected")
        return self._remote

    def setsockopt(self, level: int, option: int, value: Any, *_: Any) -> None:
        self._options[level, option] = value

    def getsockopt(self, level: int, option: int, *_: Any) -> Any:
        return self._options.get((level, option), 0)

    def fileno(self) -> int:
        return -1

    def setblocking(self, flag: bool) -> None:
        """It never blocks."""

    def gettimeout(self) -> float:
        return 0.0

    def __getattr__(self, name: str) -> Any:
        if name in ("send", "sendto", "sendall", "recv", "recvfrom", "recv_into", "accept", "connect", "bind"):
            raise outside(f"socket.{name}", "use the transport, or asyncio's streams")
        raise AttributeError(name)


class OwnSocket:
    """What is known of a `socket.socket` that a program made."""

    def __init__(self) -> None:
        self.local: tuple[str, int] | None = None
        self.transport: StreamTransport | None = None
        self.options: dict[tuple[int, int], Any] = {}


_own: WeakKeyDictionary[socket.socket, OwnSocket] = WeakKeyDictionary()


def make(loop: NodeLoop, sock: Any, family: int = -1, type: int = -1, proto: int = -1, fileno: Any = None) -> None:
    """`socket.socket(...)` in a node."""
    if fileno is not None or family not in (-1, socket.AF_INET) or type not in (-1, socket.SOCK_STREAM):
        raise outside(
            f"a real socket in {loop.name}",
            "use asyncio's streams or create_datagram_endpoint (a node makes IPv4 stream sockets only)",
        )
    _own[sock] = OwnSocket()


def own(sock: Any) -> OwnSocket:
    """What is known of it; an error if it was made outside of the node."""
    found = _own.get(sock)
    if found is None:
        raise outside("a socket that was made elsewhere", "use asyncio's streams, which cross the simulated network")
    return found


def bind(_: NodeLoop, sock: Any, addr: Any) -> None:
    own(sock).local = addr[0], addr[1]


def set_option(_: NodeLoop, sock: Any, level: int, option: int, value: Any, *more: Any) -> None:
    own(sock).options[level, option] = value


def get_option(_: NodeLoop, sock: Any, level: int, option: int, *more: Any) -> Any:
    return own(sock).options.get((level, option), 0)


def nothing(_: NodeLoop, sock: Any, *more: Any) -> None:
    """It never blocks."""
    own(sock)


def name(_: NodeLoop, sock: Any) -> Any:
    known = own(sock)
    return known.transport.get_extra_info("sockname") if known.transport else known.local or ("0.0.0.0", 0)


def peer(_: NodeLoop, sock: Any) -> Any:
    transport = own(sock).transport
    if transport is None:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    return transport.get_extra_info("peername")


def close(_: NodeLoop, sock: Any) -> None:
    """A connection that no transport has taken over is broken off."""
    known = _own.pop(sock, None)
    if known is not None and known.transport is not None:
        known.transport.abort()


async def connect(loop: NodeLoop, sock: Any, addr: Any) -> None:
    """`loop.sock_connect`."""
    known = own(sock)
    known.transport = await loop.stack.streams.open(addr, known.local)


def take_over(sock: Any) -> StreamTransport:
    """For `create_connection(sock=...)`: its connection, which is a transport's from now on."""
    known = own(sock)
    transport, known.transport = known.transport, None
    if transport is None or transport.connection.over:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    return transport
