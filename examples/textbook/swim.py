"""SWIM: group membership by probes of random members, indirect probes after a loss, and suspicion before a verdict.

    causeway check examples/textbook/swim.py
    causeway check examples/textbook/swim.py --set version=hasty
    causeway run examples/textbook/swim.py --set nodes=10 --log info

After A. Das, I. Gupta and A. Motivala, *SWIM: scalable weakly-consistent infection-style process group membership
protocol* (2002). Time-outs are longer than all delays. Two copies may be lost, and one node fails and does not recover.

Verdict: a node that is up is never declared dead, and every node learns of each dead one. The hasty version does not
wait for a contradiction, and the mute one does not contradict.
"""

from functools import partial
from typing import Any, NamedTuple

import causeway as cw

PERIOD, TIMEOUT, HELPERS = cw.seconds(2), cw.ms(300), 2


class Opinion(NamedTuple):
    """An opinion about a node. The larger of two opinions counts."""

    dead: bool = False
    incarnation: int = 0
    suspected: bool = False


News = tuple[tuple[int, Opinion], ...]


class Probe(NamedTuple):
    """A request to ping another node."""

    target: int
    news: News


class Swim(cw.Node):
    patience, step = 4, 1

    def on_start(self) -> None:
        self.view = {node: Opinion() for node in self.nodes}
        self.targets: tuple[int, ...] = ()
        self.unheard: dict[int, int] = {}
        """Maps a node to the number of helpers that may still reach it."""
        self.every(PERIOD, self.probe)

    def news(self) -> News:
        return tuple(self.view.items())

    def probe(self) -> None:
        """Ping the next member, in an order of all members that is random in each round."""
        targets = [node for node in self.targets or self.shuffled() if not self.view[node].dead]
        if targets:
            self.targets = tuple(targets[1:])
            self.request(targets[0], self.news(), TIMEOUT, self.on_ack, partial(self.ask_others, targets[0]))

    def shuffled(self) -> list[int]:
        return self.rng.sample(self.peers, len(self.peers))

    def ask_others(self, target: int) -> None:
        others = [node for node in self.shuffled() if node != target and not self.view[node].dead][:HELPERS]
        self.unheard[target] = max(1, len(others))
        for helper in others:
            probe = Probe(target, self.news())
            self.request(helper, probe, 3 * TIMEOUT, partial(self.on_helped, target), partial(self.on_silence, target))
        if not others:
            self.on_silence(target)

    def on_helped(self, target: int, news: News, helper: int) -> None:
        self.unheard[target] = 0
        self.on_ack(news, helper)

    def on_ack(self, news: News, sender: int) -> None:
        for node, opinion in news:
            self.hear(node, opinion)

    def on_silence(self, target: int) -> None:
        self.unheard[target] -= 1
        if self.unheard[target] == 0:
            self.hear(target, self.view[target]._replace(suspected=True))

    def hear(self, node: int, opinion: Opinion) -> None:
        if opinion <= self.view[node]:
            return
        self.view[node] = opinion
        self.log.info("node %d: %s", node, opinion)
        if node == self.id:
            self.view[node] = Opinion(False, opinion.incarnation + self.step)
        elif opinion.suspected and not opinion.dead:
            self.after(self.patience * self.node_count * PERIOD, self.confirm, node, opinion)

    def confirm(self, node: int, opinion: Opinion) -> None:
        """Declare a node dead if no contradiction has arrived."""
        if self.view[node] == opinion:
            self.hear(node, opinion._replace(dead=True))

    @cw.handles(tuple)
    def on_ping(self, news: News, sender: int) -> None:
        self.on_ack(news, sender)
        self.reply(self.news())

    @cw.handles(Probe)
    def on_probe(self, probe: Probe, sender: int) -> None:
        self.on_ack(probe.news, sender)
        back = partial(self.on_ack_for, self.current_request)
        self.request(probe.target, self.news(), TIMEOUT, back, self.on_no_ack)

    def on_ack_for(self, asked: cw.Request, news: News, target: int) -> None:
        self.on_ack(news, target)
        self.reply(self.news(), asked)

    def on_no_ack(self) -> None:
        """Do nothing: the node that asked sees that no reply arrives."""


class Hasty(Swim):
    patience = 0  # wrong: a suspected node is dead


class Mute(Swim):
    step = 0  # wrong: contradicts in an incarnation that other nodes ignore


def accurate(model: Any) -> str | None:
    wrong = [(a.id, b) for a in model.nodes for b, its in a.view.items() if its.dead and b not in model.failed]
    return f"accuracy: node {wrong[0][0]} declares node {wrong[0][1]} dead, which is up" if wrong else None


def complete(model: Any) -> str | None:
    up = [node for node in model.nodes if node.id not in model.down]
    late = [(a.id, b) for a in up for b in model.down if not a.view[b].dead]
    return f"completeness: node {late[0][0]} does not learn that node {late[0][1]} is dead" if late else None


class SwimStudy(cw.ModelStudy):
    name, title = "swim", "SWIM: membership"
    versions = {"right": Swim, "hasty": Hasty, "mute": Mute}
    verdicts = {"hasty": "accuracy", "mute": "accuracy"}
    model_checks = cw.Checks(
        always={"accurate": accurate}, at_end={"complete": complete}, clocks="late",
        budget=cw.Budget(broadcasts=0, losses=2, crashes=1, recover=False),
    )  # fmt: skip

    def duration_ps(self, params: cw.ModelParams) -> int:
        return cw.seconds(60)
