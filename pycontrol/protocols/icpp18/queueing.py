"""Aggregation inside the sending queue, which the paper does not have.

Later messages to the same child join a packet that still waits for the sender's CPU, up to the MTU. All else is as in
the reference implementation, `node.py`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping

from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocols.icpp18.node import CausalNode, Message
from causeway.pycontrol.protocols.icpp18.vectorized import Wire

CPU = "cpu"


class QueueingNode(CausalNode):
    """A node that keeps its packets until its CPU is free, so that later messages can join them."""

    def __init__(self, i: int, nodes: int, aggregate: bool, single_tree: bool, wire: Wire, packets: Counter[int]):
        super().__init__(i, nodes, aggregate, single_tree, wire)
        self.packets = packets
        """The number of packets of all nodes by their number of messages."""
        self.queue: deque[tuple[int, list[Message]]] = deque()

    def send_set(self, messages: list[Message], k: int) -> None:
        """SEND messages to a child, in packets that already wait for it or in new ones."""
        for m in messages:
            packet = next((packet for to, packet in self.queue if to == k and self.fits(packet, m)), None)
            if packet is None:
                self.queue.append((k, [m]))
            else:
                packet.append(m)
        if not self.has_timer(CPU):
            self.send_next()

    def fits(self, packet: list[Message], m: Message) -> bool:
        """Return whether a packet has room for another message."""
        return sum(one.size_bytes for one in (*packet, m)) + self.wire.header_bytes <= self.wire.mtu_bytes

    def send_next(self) -> None:
        """Send the first packet, if there is one, and occupy the CPU."""
        if self.queue:
            k, packet = self.queue.popleft()
            self.packets[len(packet)] += 1
            self.send(k, packet, self.wire.header_bytes + sum(m.size_bytes for m in packet))
            self.set_timer(CPU, max(0, self.wire.send_ps - self.runtime.context.reaction_ps))

    def on_timer(self, key: Hashable) -> None:
        """Send the next packet: the CPU is free."""
        self.send_next()


class QueueingNodes(PerNode):
    """All nodes of a run."""

    def __init__(self, nodes: int, aggregate: bool, single_tree: bool, wire: Wire) -> None:
        packets: Counter[int] = Counter()
        super().__init__(lambda i: QueueingNode(i, nodes, aggregate, single_tree, wire, packets))
        self.packets = packets

    def scalars(self) -> Mapping[str, float]:
        """Return the number of packets, and of those with several messages."""
        total = self.packets.total()
        aggregated = total - self.packets[1]
        return {
            **super().scalars(), "packets": float(total), "packets_aggregated": float(aggregated),
            "aggregated_share": 100 * aggregated / max(1, total),
            "largest_aggregate": float(max(self.packets, default=0)),
        }  # fmt: skip
