"""Mutual exclusion without a coordinator: requests in the order of logical clocks.

    causeway check examples/textbook/mutual_exclusion.py --every 1000000
    causeway check examples/textbook/mutual_exclusion.py --every 1000000 --set version=hasty

After L. Lamport, *Time, clocks, and the ordering of events in a distributed system* (1978). Links keep the order.

Verdict: two nodes are never inside together, and every node that asked gets in. The hasty version does not wait for
messages from all others.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

import causeway as cw

Ask = NamedTuple("Ask", [("clock", int)])
Reply = NamedTuple("Reply", [("clock", int)])
Release = NamedTuple("Release", [("clock", int)])


class Lamport(cw.Node):
    """Keeps a queue of requests, and the latest clock value received from each other node."""

    def on_start(self) -> None:
        self.clock = 0
        self.requests: frozenset[tuple[int, int]] = frozenset()
        self.heard: dict[int, int] = dict.fromkeys(self.peers, 0)
        self.mine: tuple[int, int] | None = None
        self.inside = False

    def ask(self) -> None:
        """Request entry, as a call of the application."""
        if self.mine is None:
            self.clock += 1
            self.mine = (self.clock, self.id)
            self.requests |= {self.mine}
            self.send(cw.EVERYONE, Ask(self.clock), 10)
            self.enter_if_first()

    @cw.handles(Ask)
    def on_ask(self, ask: Ask, sender: int) -> None:
        self.hear(ask.clock, sender)
        self.requests |= {(ask.clock, sender)}
        self.send(sender, Reply(self.clock), 10)
        self.enter_if_first()

    @cw.handles(Reply)
    def on_reply(self, reply: Reply, sender: int) -> None:
        self.hear(reply.clock, sender)
        self.enter_if_first()

    @cw.handles(Release)
    def on_release(self, release: Release, sender: int) -> None:
        self.hear(release.clock, sender)
        self.requests = frozenset(one for one in self.requests if one[1] != sender)
        self.enter_if_first()

    def hear(self, clock: int, sender: int) -> None:
        self.clock = max(self.clock, clock) + 1
        self.heard[sender] = clock

    def enter_if_first(self) -> None:
        if self.mine is not None and not self.inside and self.mine == min(self.requests) and self.heard_from_all():
            self.inside = True
            self.set_timer("leave", 0)

    def heard_from_all(self) -> bool:
        return self.mine is not None and all((clock, i) > self.mine for i, clock in self.heard.items())

    def on_timer(self, key: Hashable) -> None:
        self.inside, self.mine = False, None
        self.requests = frozenset(one for one in self.requests if one[1] != self.id)
        self.clock += 1
        self.send(cw.EVERYONE, Release(self.clock), 10)


class Hasty(Lamport):
    """Wrong: assumes that it has received all earlier requests."""

    def heard_from_all(self) -> bool:
        return True


def one_inside(model: Any) -> str | None:
    inside = [node.id for node in model.nodes if node.inside]
    return f"mutual exclusion: nodes {inside} are inside together" if len(inside) > 1 else None


def all_got_in(model: Any) -> str | None:
    waiting = [node.id for node in model.nodes if node.mine is not None]
    return f"starved: node {waiting[0]} never gets in" if waiting else None


class MutualExclusion(cw.ModelStudy):
    name, title = "mutual_exclusion", "Lamport's mutual exclusion"
    versions = {"right": Lamport, "hasty": Hasty}
    verdicts = {"hasty": "mutual exclusion"}
    model_checks = cw.Checks(
        always={"one inside": one_inside}, at_end={"every node got in": all_got_in}, calls={"ask": Lamport.ask},
        budget=cw.Budget(broadcasts=0, calls=2, in_order=True), symmetric=True,
    )  # fmt: skip
