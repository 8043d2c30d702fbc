"""The interface of the compiled reader (`kernel`): its table of declared vectors and its status codes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

DONE, FULL, ODD, UNDECLARED = 0, 1, 2, 3
NO_EVENT = np.int64(-(2**63))
"""The value for a missing event number. No simulation has an event of this number."""


def hash_table(vectors: Iterable[tuple[int, int, int]]) -> np.ndarray:
    """Return a hash table of vectors with three rows: ids, codes of their columns, file offsets of their records.

    `vectors` are (id, code, offset) triples. Empty slots have the id -1.
    """
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
