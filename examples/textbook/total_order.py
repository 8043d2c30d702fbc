"""Total order by a fixed sequencer: node 0 gives every message its place in the order.

    causeway check examples/textbook/total_order.py --every 1000000
    causeway check examples/textbook/total_order.py --every 1000000 --set version=hasty

After X. Défago, A. Schiper and P. Urbán, *Total order broadcast and multicast algorithms* (2004), the first of the
fixed-sequencer kind.

Verdict: all nodes deliver in the same order. The hasty version delivers a message as soon as its place is known.
"""

from typing import NamedTuple

import causeway as cw

Order = NamedTuple("Order", [("message", int)])
At = NamedTuple("At", [("place", int), ("message", int)])


class Ordered(cw.Node):
    """Delivers messages in the order of their places. Node 0 assigns the places."""

    def __init__(self) -> None:
        self.places = self.next = 0
        self.early: dict[int, int] = {}

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        if self.id == 0:
            self.give_place(message)
        else:
            self.send(0, Order(message), 100)

    def give_place(self, message: int) -> None:
        at = At(self.places, message)
        self.send(cw.EVERYONE, at, 100)
        self.on_place(at, self.id)
        self.places += 1

    @cw.handles(Order)
    def on_order(self, order: Order, sender: int) -> None:
        self.give_place(order.message)

    @cw.handles(At)
    def on_place(self, at: At, sender: int) -> None:
        self.early[at.place] = at.message
        while self.next in self.early:
            self.deliver(self.early.pop(self.next))
            self.next += 1


class Hasty(Ordered):
    """Wrong: does not wait for messages with earlier places."""

    def on_place(self, at: At, sender: int) -> None:
        self.deliver(at.message)


class TotalOrder(cw.ModelStudy):
    name, title = "total_order", "total order by a sequencer"
    versions = {"right": Ordered, "hasty": Hasty}
    verdicts = {"hasty": "total order"}
    model_checks = cw.Checks(properties=("once", "total", "arrives"), budget=cw.Budget(broadcasts=3))
