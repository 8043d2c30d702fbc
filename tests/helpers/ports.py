"""Ports of the real machine."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """Return a port on which no process listens."""
    sockets = [socket.socket() for _ in range(count)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports
