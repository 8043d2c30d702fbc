"""Best-effort broadcast over VCube trees with bundled messages (ladc18, Algorithm 2).

Everything that goes to the same neighbor within max_delay travels in one packet. Failure detectors on nodes of their
own tell the processes of crashes, and trees repair themselves.

Start here, in reading order:

node.py        the algorithm as one process, as the paper has it; the tests hold it to the digest of the other
columns.py     all processes over columns: what studies run
state.py       the arrays
kernel.py      the hot path: who handles which event, and whether there is room for it. Its parts:
  tasks.py       acks that are awaited, and what a process does about each event
  bundles.py     bundles that wait, and what leaves a process
  detectors.py   the failure detectors
audit.py       checks what the broadcast promises

The trees and the detector's readable twin are in protocols/vcube.
"""

from __future__ import annotations

from causeway.pycontrol.protocols.ladc18.audit import BestEffortAudit
from causeway.pycontrol.protocols.ladc18.columns import BundledBroadcast, Limits
from causeway.pycontrol.protocols.ladc18.node import BundledProcesses

__all__ = ["BestEffortAudit", "BundledBroadcast", "BundledProcesses", "Limits"]
