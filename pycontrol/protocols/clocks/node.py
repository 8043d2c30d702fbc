"""Causal broadcast with a probabilistic or vector clock: the reference implementation of Algorithm 1 of `hash`.

The class is one process, for readers and small runs. The vectorized implementation is `vectorized.py`; both give the
same digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import FLAGGED, HELD, Context
from causeway.pycontrol.protocols.clocks.entries import choose_entries, own_entries
from causeway.pycontrol.protocols.clocks.vectorized import ENTRY_BYTES, HEADER_BYTES


@dataclass(frozen=True)
class Message:
    """A broadcast message: its sender, its id, and the sender's clock that counts it."""

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
        """Lines 1-3: count the message, send it, and deliver it here."""
        for x in self.f[self.id]:
            self.V[x] += 1
        m = Message(self.id, self.new_message(), tuple(self.V))
        self.send(EVERYONE, m, size_bytes + HEADER_BYTES + ENTRY_BYTES * len(self.V))
        self.deliver(m.id)
        self.deliver_waiting()

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Deliver a message, or hold it until it can be delivered."""
        m: Message = content
        if self.deliverable(m):
            self.deliver_remote(m)
            self.deliver_waiting()
        else:
            self.runtime.note(HELD, self.id, m.id)
            self.waiting.append(m)

    def deliverable(self, m: Message) -> bool:
        """Return whether V_i[x] >= m.V[x] for all x, with m.V[x] - 1 for the entries in which m counts (line 4)."""
        counted = self.f[m.sender]
        return all(self.V[x] >= m.V[x] - (x in counted) for x in range(len(self.V)))

    def suspicious(self, m: Message) -> bool:
        """Return whether no entry of the sender is exactly one behind: the detector of docs/papers/hash.md."""
        return not any(self.V[x] == m.V[x] - 1 for x in self.f[m.sender])

    def deliver_remote(self, m: Message) -> None:
        """Count and deliver a message of another process (lines 5 and 6)."""
        if self.detect and self.suspicious(m):
            self.runtime.note(FLAGGED, self.id, m.id)
        for x in self.f[m.sender]:
            self.V[x] += 1
        self.deliver(m.id)

    def deliver_waiting(self) -> None:
        """Deliver the first waiting message that is deliverable, until none is."""
        while (m := next((m for m in self.waiting if self.deliverable(m)), None)) is not None:
            self.waiting.remove(m)
            self.deliver_remote(m)


class ProbabilisticProcesses(PerNode):
    """All processes of a run, one node each."""

    node_class = ProbabilisticNode

    def __init__(self, clock_size: int, entries: int, detect: bool = False, even: bool = False) -> None:
        super().__init__(lambda id_: self.node_class(self.clock_size, self.f, detect))
        self.clock_size, self.entries, self.even = clock_size, entries, even

    def start(self, context: Context) -> None:
        """Choose f and make the nodes."""
        self.f = choose_entries(context.seed, context.nodes, self.clock_size, self.entries, self.even).tolist()
        super().start(context)


class VectorProcesses(ProbabilisticProcesses):
    """All processes of a run with vector clocks: one entry for each process."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def start(self, context: Context) -> None:
        """Set f(p) = {p} and make the nodes."""
        self.clock_size, self.f = context.nodes, own_entries(context.nodes).tolist()
        PerNode.start(self, context)
