"""The model of dcs23 for `causeway check`: the reference implementation with three processes.

The processes change their clocks when the application calls them. Every process has its own entry, so causality must
always hold. With `--set component_size=2`, all processes share one entry, and two of them increment the second
component from the beginning. Then the only requirement is that every message is delivered once.
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
    """Return the entries of process i in an exact clock."""
    return (i,)


def shared_entry(i: int) -> Entries:
    """Return the entries of process i if all processes have the same entry."""
    return (0,)


def highest(process: Process, limit: int, avoid: int | None) -> tuple[int, ...]:
    """Return the components that a process increments from now on: only the highest one."""
    return (limit - 1,)


class Reference(Node):
    """A node with a process of the paper. The application triggers the changes that the load triggers in a run."""

    def __init__(self, id_: int, exact: bool) -> None:
        super().__init__()
        f, size = (own_entry, PROCESSES) if exact else (shared_entry, 1)
        first = (0,) if exact or id_ == 0 else (COMPONENTS - 1,)
        self.process = KIND(id_, PROCESSES, f, size, first, COMPONENTS, highest)
        self.rounds = 0

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        """Broadcast a message, and deliver the waiting messages that it has made deliverable."""
        message = self.new_message()
        self.send(EVERYONE, self.process.broadcast(message), size_bytes)
        self.deliver(message)
        for waited in self.process.deliver_waiting():
            self.deliver(waited.id)

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        """Handle a message of the application, or of a round."""
        if isinstance(content, Message):
            for message in self.process.receive(content):
                self.deliver(message.id)
        else:
            self._mail(self.process.read(content))

    def begin(self, kind: int) -> None:
        """Begin a round if this process is allowed to."""
        mail = self.process.begin(kind, PROCESSES * self.rounds + self.id)
        self.rounds += bool(mail)
        self._mail(mail)

    def _mail(self, mail: Any) -> None:
        for to, packet in mail:
            self.send(EVERYONE if to is None else to, packet, 10)


def rounds_end(model: Any) -> str | None:
    """Check that no process waits for a decision or keeps a message at quiescence."""
    for node in model.nodes:
        p = node.process
        if p.blocked or p.answers or p.waiting:
            return f"rounds end: process {node.id} waits for {sorted(p.blocked)} and keeps {len(p.waiting)} messages"
    return None


def checks(params: Any) -> Checks:
    """Return the settings of `causeway check dcs23`."""
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
