"""The contents of packets that may still arrive; the simulator carries only their ids.

On the abstract network every copy of a packet is told of, as ARRIVAL or LOST: a content is kept until the last one,
however late. On packet-level networks nobody says that no copy is left. There a content is kept for a time that is
longer than any queue holds a packet (`lifetime_ps`), counted from the event that sent it; a copy that comes later is an
error, wherever windows end. A packet to one node is handed over once, even where a network doubles it. TCP loses
nothing without telling, so that what it carries is kept until it is told of.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from causeway.bridge.border_kernel import FAR_PS
from causeway.bridge.events import BROADCAST_PEER
from causeway.bridge.schema import pb
from causeway.pycontrol.mistakes import ProtocolError, seconds

LIFETIME_PS = 600 * 10**12
"""A radio's queue of 100 packets, shared among 100 nodes at 1 Mb/s, is through after two minutes."""
CONTENT, SENDER, COPIES, TOPIC, PEER, UNTIL_PS = range(6)
"""What is known of a kept packet. COPIES: that are still to come, None if nobody knows."""
WIRELESS: int = pb.Interface.WIRELESS


class KeptPackets:
    """What is kept of each packet, in `packets`, and until when."""

    def __init__(self, copies_of_broadcast: int | None, lifetime_ps: int) -> None:
        """`copies_of_broadcast`: how many copies a packet to all nodes has, each of which is told of; None: unknown."""
        self.packets: dict[int, list[Any]] = {}
        self._copies_of_broadcast = copies_of_broadcast
        self._lifetime_ps = lifetime_ps
        self._ends: deque[tuple[int, int]] = deque()
        """Until when which packet is kept, of those that are not kept until their last copy."""
        self._forgotten = -1
        """The last packet whose time was over."""

    def keep(self, packet: int, content: Any, node: int, peer: int, interface: int, topic: int, now_ps: int) -> None:
        """Keep what a packet holds."""
        copies = 1 if peer != BROADCAST_PEER else self._copies_of_broadcast
        until_ps = FAR_PS
        if not copies or (self._copies_of_broadcast is None and interface == WIRELESS):
            until_ps = now_ps + self._lifetime_ps
            self._ends.append((until_ps, packet))
        self.packets[packet] = [content, node, copies, topic, peer, until_ps]

    def arrived(self, packet: int, node: int, now_ps: int) -> list[Any] | None:
        """Return a packet of which a copy arrives or is lost (all copies, where the node is -1), and forget it after
        the last one. None: it has arrived before, and is for one node."""
        kept = self.packets.get(packet)
        if kept is None:
            self._refuse_unknown(packet, node, now_ps)
            return None
        if now_ps > kept[UNTIL_PS]:
            self._refuse_late(packet, node, now_ps)
        copies = kept[COPIES]
        if copies is not None:
            kept[COPIES] = copies - 1
            if copies == 1 or node < 0:
                del self.packets[packet]
        return kept

    def forget_old(self, now_ps: int) -> None:
        """Forget the packets whose time is over."""
        ends = self._ends
        while ends and ends[0][0] < now_ps:
            self._forgotten = ends.popleft()[1]
            self.packets.pop(self._forgotten, None)

    def _refuse_unknown(self, packet: int, node: int, now_ps: int) -> None:
        if self._copies_of_broadcast is not None:
            raise ProtocolError(
                f"node {node}, at {seconds(now_ps)} s: the engine gives it packet {packet}, all of whose copies have "
                "come before"
            )
        self.forget_old(now_ps)
        if packet <= self._forgotten:
            self._refuse_late(packet, node, now_ps)

    def _refuse_late(self, packet: int, node: int, now_ps: int) -> None:
        raise ProtocolError(
            f"node {node}, at {seconds(now_ps)} s: packet {packet} comes more than {seconds(self._lifetime_ps)} s "
            "after it was sent, and its content is no longer kept; set packet_lifetime_ps of your PerNode higher"
        )
