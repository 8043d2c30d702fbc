"""Causal broadcast over VCube trees with aggregation (icpp18, Algorithms 1 and 2).

A node postpones sending a message to a child if the child could not deliver it yet, because it lacks another message
that the same node will send. It then sends both in one packet.

In reading order:

node.py         reference implementation: one process, as in the paper
vectorized.py   vectorized implementation, used by studies; tests compare its digest with that of node.py
state.py        the arrays
kernel.py       the compiled hot path
compared.py     a run compared with the same one without aggregation (Figures 7 and 8)

The trees are those of protocols/vcube.
"""

from __future__ import annotations

from causeway.pycontrol.protocols.icpp18.compared import Compared
from causeway.pycontrol.protocols.icpp18.node import causal_nodes
from causeway.pycontrol.protocols.icpp18.vectorized import CausalAggregation, Wire

__all__ = ["CausalAggregation", "Compared", "Wire", "causal_nodes"]
