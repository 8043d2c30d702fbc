"""Causal broadcast with aggregation: the reference implementation (paper icpp18, Algorithms 1 and 2).

A node is one process. The vectorized implementation in `vectorized.py` gives the same digest. Names are the paper's,
`# l. N` is its line in Algorithm 2, and departures are explained in docs/papers/icpp18.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.icpp18.kernel import SINGLE_ROOT
from causeway.pycontrol.protocols.icpp18.vectorized import Wire
from causeway.pycontrol.protocols.vcube.tree import cluster_of, dimension


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message m: its source, its vector clock, its id for the observers, and its bytes in a packet."""

    s: int
    vc: tuple[int, ...]
    number: int
    size_bytes: int


def first_child(i: int, s: int) -> int:
    """Return FIRSTCHILD(i, s)."""
    return i ^ (1 << (s - 1))


def children(i: int, r: int, h: int) -> list[int]:
    """Return the children of i in the tree of r of height h, in the paper's order: CHILDREN(r, h) of Algorithm 1.

    Departure: the paper's `1 < s <= h` would leave out the first cluster, but in its own example 4 is a parent of 5.
    """
    if i == r:
        return [first_child(i, s) for s in range(1, h + 1)]
    return children(i, first_child(r, cluster_of(r, i)), cluster_of(r, i) - 1)


class CausalNode(Node):
    """Node i."""

    def __init__(self, i: int, nodes: int, aggregate: bool, single_tree: bool, wire: Wire) -> None:
        self.i, self.wire = i, wire
        self.aggregate, self.single_tree = aggregate, single_tree
        self.height = dimension(nodes)
        self.vector_clock = [0] * nodes
        self.vector_max = [0] * nodes
        self.pending: list[Message] = []
        self.sent_clock = [0] * nodes
        """The vector clock at the last broadcast, for compression."""
        self.received: set[tuple[int, int]] = set()
        self.children = [self.children_of(s) for s in range(nodes)]

    def children_of(self, source: int) -> list[int]:
        """Return the children of i in the tree of the messages of `source`."""
        return children(self.i, SINGLE_ROOT if self.single_tree else source, self.height)

    # ---- CO_BROADCAST (l. 5) --------------------------------------------------------------------------------------
    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """CO_BROADCAST a message."""
        i = self.i
        self.vector_clock[i] += 1
        self.vector_max[i] = self.vector_clock[i]
        changed = sum(now != then for now, then in zip(self.vector_clock, self.sent_clock, strict=True))
        size = self.wire.message_bytes + self.wire.entry_bytes * changed
        self.sent_clock = list(self.vector_clock)
        m = Message(i, tuple(self.vector_clock), self.new_message(), size)
        self.deliver(m.number)
        if self.single_tree and i != SINGLE_ROOT:
            self.send_set([m], SINGLE_ROOT)
            return
        for k in self.children[i]:
            self.send_set([m], k)

    def send_set(self, messages: list[Message], k: int) -> None:
        """SEND messages to a child, in packets of at most the MTU."""
        bundle: list[Message] = []
        size = self.wire.header_bytes
        for m in messages:
            if bundle and size + m.size_bytes > self.wire.mtu_bytes:
                self.send(k, bundle, size)
                bundle, size = [], self.wire.header_bytes
            bundle.append(m)
            size += m.size_bytes
        self.send(k, bundle, size)

    # ---- receive (l. 13) ------------------------------------------------------------------------------------------
    def on_packet(self, content: list[Message], sender: int, interface: int) -> None:
        """Receive the new messages of a packet."""
        for m in content:
            if m.s == self.i:  # in a single tree, the node's own message comes back from the root
                for k in self.children[m.s]:
                    self.send_set([m], k)
            elif (m.s, m.vc[m.s]) not in self.received:
                self.receive(m)

    def receive(self, m: Message) -> None:
        """Forward a new message, alone or aggregated, and deliver the messages that have become deliverable."""
        self.received.add((m.s, m.vc[m.s]))
        self.pending.append(m)
        while (m.s, self.vector_max[m.s] + 1) in self.received:  # l. 16
            self.vector_max[m.s] += 1
        for k in self.children[m.s]:  # l. 18
            if agg := self.check_agg(k, m):
                self.send_set(agg, k)
        self.check_delivery()

    def check_agg(self, k: int, m: Message) -> list[Message]:  # l. 23
        """Return the pending messages to send to child k now that m has arrived."""
        if not self.aggregate:
            return [m]
        agg = []
        for other in self.pending:
            if k not in self.children[other.s] or other.vc[m.s] < m.vc[m.s]:
                continue
            if not any(other.vc[x] > self.vector_max[x] and k in self.children[x] for x in self.nodes):
                agg.append(other)
        return agg

    def deliverable(self, m: Message) -> bool:
        """Return whether the clock covers that of m, which is one ahead in its source's entry.

        Departure (l. 30): the printed bound of k is not readable; it must mean every entry except the sender's.
        """
        clock = self.vector_clock
        return m.vc[m.s] == clock[m.s] + 1 and all(m.vc[x] <= clock[x] for x in self.nodes if x != m.s)

    def check_delivery(self) -> None:  # l. 29
        """Deliver pending messages until none is deliverable."""
        progress = True
        while progress:
            progress = False
            for m in list(self.pending):
                if self.deliverable(m):
                    self.deliver(m.number)
                    self.vector_clock[m.s] += 1
                    self.pending.remove(m)
                    progress = True


def causal_nodes(nodes: int, aggregate: bool, single_tree: bool, wire: Wire) -> PerNode:
    """Return the protocol of all nodes."""
    return PerNode(lambda i: CausalNode(i, nodes, aggregate, single_tree, wire))
