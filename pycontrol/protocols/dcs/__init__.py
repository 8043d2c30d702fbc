"""Dynamic Clock Sets (dcs23): a set of probabilistic clocks that grows and shrinks with the load.

In reading order:

node.py         reference implementation: one process, as in the paper; tests explore it as a model
vectorized.py   vectorized implementation, used by studies; tests compare it with node.py, event by event
state.py        the arrays
kernel.py       the compiled hot path: broadcast, reception, delivery
resize.py       Add, Activate, checkExpand, assignment to components
rounds.py       the conditions and effects of Deactivation and Remove rounds
mailroom.py     the packets of rounds
policies/       when to expand, which components to increment, which process starts rounds
"""

from __future__ import annotations

from causeway.pycontrol.protocols.dcs.vectorized import DynamicClockSet

__all__ = ["DynamicClockSet"]
