"""Ids that exist, as ranges: what a run hands out one after the other takes no memory, however much it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Ranges:
    """A set of int64, kept as disjoint ranges [low, high), ascending."""

    def __init__(self) -> None:
        self._low = np.empty(0, np.int64)
        self._high = np.empty(0, np.int64)

    def __len__(self) -> int:
        """How many ranges."""
        return len(self._low)

    def add(self, ids: NDArray[np.int64]) -> None:
        """Adds ids, in any order."""
        if not len(ids):
            return
        new = np.unique(ids)
        low, high = np.concatenate([self._low, new]), np.concatenate([self._high, new + 1])
        order = np.argsort(low, kind="stable")
        low, high = low[order], np.maximum.accumulate(high[order])
        begins = np.concatenate([[True], low[1:] > high[:-1]])
        ends = np.concatenate([begins[1:], [True]])
        self._low, self._high = low[begins], high[ends]

    def has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the ids are in the set."""
        if not len(self):
            return np.zeros(len(ids), bool)
        at = np.searchsorted(self._low, ids, side="right") - 1
        return (at >= 0) & (ids < self._high[at])
