"""Addresses and names of nodes, the only ones that exist inside the simulation.

Node n has the n-th address from 10.0.0.1 on, and the name `node<n>`.
"""

from __future__ import annotations

import socket
from typing import Any

from causeway.errors import UserError

MOST_NODES = (1 << 16) - 2
"""The number of addresses 10.0.x.y without the first, 10.0.0.0, and the last, which is for broadcasts."""
ANY_ADDRESS, LOOPBACK = "0.0.0.0", "127.0.0.1"
BROADCASTS = frozenset({"255.255.255.255", "<broadcast>", "10.0.255.255"})
WILDCARDS = frozenset({"", ANY_ADDRESS, "::"})
"""Addresses for any interface. Programs for both IPv4 and IPv6 listen on `::`."""
MULTICAST = frozenset(map(str, range(224, 240)))
SERVICES = {"http": 80, "https": 443, "ws": 80, "coap": 5683, "mqtt": 1883, "domain": 53, "ntp": 123}
BY_PROTOCOL = ((socket.SOCK_STREAM, socket.IPPROTO_TCP), (socket.SOCK_DGRAM, socket.IPPROTO_UDP))


def address_of(node: int) -> str:
    """Return the address of a node: 10.0.x.y."""
    return f"10.0.{(node + 1) >> 8}.{(node + 1) & 255}"


def name_of(node: int) -> str:
    """Return the name of a node: node<n>."""
    return f"node{node}"


def is_address(host: str) -> bool:
    """Return whether a host is a numeric address, such as 1.2.3.4."""
    try:
        socket.inet_pton(socket.AF_INET, host)
    except OSError:
        return False
    return True


class Names:
    """The names and addresses of the nodes of one run."""

    def __init__(self, nodes: int) -> None:
        if nodes > MOST_NODES:
            raise UserError(
                f"programs run on {nodes:,} nodes; allowed: up to {MOST_NODES:,}, the addresses of 10.0.x.y"
            )
        self.nodes = nodes
        self.addresses = [address_of(n) for n in range(nodes)]
        self._node = {name_of(n): n for n in range(nodes)} | {address_of(n): n for n in range(nodes)}

    def knows(self, host: str) -> bool:
        """Return whether this is the name or the address of a node."""
        return host in self._node

    def node(self, host: str, asking: int) -> int:
        """Return the node with a name or an address; for localhost, return `asking` itself."""
        found = self._node.get(host)
        if found is not None:
            return found
        if host == "localhost" or host.startswith("127."):
            return asking
        if host.split(".")[0] in MULTICAST:
            raise socket.gaierror(
                socket.EAI_NONAME, f"no multicast ({host}) in the simulation: broadcast with allow_broadcast=True"
            )
        raise socket.gaierror(
            socket.EAI_NONAME,
            f"no '{host}' in the simulation: it has node0 to {name_of(self.nodes - 1)}, "
            f"{address_of(0)} to {address_of(self.nodes - 1)}",
        )

    def address(self, host: str | bytes | None, asking: int, passive: bool = False) -> str:
        """Return the numeric address of a host, as getaddrinfo does."""
        if isinstance(host, bytes):
            host = host.decode("ascii")
        if host is None:
            return ANY_ADDRESS if passive else LOOPBACK
        if host in WILDCARDS:
            return ANY_ADDRESS
        if host in BROADCASTS:
            return "10.0.255.255" if host == "10.0.255.255" else "255.255.255.255"
        node = self.node(host, asking)
        return LOOPBACK if host == "localhost" or host.startswith("127.") else address_of(node)

    def getaddrinfo(
        self, asking: int, host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> list[tuple[Any, ...]]:
        """Return rows as socket.getaddrinfo does. All addresses are IPv4."""
        if family not in (socket.AF_UNSPEC, socket.AF_INET):
            raise socket.gaierror(socket.EAI_FAMILY, "nodes have IPv4 addresses only: ask for AF_INET or AF_UNSPEC")
        address = (self.address(host, asking, bool(flags & socket.AI_PASSIVE)), port_number(port))
        rows = [
            (socket.AF_INET, kind, number, "", address)
            for kind, number in BY_PROTOCOL
            if type in (0, kind) and proto in (0, number)
        ]
        if not rows:
            raise socket.gaierror(socket.EAI_SOCKTYPE, "nodes have UDP (SOCK_DGRAM) and streams (SOCK_STREAM) only")
        return rows

    def getnameinfo(self, asking: int, sockaddr: tuple[Any, ...], flags: int = 0) -> tuple[str, str]:
        """Return the name and the port of an address, as socket.getnameinfo does."""
        host, port = sockaddr[:2]
        node = self.node(host, asking)
        return (host if flags & socket.NI_NUMERICHOST else name_of(node)), str(port)


def port_number(port: Any) -> int:
    """Return a port as a number. It may be a number, its digits, or the name of a well-known service."""
    if port is None or port == "":
        return 0
    if isinstance(port, bytes):
        port = port.decode("ascii")
    if isinstance(port, str) and not port.isdigit():
        if port not in SERVICES:
            raise socket.gaierror(socket.EAI_SERVICE, f"no service '{port}' in the simulation: give the port's number")
        return SERVICES[port]
    number = int(port)
    if not 0 <= number <= 65535:
        raise OverflowError("port must be 0-65535.")
    return number
