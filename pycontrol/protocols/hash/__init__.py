"""The hash error detector on probabilistic clocks (paper `hash`, Algorithms 2 and 3).

Before a message is delivered, its receiver looks for a set of its own deliveries whose hash is that of the message's
dependencies. Finding none, it asks the sender for them (REQ, RSP) and waits until it has delivered them all.

Start here, in reading order:

node.py      the algorithms as one process, as the paper has them; the tests hold it to the digest of the other
columns.py   all processes over columns: what studies run
search.py    Algorithm 3, as a small search
near.py      Algorithm 3 in another order, which gives up on sets that exist
state.py     the arrays
kernel.py    the hot path
"""

from __future__ import annotations

from causeway.pycontrol.protocols.hash.columns import HashDetector
from causeway.pycontrol.protocols.hash.node import HashDetectorProcesses

__all__ = ["HashDetector", "HashDetectorProcesses"]
