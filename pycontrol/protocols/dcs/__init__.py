"""Dynamic Clock Sets (dcs23): a set of probabilistic clocks that grows and shrinks with the load.

Start here, in reading order:

node.py       one process, to be read beside the paper; the tests explore small worlds with it
columns.py    all processes over columns: what studies run
state.py      the arrays
kernel.py     the hot path: broadcast, reception, delivery
resize.py     Add, Activate, checkExpand, assignment to components
rounds.py     the conditions and effects of Deactivation and Remove rounds
mailroom.py   the packets of rounds
policies/     when to expand, where to increment, who starts rounds
"""

from __future__ import annotations

from causeway.pycontrol.protocols.dcs.columns import DynamicClockSet

__all__ = ["DynamicClockSet"]
