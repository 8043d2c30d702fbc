"""A snapshot of a running system: nodes pay each other, and the snapshot contains exactly the money that exists.

    causeway check examples/textbook/snapshot.py --every 1000000
    causeway check examples/textbook/snapshot.py --every 1000000 --set version=blind

After K. M. Chandy and L. Lamport, *Distributed snapshots* (1985). Links keep the order.

Verdict: the recorded amounts of nodes and links add up to all money. The blind version does not record links.
"""

from typing import Any, NamedTuple

import causeway as cw

PURSE = 2
Marker = NamedTuple("Marker", [])
Coin = NamedTuple("Coin", [])


class Banker(cw.Node):
    """Pays the next node. Records its purse at the first marker, and each link until its marker arrives."""

    def on_start(self) -> None:
        self.purse = PURSE
        self.recorded: int | None = None
        self.on_links: dict[int, int] = {}
        self.open: frozenset[int] = frozenset()

    def pay(self) -> None:
        """Pay a coin, as a call of the application."""
        if self.purse:
            self.purse -= 1
            self.send((self.id + 1) % self.node_count, Coin(), 10)

    def record_all(self) -> None:
        """Start a snapshot, as a call of the application."""
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
    """Wrong: does not record the money that is on its way."""

    def record_link(self, sender: int) -> None:
        pass


def money_is_kept(model: Any) -> str | None:
    nodes = model.nodes
    if all(node.recorded is None for node in nodes):
        return None
    if any(node.recorded is None or node.open for node in nodes):
        return "snapshot: it is never complete"
    there, found = PURSE * len(nodes), sum(node.recorded + sum(node.on_links.values()) for node in nodes)
    return f"snapshot: {found} of {there} coins are in the snapshot" if found != there else None


class Snapshot(cw.ModelStudy):
    name, title = "snapshot", "Chandy and Lamport's snapshot"
    versions = {"right": Banker, "blind": Blind}
    verdicts = {"blind": "snapshot"}
    model_checks = cw.Checks(
        at_end={"no money is lost": money_is_kept}, calls={"pay": Banker.pay, "snapshot": Banker.record_all},
        budget=cw.Budget(broadcasts=0, calls=3, in_order=True),
    )  # fmt: skip
