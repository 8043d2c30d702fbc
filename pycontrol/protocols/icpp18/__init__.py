"""Causal broadcast over VCube trees with aggregation (icpp18, Algorithms 1 and 2).

A node does not forward a message to a child that could not deliver it yet because of another one that this very node
will forward to it: it waits for that one and sends both in one packet.

Start here, in reading order:

node.py       the algorithm as one process, as the paper has it; the tests hold it to the digest of the other
columns.py    all nodes over columns: what studies run
state.py      the arrays
kernel.py     the hot path
compared.py   a run beside the same one without aggregation (Figures 7 and 8)

The trees are those of protocols/vcube.
"""

from __future__ import annotations

from causeway.pycontrol.protocols.icpp18.columns import CausalAggregation, Wire
from causeway.pycontrol.protocols.icpp18.compared import Compared
from causeway.pycontrol.protocols.icpp18.node import causal_nodes

__all__ = ["CausalAggregation", "Compared", "Wire", "causal_nodes"]
