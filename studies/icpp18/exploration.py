"""The model of icpp18 for `causeway check`: the reference implementation with four nodes."""

from __future__ import annotations

from typing import Any

from causeway.explore.checks import Checks
from causeway.explore.model import Budget
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocols.icpp18.node import CausalNode, Message
from causeway.pycontrol.protocols.icpp18.vectorized import Wire

NODES = 4


class Counting(CausalNode):
    """A node that counts messages that it had received before."""

    duplicates = 0

    def on_packet(self, content: list[Message], sender: int, interface: int) -> None:
        """Count the messages that this node has received before, then handle the packet."""
        self.duplicates += sum((m.s, m.vc[m.s]) in self.received for m in content)
        super().on_packet(content, sender, interface)


def thrifty(model: Any) -> str | None:
    """Check that the trees deliver every message to every node only once."""
    wasted = {node.id: node.duplicates for node in model.nodes if node.duplicates}
    return "".join(f"thrifty: node {i} received {n} messages a second time" for i, n in wasted.items()) or None


def checks(params: Any) -> Checks:
    """Return the settings of `causeway check icpp18`."""
    single = params.trees == "single"

    def reference() -> PerNode:
        return PerNode(lambda i: Counting(i, NODES, params.aggregation, single, Wire()))

    return Checks(
        properties=("once", "causal", "arrives"), at_end={"thrifty": thrifty}, protocol=reference, nodes=NODES,
        budget=Budget(broadcasts=3),
    )  # fmt: skip
