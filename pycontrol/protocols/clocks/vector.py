"""Causal broadcast with vector clocks: the exact special case, where each process has an entry of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocol import Context
from causeway.pycontrol.protocols.clocks.entries import own_entries
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock


class VectorClock(ProbabilisticClock):
    """All processes of a run with vector clocks."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def start(self, context: Context) -> None:
        """Give the clock one entry for each process."""
        self.clock_size = context.nodes
        super().start(context)

    def entries_of_all(self) -> NDArray[np.int32]:
        """Return f(p) = {p}."""
        return own_entries(self.context.nodes)
