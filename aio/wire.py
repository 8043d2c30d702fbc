"""What crosses the simulated network: contents as tuples, and how long they are on the wire.

A datagram is as long as its bytes and DATAGRAM_HEADER_BYTES, a segment of a stream as its bytes and
SEGMENT_HEADER_BYTES. Engines that have UDP and IP add their own headers to that.
"""

from __future__ import annotations

from typing import NamedTuple

DATAGRAM_HEADER_BYTES = 4
"""The two ports: the simulated node has one UDP port of the engine's, and ours share it."""
SEGMENT_HEADER_BYTES = 20
"""Ports, sequence number, acknowledgement, flags, window: as many as TCP's."""
UNREACHABLE_BYTES = 32
"""What ICMP quotes of the datagram that nobody wanted."""
MAX_DATAGRAM_BYTES = 65_507
"""Of IPv4."""

SYN, ACK, FIN, RST, PROBE = 1, 2, 4, 8, 16


class Datagram(NamedTuple):
    """A UDP datagram."""

    to_port: int
    from_port: int
    data: bytes
    broadcast: bool = False
    local: bool = False
    """Sent to 127.0.0.1."""

    @property
    def size_bytes(self) -> int:
        return len(self.data) + DATAGRAM_HEADER_BYTES


class Unreachable(NamedTuple):
    """Nobody listens on the port: the answer of a host (ICMP)."""

    to_port: int
    """Whose datagram it was."""
    from_port: int
    """Where nobody is."""
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
        return len(self.data) + SEGMENT_HEADER_BYTES


Content = Datagram | Unreachable | Segment
