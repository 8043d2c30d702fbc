"""Causal broadcast with logical clocks: vector clocks and probabilistic clocks (paper `hash`, Algorithm 1).

A process counts each delivered message in the entries f(sender) of its clock. A message carries the clock of its
sender, and a receiver delays it until its own clock has caught up. If every process has an entry of its own, the order
is exact. If processes share entries, a message is rarely delivered too early.

In reading order:

node.py         reference implementation: one process, as in the paper
entries.py      f(p), and the comparison of two clocks
vectorized.py   vectorized implementation, used by studies; tests compare its digest with that of node.py
vector.py       the exact special case of vectorized.py
state.py        the arrays
lines.py        the queues of waiting messages
kernel.py       the compiled hot path
"""

from __future__ import annotations

from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.clocks.vector import VectorClock
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock

__all__ = ["ProbabilisticClock", "ProbabilisticProcesses", "VectorClock", "VectorProcesses"]
