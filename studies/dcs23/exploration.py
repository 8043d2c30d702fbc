"""dcs23 in a small world: the readable twin among three processes, which change their clocks when the application says.

Every process has an entry of its own, so causality must hold, not only with high probability. With
`--set component_size=2` all share one, two of them count in the second component from the beginning, and what is left
to hold is that everything is delivered, once.
"""

from __future__ import annotations

from typing import Any

from causeway.explore.checks import Checks
from causeway.explore.model import Budget
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocols.dcs.node import DEACTIVATE, REMOVE, Entries, Message, Process

PROCESSES, COMPONENTS = 3, 2
KIND: type[Process] = Process


def own_entry(i: int) -> Entries:
    """f, exact."""
    return (i,)


def shared_entry(i: int) -> Entries:
    """f, where all processes have the same entry."""
    return (0,)


def highest(process: Process, limit: int, avoid: int | None) -> tuple[int, ...]:
    """What a process increments from now on."""
    return (limit - 1,)


class Reference(Node):
    """A process of the paper, and what it would learn from its load told by the application."""

    def __init__(self, id_: int, exact: bool) -> None:
        super().__init__(id_)
        f, size = (own_entry, PROCESSES) if exact else (shared_entry, 1)
        first = (0,) if exact or id_ == 0 else (COMPONENTS - 1,)
        self.process = KIND(id_, PROCESSES, f, size, first, COMPONENTS, highest)
        self.rounds = 0

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.broadcast()
        self.send(EVERYONE, self.process.broadcast(message), size_bytes)
        self.deliver(message)
        for waited in self.process.deliver_waiting():
            self.deliver(waited.id)

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        if isinstance(content, Message):
            for message in self.process.receive(content):
                self.deliver(message.id)
        else:
            self._mail(self.process.read(content))

    def begin(self, kind: int) -> None:
        """A round, if this process may begin one."""
        mail = self.process.begin(kind, PROCESSES * self.rounds + self.id)
        self.rounds += bool(mail)
        self._mail(mail)

    def _mail(self, mail: Any) -> None:
        for to, packet in mail:
            self.send(EVERYONE if to is None else to, packet, 10)


def rounds_end(model: Any) -> str | None:
    """No process waits for a decision, or keeps a message, once all is quiet."""
    for node in model.nodes:
        p = node.process
        if p.blocked or p.answers or p.waiting:
            return f"rounds end: process {node.id} waits for {sorted(p.blocked)} and keeps {len(p.waiting)} messages"
    return None


def checks(params: Any) -> Checks:
    """What `causeway check dcs23` does."""
    exact = params.component_size >= PROCESSES
    return Checks(
        properties=("once", "causal", "arrives") if exact else ("once", "arrives"),
        at_end={"rounds end": rounds_end},
        calls={
            "expand": lambda node: node.process.expand(),
            "the highest": lambda node: node.process.assign(node.process.active),
            "the lowest": lambda node: node.process.assign(1),
            "deactivate": lambda node: node.begin(DEACTIVATE),
            "remove": lambda node: node.begin(REMOVE),
        },
        budget=Budget(broadcasts=4, calls=4),
        protocol=lambda: PerNode(lambda id_: Reference(id_, exact)),
        nodes=PROCESSES,
        symmetric=exact,
    )
