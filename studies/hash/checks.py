"""hash in a small world: the readable twin, with so few entries that its clocks err all the time."""

from __future__ import annotations

from typing import Any

from causeway.pycontrol.check.checks import Checks
from causeway.pycontrol.check.world import Budget
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.hash.node import HashDetectorProcesses

NODES, ENTRIES, INCREMENTS, LIMIT = 4, 2, 1, 1000


def checks(params: Any) -> Checks:
    """What `causeway check hash` does."""

    def twin() -> PerNode:
        if params.clock == "vector":
            return VectorProcesses()
        if params.detector == "hash":
            return HashDetectorProcesses(ENTRIES, INCREMENTS, LIMIT, retest=params.retest)
        return ProbabilisticProcesses(ENTRIES, INCREMENTS)

    return Checks(protocol=twin, nodes=NODES, budget=Budget(broadcasts=6))
