"""Causal broadcast with a probabilistic or vector clock, written as one process: Algorithm 1 of the paper `hash`.

The same protocol over columns is `columns.py`; both give the same digest. This one is for reading and small runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import FLAGGED, HELD, Context
from causeway.pycontrol.protocols.clocks.columns import ENTRY_BYTES, HEADER_BYTES
from causeway.pycontrol.protocols.clocks.entries import choose_entries, own_entries


@dataclass(frozen=True)
class Message:
    """What is broadcast: who it is from, its id, the clock."""

    sender: int
    id: int
    V: tuple[int, ...]


class ProbabilisticNode(Node):
    """Process p_i."""

    def __init__(self, clock_size: int, f: Sequence[Sequence[int]], detect: bool = False) -> None:
        self.V = [0] * clock_size
        self.f = f
        self.detect = detect
        self.waiting: list[Message] = []

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        for x in self.f[self.id]:
            self.V[x] += 1
        m = Message(self.id, self.broadcast(), tuple(self.V))
        self.send(EVERYONE, m, size_bytes + HEADER_BYTES + ENTRY_BYTES * len(self.V))
        self.deliver(m.id)
        self.deliver_waiting()

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        m: Message = content
        if self.deliverable(m):
            self.deliver_remote(m)
            self.deliver_waiting()
        else:
            self.host.note(HELD, self.id, m.id)
            self.waiting.append(m)

    def deliverable(self, m: Message) -> bool:
        """Line 4: V_i[x] >= m.V[x], one less where the message itself counts."""
        counted = self.f[m.sender]
        return all(self.V[x] >= m.V[x] - (x in counted) for x in range(len(self.V)))

    def suspicious(self, m: Message) -> bool:
        """Their detector: no entry of the sender is just one behind (docs/papers/hash.md)."""
        return not any(self.V[x] == m.V[x] - 1 for x in self.f[m.sender])

    def deliver_remote(self, m: Message) -> None:
        """Lines 5 and 6."""
        if self.detect and self.suspicious(m):
            self.host.note(FLAGGED, self.id, m.id)
        for x in self.f[m.sender]:
            self.V[x] += 1
        self.deliver(m.id)

    def deliver_waiting(self) -> None:
        """Delivers the first waiting message that can be, as long as there is one."""
        while (m := next((m for m in self.waiting if self.deliverable(m)), None)) is not None:
            self.waiting.remove(m)
            self.deliver_remote(m)


class ProbabilisticProcesses(PerNode):
    """All processes, each one written as a node."""

    node_class = ProbabilisticNode

    def __init__(self, clock_size: int, entries: int, detect: bool = False, even: bool = False) -> None:
        super().__init__(lambda id_: self.node_class(self.clock_size, self.f, detect))
        self.clock_size, self.entries, self.even = clock_size, entries, even

    def start(self, context: Context) -> None:
        self.f = choose_entries(context.seed, context.nodes, self.clock_size, self.entries, self.even).tolist()
        super().start(context)


class VectorProcesses(ProbabilisticProcesses):
    """The same with an entry for every process."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def start(self, context: Context) -> None:
        self.clock_size, self.f = context.nodes, own_entries(context.nodes).tolist()
        PerNode.start(self, context)
