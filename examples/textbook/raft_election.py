"""Raft's leader election: one vote in each term, and a candidate with more than half of the votes is the leader.

    causeway check examples/textbook/raft_election.py --every 1000000
    causeway check examples/textbook/raft_election.py --every 1000000 --set version=unsaved

After D. Ongaro and J. Ousterhout, *In search of an understandable consensus algorithm* (2014), Section 5.2. Two or
three times (`--calls`) a node times out and becomes a candidate; a node may fail and recover. Terms and votes are
saved.

Verdict: there are never two leaders in one term. In the unsaved version, a node forgets its vote when it fails. In the
generous one, it votes for every candidate.
"""

from typing import Any, NamedTuple

import causeway as cw

NOBODY = -1
Ask = NamedTuple("Ask", [("term", int)])
Vote = NamedTuple("Vote", [("term", int)])


class Raft(cw.Node):
    """A server. Its saved state comes first."""

    def on_start(self) -> None:
        self.term, self.voted_for = 0, NOBODY
        self.votes: frozenset[int] = frozenset()
        self.led: frozenset[int] = frozenset()
        """Terms in which it was the leader, only for the check."""

    def stand(self) -> None:
        """Become a candidate, since no message of a leader has arrived for too long."""
        self.term += 1
        self.voted_for, self.votes = self.id, frozenset({self.id})
        self.send(cw.EVERYONE, Ask(self.term), 10)

    def counts(self, term: int) -> bool:
        """Follow a later term. Return whether a message of this term is valid."""
        if term > self.term:
            self.term, self.voted_for, self.votes = term, NOBODY, frozenset()
        return term == self.term

    @cw.handles(Ask)
    def on_ask(self, ask: Ask, sender: int) -> None:
        if self.counts(ask.term) and self.may_vote(sender):
            self.voted_for = sender
            self.send(sender, Vote(ask.term), 10)

    @cw.handles(Vote)
    def on_vote(self, vote: Vote, sender: int) -> None:
        if self.counts(vote.term) and self.voted_for == self.id:
            self.votes |= {sender}
            if 2 * len(self.votes) > self.node_count:
                self.led |= {vote.term}

    def may_vote(self, candidate: int) -> bool:
        return self.voted_for in (NOBODY, candidate)

    def on_down(self) -> None:
        self.votes = frozenset()


class Unsaved(Raft):
    """Wrong: the vote is not saved."""

    def on_down(self) -> None:
        self.votes, self.voted_for = frozenset(), NOBODY


class Generous(Raft):
    """Wrong: a second vote in the same term."""

    def may_vote(self, candidate: int) -> bool:
        return True


def one_leader(model: Any) -> str | None:
    for term in {term for node in model.nodes for term in node.led}:
        leaders = [node.id for node in model.nodes if term in node.led]
        if len(leaders) > 1:
            return f"election safety: nodes {leaders} both lead term {term}"
    return None


class RaftElection(cw.ModelStudy):
    name, title = "raft_election", "Raft's leader election"
    versions = {"right": Raft, "unsaved": Unsaved, "generous": Generous}
    verdicts = {"unsaved": "election safety", "generous": "election safety"}
    model_checks = cw.Checks(
        always={"one leader a term": one_leader}, calls={"election": Raft.stand},
        budget=cw.Budget(broadcasts=0, calls=2, crashes=1), symmetric=True,
    )  # fmt: skip
