"""The compiled readers, as the rest of the converter calls them. numba is loaded when one is first called."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

DONE, FULL, ODD, UNDECLARED = 0, 1, 2, 3
NO_EVENT = np.int64(-(2**63))  # stands for a missing event number
SPARE = 8  # bytes that a buffer holds behind its lines

RUN_ATTR, ITERVAR, CONFIG, SCALAR, PAR, FIELD, BIN, VECTOR, OF_ITEM = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""What a row of `read_files` is; OF_ITEM and the three behind it are attributes of a scalar, par, statistic, vector."""


def _reader(module: str, name: str) -> Callable[..., Any]:
    """Return a function that stands for a compiled one and imports it when it is called."""

    @cache
    def imported() -> Callable[..., Any]:
        return getattr(import_module(f"causeway.analysis.convert.{module}"), name)

    return lambda *arguments: imported()(*arguments)


parse = _reader("kernel", "parse")
records = _reader("kernel", "records")
read_scalars = _reader("scalar_kernel", "read")
read_files = _reader("bulk_kernel", "read_files")
gather = _reader("scalar_kernel", "gather")
fill = _reader("sqlite_kernel", "fill")


def words_of(buffer: bytearray | bytes | mmap.mmap) -> np.ndarray:
    """The 64-bit words that begin at every byte of a buffer but the last seven."""
    return np.ndarray((len(buffer) - 7,), "<u8", buffer, 0, (1,))


def hash_table(vectors: Iterable[tuple[int, int, int]]) -> np.ndarray:
    """`declared` for `parse`, from (id, code of its columns, offset) triples."""
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
