"""Raft's leader election: a vote for each term, and a leader once more than half have voted for it.

    causeway check examples/textbook/raft_election.py --every 1000000
    causeway check examples/textbook/raft_election.py --every 1000000 --set version=unsaved

After D. Ongaro and J. Ousterhout, *In search of an understandable consensus algorithm* (2014), Section 5.2. Two or
three times (`--calls`) some node loses patience and stands; a node may fail and recover. Terms and votes are saved.

Verdict: never two leaders in one term. The unsaved version forgets its vote when it fails, the generous one votes for
everybody who asks.
"""

from typing import Any, NamedTuple

import causeway as cw

NOBODY = -1
Ask = NamedTuple("Ask", [("term", int)])
Vote = NamedTuple("Vote", [("term", int)])


class Raft(cw.Node):
    """One server: saved state first."""

    def on_start(self) -> None:
        self.term, self.voted_for = 0, NOBODY
        self.votes: frozenset[int] = frozenset()
        self.led: frozenset[int] = frozenset()
        """Terms in which it was the leader: for the check only."""

    def stand(self) -> None:
        """It has not heard from a leader for too long."""
        self.term += 1
        self.voted_for, self.votes = self.id, frozenset({self.id})
        self.send(cw.EVERYONE, Ask(self.term), 10)

    def counts(self, term: int) -> bool:
        """Go on to a later term; return whether a message of this term counts."""
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
