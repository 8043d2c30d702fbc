"""Causal broadcast with logical clocks: vector clocks and probabilistic ones (paper `hash`, Algorithm 1).

A process counts each message it delivers in the entries f(sender) of its clock; a message says how often the sender
had counted, and waits until its receiver has caught up. One entry each: exact. Shared entries: rarely too early.

Start here, in reading order:

node.py      the algorithm as one process, as the paper has it; the tests hold it to the digest of the other
entries.py   f(p), and the comparison of two clocks
columns.py   all processes over columns: what studies run
vector.py    the exact special case
state.py     the arrays
lines.py     what waits at each process
kernel.py    the hot path
"""

from __future__ import annotations

from causeway.pycontrol.protocols.clocks.columns import ProbabilisticClock
from causeway.pycontrol.protocols.clocks.node import ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.clocks.vector import VectorClock

__all__ = ["ProbabilisticClock", "ProbabilisticProcesses", "VectorClock", "VectorProcesses"]
