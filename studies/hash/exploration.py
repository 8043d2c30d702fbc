"""The model of hash for `causeway check`: the reference implementation with four nodes.

The clocks have so few entries that they make many errors.
"""

from __future__ import annotations

from typing import Any

from causeway.explore.checks import Checks
from causeway.explore.model import Budget
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.hash.node import HashDetectorNode, HashDetectorProcesses, Waiting

NODES, ENTRIES, INCREMENTS, LIMIT = 4, 2, 1, 1000


class Suspecting(HashDetectorNode):
    """A process that records every message that it suspects, and its number of deliveries at that time."""

    suspicions: tuple[tuple[int, int], ...] = ()

    def suspect(self, waiting: Waiting) -> None:
        """Record the suspicion, then react to it."""
        self.suspicions += ((waiting.m.id, len(self.Deliv)),)
        super().suspect(waiting)


class SuspectingProcesses(HashDetectorProcesses):
    """The processes of a run, with recorded suspicions."""

    node_class = Suspecting


def fair(model: Any) -> str | None:
    """Check that no process suspects a message after delivering exactly the messages on which it depends."""
    for node in model.nodes:
        order = list(node.Deliv)
        for message, had in node.suspicions:
            if set(order[:had]) == set(model.past[message]):
                return (
                    f"fair: node {node.id} suspects message {message}, though it has delivered exactly the messages "
                    f"on which that depends"
                )
    return None


def checks(params: Any) -> Checks:
    """Return the settings of `causeway check hash`."""

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
