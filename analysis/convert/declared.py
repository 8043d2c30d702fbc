"""The vectors that a file declares, as a table that compiled code reads, and the codes that it answers with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

DONE, FULL, ODD, UNDECLARED = 0, 1, 2, 3
NO_EVENT = np.int64(-(2**63))
"""Stands for a missing event number."""


def hash_table(vectors: Iterable[tuple[int, int, int]]) -> np.ndarray:
    """Return a hash table of three rows from (id, code of its columns, file offset of its record) triples."""
    vectors = list(vectors)
    size = 16
    while size < 3 * len(vectors):
        size *= 2
    table = np.full((3, size), -1, np.int64)
    for vector_id, columns, offset in vectors:
        slot = vector_id & (size - 1)
        while table[0, slot] >= 0 and table[0, slot] != vector_id:
            slot = (slot + 1) & (size - 1)
        table[:, slot] = vector_id, columns, offset
    return table
