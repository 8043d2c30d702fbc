"""Raft: a leader for each term, and a common log. An entry that more than half of the nodes have stored is committed.

    causeway check examples/textbook/raft.py --set version=careless
    causeway run examples/textbook/raft.py --set nodes=5 --log info

After D. Ongaro and J. Ousterhout, *In search of an understandable consensus algorithm* (2014), Section 5. Broadcasts
are commands, deliveries apply them; a node that recovers has its term, vote and log. Verdict: one leader in a term,
equal logs, no lost entries. The careless version votes for candidates with older logs, the generous one for all.
"""

from itertools import combinations
from typing import Any, NamedTuple

import causeway as cw

NOBODY, NOTHING, BEAT, PATIENCE = -1, -1, cw.ms(300), cw.seconds(1)
Entry = NamedTuple("Entry", [("term", int), ("message", int)])
Log = tuple[Entry, ...]
Ask = NamedTuple("Ask", [("term", int), ("last", tuple[int, int])])
Vote = NamedTuple("Vote", [("term", int)])
Append = NamedTuple("Append", [("term", int), ("before", int), ("before_term", int), ("new", Log), ("commit", int)])
Appended = NamedTuple("Appended", [("term", int), ("length", int), ("matches", bool)])


class Raft(cw.Node):
    careful, faithless = True, False

    def on_start(self) -> None:
        self.term, self.voted_for, self.commit, self.entries = 0, NOBODY, 1, Log((Entry(0, NOTHING),))
        # the terms in which it was the leader are only for the check
        self.mine = self.delivered = self.led = frozenset[int]()
        self.on_up()

    def on_up(self) -> None:
        self.timer = self.after(PATIENCE, self.stand)
        self.follow(NOBODY)

    def follow(self, leader: int) -> None:
        """Wait for messages of the leader, for a random time, and then become a candidate."""
        self.leader, self.votes = leader, frozenset[int]()
        self.timer.cancel()
        self.timer = self.after(PATIENCE + self.rng.randrange(PATIENCE), self.stand)

    def counts(self, term: int) -> bool:
        """Follow a later term. Return whether a message of this term is valid."""
        if term > self.term:
            self.term, self.voted_for = term, NOBODY
            self.follow(NOBODY)
        return term == self.term

    def stand(self) -> None:
        self.follow(NOBODY)
        self.term, self.voted_for, self.votes = self.term + 1, self.id, frozenset({self.id})
        self.send(cw.EVERYONE, Ask(self.term, (self.entries[-1].term, len(self.entries))))

    @cw.handles(Ask)
    def on_ask(self, ask: Ask, sender: int) -> None:
        is_newer = ask.last >= (self.entries[-1].term, len(self.entries)) or not self.careful
        if self.counts(ask.term) and is_newer and (self.voted_for in (NOBODY, sender) or self.faithless):
            self.voted_for = sender
            self.send(sender, Vote(self.term))

    @cw.handles(Vote)
    def on_vote(self, vote: Vote, sender: int) -> None:
        if self.counts(vote.term) and self.votes and self.leader == NOBODY:
            self.votes |= {sender}
            if 2 * len(self.votes) > self.node_count:
                self.log.info("leads term %d", self.term)
                self.leader, self.led = self.id, self.led | {self.term}
                self.stored, self.next = dict.fromkeys(self.peers, 1), dict.fromkeys(self.peers, len(self.entries))
                self.entries += (Entry(self.term, NOTHING),)  # also commits the entries of earlier terms
                self.timer.cancel()
                self.timer = self.every(BEAT, self.beat)

    def beat(self) -> None:
        for message in self.mine - self.delivered:
            self.on_command(message, self.id)
        for peer, n in self.next.items():
            self.send(peer, Append(self.term, n, self.entries[n - 1].term, self.entries[n:], self.commit))

    @cw.handles(Append)
    def on_append(self, append: Append, sender: int) -> None:
        if self.counts(append.term):
            self.follow(sender)
            for message in self.mine - self.delivered:
                self.send(sender, message)
            n, end = append.before, append.before + len(append.new)
            if matches := [entry.term for entry in self.entries[n - 1 : n]] == [append.before_term]:
                self.entries = self.entries if self.entries[n:end] == append.new else self.entries[:n] + append.new
                self.apply(min(append.commit, end))
            self.send(sender, Appended(self.term, end if matches else n - 1, matches))

    @cw.handles(Appended)
    def on_appended(self, answer: Appended, sender: int) -> None:
        if self.counts(answer.term) and self.leader == self.id:
            self.stored[sender] = max(self.stored[sender], answer.length if answer.matches else 1)
            self.next[sender] = max(self.stored[sender], answer.length)
            by_most = sorted([len(self.entries), *self.stored.values()])[(self.node_count - 1) // 2]
            if self.entries[by_most - 1].term == self.term:
                self.apply(by_most)

    def apply(self, commit: int) -> None:
        for _, message in self.entries[self.commit : commit]:
            if message not in self.delivered | {NOTHING}:
                self.delivered |= {message}
                self.deliver(message)
        self.commit = max(self.commit, commit)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.mine |= {self.new_message()}

    @cw.handles(int)
    def on_command(self, message: int, sender: int) -> None:
        if self.leader == self.id and all(entry.message != message for entry in self.entries):
            self.entries += (Entry(self.term, message),)


class Careless(Raft):
    careful = False  # wrong: a candidate with an older log may become the leader


class Generous(Raft):
    faithless = True  # wrong: a second vote in the same term


def safe(model: Any) -> str | None:
    for a, b in combinations(model.nodes, 2):
        if both := a.led & b.led:
            return f"election safety: nodes {a.id} and {b.id} lead term {min(both)}"
        same = max((i for i, (x, y) in enumerate(zip(a.entries, b.entries, strict=False)) if x.term == y.term))
        if a.entries[: same + 1] != b.entries[: same + 1]:
            return f"log matching: entry {same} of nodes {a.id} and {b.id} is of one term, and those before differ"
        for leader, node in (one for one in ((a, b), (b, a)) if one[0].leader == one[0].id):
            if node.term <= leader.term and leader.entries[: node.commit] != node.entries[: node.commit]:
                return f"committed entries: node {leader.id} leads without those of node {node.id}"
    return None


class RaftStudy(cw.ModelStudy):
    name, title = "raft", "Raft: election and log replication"
    versions = {"right": Raft, "careless": Careless, "generous": Generous}
    verdicts = {"careless": "committed entries", "generous": "election safety"}
    model_checks = cw.Checks(
        properties=("once", "total", "arrives"), always={"safe": safe}, calls={"election": Raft.stand},
        budget=cw.Budget(broadcasts=2, losses=1, crashes=1, calls=2),
    )  # fmt: skip

    def duration_ps(self, params: cw.ModelParams) -> int:
        return cw.seconds(20)
