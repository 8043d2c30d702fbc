"""What `get_extra_info('socket')` gives: a picture of a socket, for programs that ask for its name or set an option."""

from __future__ import annotations

import socket
from typing import Any

from causeway.aio.errors import outside


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
