"""The contents of packets on the simulated network, as tuples, and their lengths.

The length of a datagram or a segment is the number of its bytes plus DATAGRAM_HEADER_BYTES or SEGMENT_HEADER_BYTES.
Engines with UDP and IP add their own headers.
"""

from __future__ import annotations

from typing import NamedTuple

DATAGRAM_HEADER_BYTES = 4
"""The size of the two ports, since all sockets of a simulated node share one UDP port of the engine."""
SEGMENT_HEADER_BYTES = 20
"""Ports, sequence number, acknowledgement, flags and window, as in TCP's header."""
UNREACHABLE_BYTES = 32
"""The part of a datagram that an ICMP message quotes."""
MAX_DATAGRAM_BYTES = 65_507
"""The largest payload of UDP over IPv4."""

SYN, ACK, FIN, RST, PROBE = 1, 2, 4, 8, 16


class Datagram(NamedTuple):
    """A UDP datagram."""

    to_port: int
    from_port: int
    data: bytes
    broadcast: bool = False
    local: bool = False
    """True if it was sent to 127.0.0.1."""

    @property
    def size_bytes(self) -> int:
        """The length on the wire."""
        return len(self.data) + DATAGRAM_HEADER_BYTES


class Unreachable(NamedTuple):
    """The answer of a host that has no socket on the port (ICMP)."""

    to_port: int
    """The port that sent the datagram."""
    from_port: int
    """The port without a socket."""
    size_bytes: int = UNREACHABLE_BYTES


class Segment(NamedTuple):
    """A piece of a stream."""

    to_port: int
    from_port: int
    flags: int
    seq: int
    ack: int
    window: int
    data: bytes = b""
    local: bool = False

    @property
    def size_bytes(self) -> int:
        """The length on the wire."""
        return len(self.data) + SEGMENT_HEADER_BYTES


Content = Datagram | Unreachable | Segment
