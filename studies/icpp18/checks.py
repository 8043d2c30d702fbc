"""icpp18 in a small world: the readable twin among four nodes."""

from __future__ import annotations

from typing import Any

from causeway.pycontrol.check.checks import Checks
from causeway.pycontrol.check.world import Budget
from causeway.pycontrol.protocols.icpp18.columns import Wire
from causeway.pycontrol.protocols.icpp18.node import causal_nodes

NODES = 4


def checks(params: Any) -> Checks:
    """What `causeway check icpp18` does."""
    single = params.trees == "single"
    return Checks(
        protocol=lambda: causal_nodes(NODES, params.aggregation, single, Wire()), nodes=NODES,
        budget=Budget(broadcasts=3),
    )  # fmt: skip
