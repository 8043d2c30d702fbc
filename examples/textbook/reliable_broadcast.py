"""Eager reliable broadcast: a node that receives a message for the first time sends it on.

    causeway check examples/textbook/reliable_broadcast.py --every 1000000
    causeway check examples/textbook/reliable_broadcast.py --every 1000000 --set version=trusting

After V. Hadzilacos and S. Toueg, *A modular approach to fault-tolerant broadcasts* (1994). A lost copy represents a
sender that fails while it is sending.

Verdict: a message that one node delivers is delivered by all nodes, even if one copy is lost. In the trusting version,
only the sender sends.
"""

import causeway as cw


class Reliable(cw.Node):
    """Sends a message on before it delivers it."""

    def __init__(self) -> None:
        self.heard: frozenset[int] = frozenset()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.on_packet(self.new_message(), self.id, 0)

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content not in self.heard:
            self.heard |= {content}
            self.pass_on(content, sender)
            self.deliver(content)

    def pass_on(self, message: int, sender: int) -> None:
        self.send(cw.EVERYONE, message, 100)


class Trusting(Reliable):
    """Wrong: only the sender sends."""

    def pass_on(self, message: int, sender: int) -> None:
        if sender == self.id:
            self.send(cw.EVERYONE, message, 100)


class ReliableBroadcast(cw.ModelStudy):
    name, title = "reliable_broadcast", "eager reliable broadcast"
    versions = {"right": Reliable, "trusting": Trusting}
    verdicts = {"trusting": "everything arrives"}
    model_checks = cw.Checks(properties=("once", "arrives"), budget=cw.Budget(broadcasts=2, losses=1), symmetric=True)
