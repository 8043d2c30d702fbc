"""Sets of ids, kept as ranges: any number of consecutive ids takes the memory of one range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Ranges:
    """A set of int64, kept as disjoint ranges [low, high), ascending."""

    def __init__(self) -> None:
        self._low = np.empty(0, np.int64)
        self._high = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Return the number of ranges."""
        return len(self._low)

    def add(self, ids: NDArray[np.int64]) -> None:
        """Add ids, in any order."""
        if len(ids):
            new = np.unique(ids)
            self._join(new, new + 1)

    def add_range(self, low: int, high: int) -> None:
        """Add all ids of [low, high)."""
        if low < high:
            self._join(np.array([low], np.int64), np.array([high], np.int64))

    def _join(self, new_low: NDArray[np.int64], new_high: NDArray[np.int64]) -> None:
        low, high = np.concatenate([self._low, new_low]), np.concatenate([self._high, new_high])
        order = np.argsort(low, kind="stable")
        low, high = low[order], np.maximum.accumulate(high[order])
        begins = np.concatenate([[True], low[1:] > high[:-1]])
        ends = np.concatenate([begins[1:], [True]])
        self._low, self._high = low[begins], high[ends]

    def take(self, how_many: int) -> list[tuple[int, int]]:
        """Remove the longest ranges, at most `how_many`, and return them."""
        longest = np.argsort(self._high - self._low, kind="stable")[::-1][:how_many]
        taken = [(int(self._low[i]), int(self._high[i])) for i in longest]
        self._low, self._high = np.delete(self._low, longest), np.delete(self._high, longest)
        return taken

    def has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of the ids that are in the set."""
        if not len(self):
            return np.zeros(len(ids), bool)
        at = np.searchsorted(self._low, ids, side="right") - 1
        return (at >= 0) & (ids < self._high[at])
