"""VCube (ScalA 2014): the virtual hypercube in which icpp18 and ladc18 build their trees.

In reading order:

tree.py       clusters, tests and spanning trees: bit arithmetic
detector.py   the failure detector of one process
"""

from __future__ import annotations

from causeway.pycontrol.protocols.vcube.detector import Detector
from causeway.pycontrol.protocols.vcube.tree import dimension

__all__ = ["Detector", "dimension"]
