"""Sizing by the table of loads and sizes in the authors' published program (github:Wilhelm2/DCSClocks).

A clock grows when the load rises above one limit and shrinks when it falls below another, lower one. The program's
limits are messages received in 0.5 s; here they are per second. Rounds and moves are those of `sized`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocols.dcs.policies.sized import Sized

ENTRIES = np.array([50, 100, 150, 200, 300, 400, 500], np.float64)
ABOVE_PER_S = np.array([66, 90, 106, 130, 150, 160], np.float64)
"""A clock of ENTRIES[i] is too small above ABOVE_PER_S[i]."""
BELOW_PER_S = np.array([44, 66, 80, 90, 130, 150], np.float64)
"""A clock of ENTRIES[i + 1] is too large below BELOW_PER_S[i]."""


def sizing(load_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the minimum number of entries at a load."""
    return ENTRIES[np.searchsorted(ABOVE_PER_S, load_per_s, side="left")]


class Table(Sized):
    """Sizes the clock by the table."""

    def __init__(self, component_size: int, capacity: int) -> None:
        super().__init__(sizing, component_size, capacity)

    def enough(self, load_per_s: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the number of components that a process keeps if it has them, by the lower limits."""
        return self._components(ENTRIES[np.searchsorted(BELOW_PER_S, load_per_s, side="right")])
