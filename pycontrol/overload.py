"""Describe the packets and timers of a run that needs too much memory, and the nodes that sent or set most of them.

A node that forwards every packet that it receives multiplies the packets on their way until the memory is exhausted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from causeway.bridge.engine import Session
from causeway.errors import RunError
from causeway.pycontrol.kept_packets import CONTENT, SENDER
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_errors import ProtocolError, seconds, shown

MOST_ON_THEIR_WAY = 10_000_000
"""The maximum number of packets, and of timers, which take some gigabytes. Without flooding, a network has a thousandth
of it."""
MOST_RECORDED = 10_000_000
"""The maximum number of positions, packets and losses recorded for an animation, which take some gigabytes."""
WHAT_TO_DO = (
    "let a node store the messages that it has forwarded, so that it forwards each only once; or choose smaller "
    "parameters"
)

Timers = Mapping[tuple[int, Hashable], int]


def in_words(packets: dict[int, list[Any]], timers: Timers) -> str:
    """Describe the numbers of packets and timers, and the node with most of them."""
    parts = []
    if packets:
        node, most = Counter(packet[SENDER] for packet in packets.values()).most_common(1)[0]
        last = next(packet[CONTENT] for packet in reversed(packets.values()) if packet[SENDER] == node)
        parts.append(
            f"node {node} sent {most:,} of the {len(packets):,} packets on their way, the last one {shown(last)}"
        )
    if timers:
        node, most = Counter(node for node, _ in timers).most_common(1)[0]
        parts.append(f"node {node} set {most:,} of the {len(timers):,} timers")
    return ", ".join(parts) or "no packet is on its way, and no timer is set"


def check_load(packets: dict[int, list[Any]], timers: Timers, now_ps: int) -> None:
    """Raise ProtocolError if there are more packets or timers than any protocol needs."""
    if len(packets) > MOST_ON_THEIR_WAY or len(timers) > MOST_ON_THEIR_WAY:
        raise ProtocolError(
            f"at {seconds(now_ps)} s: {in_words(packets, timers)}; allowed: {MOST_ON_THEIR_WAY:,} of either; "
            f"{WHAT_TO_DO}"
        )


def check_recorded(rows: int, now_ps: int) -> None:
    """Raise RunError if the records for an animation need too much memory."""
    if rows > MOST_RECORDED:
        raise RunError(
            f"at {seconds(now_ps)} s: {rows:,} positions and packets are recorded for the animation; allowed: "
            f"{MOST_RECORDED:,}; choose a longer interval (--animate), a shorter duration or fewer nodes"
        )


def out_of_memory_error(error: BaseException, protocol: Protocol, session: Session, now_ps: int) -> RunError:
    """Return the error of a run that needs too much memory."""
    why = f"there is not enough memory ({error})" if isinstance(error, MemoryError) else str(error)
    network = getattr(session, "in_flight", str)()
    parts = [part for part in (why, protocol.in_flight(), network, WHAT_TO_DO) if part]
    return RunError(f"at {seconds(now_ps)} s: {'; '.join(parts)}")
