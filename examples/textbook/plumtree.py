"""Plumtree: broadcast on a tree of links. Repeated messages prune the other links, and announcements repair the tree.

    causeway check examples/textbook/plumtree.py
    causeway check examples/textbook/plumtree.py --set version=bare
    causeway run examples/textbook/plumtree.py --set nodes=20 --all

After J. Leitão, J. Pereira and L. Rodrigues, *Epidemic broadcast trees* (2007). A node that receives a message twice
prunes the link of the second copy. Messages are announced on pruned links. A node that misses an announced message
grafts the link of the announcement.

Verdict: every message is delivered once, even if one copy is lost. The bare version has no announcements.
"""

from typing import NamedTuple

import causeway as cw

PATIENCE = cw.ms(400)


class Gossip(NamedTuple):
    message: int


class Announce(NamedTuple):
    messages: tuple[int, ...]


class Graft(NamedTuple):
    message: int


class Prune(NamedTuple):
    pass


class Plumtree(cw.Node):
    def on_start(self) -> None:
        self.eager = frozenset(self.peers)
        self.heard: frozenset[int] = frozenset()
        self.to_announce: tuple[tuple[int, int], ...] = ()
        """Messages, with the nodes from which they came."""
        self.missing: dict[int, tuple[int, ...]] = {}
        """Maps a missing message to the nodes that have announced it."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.take(self.new_message(), self.id)

    def take(self, message: int, sender: int) -> None:
        """Deliver a message, send it on the links of the tree, and announce it on the other links soon."""
        self.heard |= {message}
        self.missing.pop(message, None)
        self.deliver(message)
        for peer in sorted(self.eager - {sender}):
            self.send(peer, Gossip(message))
        if not self.to_announce:
            self.after(cw.ms(50), self.announce)
        self.to_announce += ((message, sender),)

    def announce(self) -> None:
        for peer in self.peers:
            messages = tuple(message for message, sender in self.to_announce if sender != peer)
            if messages and peer not in self.eager:
                self.send(peer, Announce(messages))
        self.to_announce = ()

    @cw.handles(Gossip)
    def on_gossip(self, gossip: Gossip, sender: int) -> None:
        if gossip.message in self.heard:
            self.log.info("prunes the link to node %d", sender)
            self.eager -= {sender}
            self.send(sender, Prune())
        else:
            self.eager |= {sender}
            self.take(gossip.message, sender)

    @cw.handles(Prune)
    def on_prune(self, prune: Prune, sender: int) -> None:
        self.eager -= {sender}

    @cw.handles(Announce)
    def on_announce(self, announce: Announce, sender: int) -> None:
        for message in announce.messages:
            if message not in self.heard:
                if message not in self.missing:
                    self.after(PATIENCE, self.graft, message)
                self.missing[message] = (*self.missing.get(message, ()), sender)

    def graft(self, message: int) -> None:
        """Ask one of the nodes that announced the message, chosen at random, until the message arrives."""
        if message in self.missing:
            peer = self.rng.choice(self.missing[message])
            self.log.info("grafts the link to node %d, for message %d", peer, message)
            self.eager |= {peer}
            self.send(peer, Graft(message))
            self.after(PATIENCE, self.graft, message)

    @cw.handles(Graft)
    def on_graft(self, graft: Graft, sender: int) -> None:
        self.eager |= {sender}
        self.send(sender, Gossip(graft.message))


class Bare(Plumtree):
    """Wrong: sends no announcements."""

    def announce(self) -> None:
        self.to_announce = ()


class PlumtreeStudy(cw.ModelStudy):
    name, title = "plumtree", "Plumtree: epidemic broadcast trees"
    versions = {"right": Plumtree, "bare": Bare}
    verdicts = {"bare": "everything arrives"}

    def checks(self, params: cw.ModelParams) -> cw.Checks:
        """Explore models with the run's number of nodes only.

        With two nodes, there is no third one to announce a message that the other has missed.
        """
        budget = cw.Budget(broadcasts=3, losses=1)
        return cw.Checks(properties=("once", "arrives"), budget=budget, nodes=params.nodes)
