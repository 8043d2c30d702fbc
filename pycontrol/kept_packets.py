"""Keep the contents of packets that may still arrive, since the simulator carries only their ids.

The abstract network reports every copy of a packet as ARRIVAL or LOST, so a content is kept until the last copy, even
if it is very late. Only copies to and from nodes that are down vanish, and `EVERYONE` may have fewer copies where links
are missing; so a content is also dropped after the longest delay of the network, if it has one. Packet-level networks
do not report that no copy is left. There, a content is kept for `lifetime_ps` after the event that sent it, which is
longer than any queue holds a packet. A copy that arrives later is an error. A packet to one node is delivered once,
even if the network duplicates it. TCP reports every loss, so a content sent over it is kept until it has arrived or is
lost.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from causeway.bridge.events import BROADCAST_PEER
from causeway.bridge.validation_kernel import FAR_PS
from causeway.proto.contract import pb
from causeway.pycontrol.protocol import Context
from causeway.pycontrol.protocol_errors import ProtocolError, seconds

LIFETIME_PS = 600 * 10**12
"""Five times two minutes, the time in which 100 nodes on one channel of 1 Mb/s empty queues of 100 packets each."""
CONTENT, SENDER, COPIES, TOPIC, PEER, UNTIL_PS = range(6)
"""The fields of a kept packet. COPIES is the number of copies still to come, or None if it is unknown."""
WIRELESS: int = pb.Interface.WIRELESS


def lifetime_of(context: Context, otherwise_ps: int) -> tuple[int, bool]:
    """Return the arguments `lifetime_ps` and `is_longest` of KeptPackets for a run."""
    if context.reports_all_copies and context.longest_delay_ps is not None:
        return context.reaction_ps + context.longest_delay_ps, True
    return otherwise_ps, False


class KeptPackets:
    """The kept packets of a run: `packets` has the fields of each by its id."""

    def __init__(self, copies_of_broadcast: int | None, lifetime_ps: int, is_longest: bool = False) -> None:
        """Start with no packets.

        Args:
            copies_of_broadcast: The number of copies of a packet to all nodes; None if the engine does not report
                each of them.
            lifetime_ps: The time to keep packets whose last copy is not reported.
            is_longest: True if no copy of any packet arrives after this time.
        """
        self.packets: dict[int, list[Any]] = {}
        self._copies_of_broadcast = copies_of_broadcast
        self._lifetime_ps, self._is_longest = lifetime_ps, is_longest
        self._ends: deque[tuple[int, int]] = deque()
        """(Expiry, id) of the packets that are not only kept until their last copy."""
        self._forgotten = -1
        """The id of the last packet that expired."""

    def keep(self, packet: int, content: Any, node: int, peer: int, interface: int, topic: int, now_ps: int) -> None:
        """Keep the content of a packet that is sent now."""
        copies = 1 if peer != BROADCAST_PEER else self._copies_of_broadcast
        until_ps = FAR_PS
        if self._is_longest or not copies or (self._copies_of_broadcast is None and interface == WIRELESS):
            until_ps = now_ps + self._lifetime_ps
            self._ends.append((until_ps, packet))
        self.packets[packet] = [content, node, copies, topic, peer, until_ps]

    def arrived(self, packet: int, node: int, now_ps: int) -> list[Any] | None:
        """Return the fields of a packet of which a copy arrives or is lost. Forget the packet after the last copy.

        Args:
            packet: The packet's id.
            node: The node that gets or loses a copy; -1 if all copies are lost.
            now_ps: The time of the event.

        Returns:
            The fields, or None for a duplicate of a packet to one node.

        Raises:
            ProtocolError: All copies have arrived before, or the packet has expired.
        """
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
        """Forget the packets that have expired."""
        ends = self._ends
        while ends and ends[0][0] < now_ps:
            self._forgotten = ends.popleft()[1]
            self.packets.pop(self._forgotten, None)

    def _refuse_unknown(self, packet: int, node: int, now_ps: int) -> None:
        if self._copies_of_broadcast is not None:
            raise ProtocolError(
                f"node {node}, at {seconds(now_ps)} s: the engine reports another copy of packet {packet} after the "
                f"last one"
            )
        self.forget_old(now_ps)
        if packet <= self._forgotten:
            self._refuse_late(packet, node, now_ps)

    def _refuse_late(self, packet: int, node: int, now_ps: int) -> None:
        raise ProtocolError(
            f"node {node}, at {seconds(now_ps)} s: packet {packet} arrives more than {seconds(self._lifetime_ps)} s "
            f"after it was sent, so its content is no longer kept; increase packet_lifetime_ps of your PerNode"
        )
