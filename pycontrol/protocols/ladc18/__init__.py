"""Best-effort broadcast over VCube trees with bundled messages (ladc18, Algorithm 2).

All messages to the same neighbor within max_delay are sent in one packet. Failure detectors on separate nodes notify
the processes of crashes, and the processes repair the trees.

In reading order:

node.py          reference implementation: one process, as in the paper
vectorized.py    vectorized implementation, used by studies; tests compare its digest with that of node.py
state.py         the arrays
kernel.py        the compiled hot path: dispatches events and checks for room. Its parts:
  tasks.py       the handlers of a process, and its pending acks
  bundles.py     bundles, packets and timers
  detectors.py   the failure detectors
audit.py         an observer that checks the properties of best-effort broadcast

The trees and the detector's reference implementation are in protocols/vcube.
"""

from __future__ import annotations

from causeway.pycontrol.protocols.ladc18.audit import BestEffortAudit
from causeway.pycontrol.protocols.ladc18.node import BundledProcesses
from causeway.pycontrol.protocols.ladc18.vectorized import BundledBroadcast, Limits

__all__ = ["BestEffortAudit", "BundledBroadcast", "BundledProcesses", "Limits"]
