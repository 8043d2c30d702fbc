"""FIFO broadcast: each sender numbers its messages, and receivers wait for missing numbers.

    causeway check examples/textbook/fifo_broadcast.py --every 1000000
    causeway check examples/textbook/fifo_broadcast.py --every 1000000 --set version=hasty

After V. Hadzilacos and S. Toueg, *A modular approach to fault-tolerant broadcasts* (1994).

Verdict: messages of one sender are delivered in the order of its broadcasts. The hasty version delivers every message
on arrival.
"""

import causeway as cw


class Fifo(cw.Node):
    """Keeps messages that arrived too early."""

    def __init__(self) -> None:
        self.sent = 0
        self.next: dict[int, int] = {}
        self.early: frozenset[tuple[int, int, int]] = frozenset()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.send(cw.EVERYONE, (self.sent, message), 100)
        self.sent += 1

    def on_packet(self, content: tuple[int, int], sender: int, interface: int) -> None:
        self.early |= {(sender, *content)}
        while ready := [one for one in self.early if one[1] == self.next.get(one[0], 0)]:
            for one in ready:
                self.early -= {one}
                self.next[one[0]] = one[1] + 1
                self.deliver(one[2])


class Hasty(Fifo):
    """Wrong: delivers every message on arrival."""

    def on_packet(self, content: tuple[int, int], sender: int, interface: int) -> None:
        self.deliver(content[1])


class FifoBroadcast(cw.ModelStudy):
    name, title = "fifo_broadcast", "FIFO broadcast"
    versions = {"right": Fifo, "hasty": Hasty}
    verdicts = {"hasty": "FIFO order"}
    model_checks = cw.Checks(properties=("once", "fifo", "arrives"), budget=cw.Budget(broadcasts=3), symmetric=True)
