"""A snapshot of a system that does not stop: nodes pay each other, and no money is lost or made in the picture.

    causeway check examples/textbook/snapshot.py --every 1000000
    causeway check examples/textbook/snapshot.py --every 1000000 --set version=blind

After K. M. Chandy and L. Lamport, *Distributed snapshots* (1985). Links keep the order.

Verdict: what nodes and links are recorded with is all the money there is. The blind version does not record links.
"""

from typing import Any, NamedTuple

import causeway as cw

PURSE = 2
Marker = NamedTuple("Marker", [])
Coin = NamedTuple("Coin", [])


class Banker(cw.Node):
    """Pays the next one; records its purse at the first marker, and each link until its marker comes."""

    def on_start(self) -> None:
        self.purse = PURSE
        self.recorded: int | None = None
        self.on_links: dict[int, int] = {}
        self.open: frozenset[int] = frozenset()

    def pay(self) -> None:
        """The application pays."""
        if self.purse:
            self.purse -= 1
            self.send((self.id + 1) % self.node_count, Coin(), 10)

    def record_all(self) -> None:
        """The application wants a snapshot."""
        if self.recorded is None:
            self.recorded = self.purse
            self.open = frozenset(self.peers)
            self.send(cw.EVERYONE, Marker(), 10)

    @cw.handles(Marker)
    def on_marker(self, marker: Marker, sender: int) -> None:
        self.record_all()
        self.open -= {sender}

    @cw.handles(Coin)
    def on_coin(self, coin: Coin, sender: int) -> None:
        self.purse += 1
        if self.recorded is not None and sender in self.open:
            self.record_link(sender)

    def record_link(self, sender: int) -> None:
        self.on_links[sender] = self.on_links.get(sender, 0) + 1


class Blind(Banker):
    """Wrong: what is on its way is in nobody's purse."""

    def record_link(self, sender: int) -> None:
        pass


def money_is_kept(model: Any) -> str | None:
    nodes = model.nodes
    if all(node.recorded is None for node in nodes):
        return None
    if any(node.recorded is None or node.open for node in nodes):
        return "snapshot: it never ends"
    there, found = PURSE * len(nodes), sum(node.recorded + sum(node.on_links.values()) for node in nodes)
    return f"snapshot: {found} coins of {there} are in the picture" if found != there else None


class Snapshot(cw.ModelStudy):
    name, title = "snapshot", "Chandy and Lamport's snapshot"
    versions = {"right": Banker, "blind": Blind}
    verdicts = {"blind": "snapshot"}
    model_checks = cw.Checks(
        at_end={"money is kept": money_is_kept}, calls={"pay": Banker.pay, "snapshot": Banker.record_all},
        budget=cw.Budget(broadcasts=0, calls=3, in_order=True),
    )  # fmt: skip
