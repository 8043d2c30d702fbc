"""Run protocols written for gradysim (`pip install gradysim`): `Drones` is a protocol made of them."""

from causeway.pycontrol.gradys import Drones

__all__ = ["Drones"]
