"""The hash error detector on probabilistic clocks (paper `hash`, Algorithms 2 and 3).

Before it delivers a message, a receiver searches its own deliveries for a set with the hash of the message's
dependencies. If it finds none, it requests the dependencies from the sender (REQ, RSP) and delays the message until it
has delivered all of them.

In reading order:

node.py         reference implementation: one process, as in the paper
vectorized.py   vectorized implementation, used by studies; tests compare its digest with that of node.py
search.py       Algorithm 3 as a depth-first search
near.py         Algorithm 3 in the order of the authors' program, which can miss sets that exist
state.py        the arrays
kernel.py       the compiled hot path
"""

from __future__ import annotations

from causeway.pycontrol.protocols.hash.node import HashDetectorProcesses
from causeway.pycontrol.protocols.hash.vectorized import HashDetector

__all__ = ["HashDetector", "HashDetectorProcesses"]
