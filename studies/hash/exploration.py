"""hash in a small world: the readable twin, with so few entries that its clocks err all the time."""

from __future__ import annotations

from typing import Any

from causeway.explore.checks import Checks
from causeway.explore.model import Budget
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.hash.node import HashDetectorNode, HashDetectorProcesses, Waiting

NODES, ENTRIES, INCREMENTS, LIMIT = 4, 2, 1, 1000


class Suspecting(HashDetectorNode):
    """A process that keeps what it suspected, and how much it had delivered by then."""

    suspicions: tuple[tuple[int, int], ...] = ()

    def suspect(self, waiting: Waiting) -> None:
        self.suspicions += ((waiting.m.id, len(self.Deliv)),)
        super().suspect(waiting)


class SuspectingProcesses(HashDetectorProcesses):
    node_class = Suspecting


def fair(model: Any) -> str | None:
    """Who has delivered just what a message depends on does not suspect it."""
    for node in model.nodes:
        order = list(node.Deliv)
        for message, had in node.suspicions:
            if set(order[:had]) == set(model.past[message]):
                return f"fair: node {node.id} suspects message {message}, though it has delivered what that depends on"
    return None


def checks(params: Any) -> Checks:
    """What `causeway check hash` does."""

    def reference() -> PerNode:
        if params.clock == "vector":
            return VectorProcesses()
        if params.detector == "hash":
            return SuspectingProcesses(ENTRIES, INCREMENTS, LIMIT, retest=params.retest)
        return ProbabilisticProcesses(ENTRIES, INCREMENTS)

    suspects = params.clock != "vector" and params.detector == "hash"
    return Checks(
        properties=("once", "causal", "arrives"), at_end={"fair": fair} if suspects else {},
        protocol=reference, nodes=NODES, budget=Budget(broadcasts=6),
    )  # fmt: skip
