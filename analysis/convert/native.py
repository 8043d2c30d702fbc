"""The compiled readers, as the rest of the converter calls them; numba is not loaded (see `bridge.kernel_object`)."""

from __future__ import annotations

import mmap
from collections.abc import Iterable

import numpy as np

from causeway.bridge.kernel_object import Kernel

DONE, FULL, ODD, UNDECLARED = 0, 1, 2, 3
NO_EVENT = np.int64(-(2**63))  # stands for a missing event number
SPARE = 8  # bytes that a buffer holds behind its lines

RUN_ATTR, ITERVAR, CONFIG, SCALAR, PAR, FIELD, BIN, VECTOR, OF_ITEM = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""What a row of `read_files` is; OF_ITEM and the three behind it are attributes of a scalar, par, statistic, vector."""

_BUFFER = "u1[] u8[:]"
_COLUMNS = "i8[] i8[] i8[] i1[] f8[]"

parse = Kernel(
    "causeway.analysis.convert.kernel", "parse", f"{_BUFFER} i8 i8 i8 i8[,] {_COLUMNS} i8 -> i8 i8 i8"
)  # fmt: skip
records = Kernel("causeway.analysis.convert.kernel", "records", f"{_BUFFER} i8 i8 i8[] -> i8 i8 i8")
read_scalars = Kernel(
    "causeway.analysis.convert.scalar_kernel", "read", f"{_BUFFER} i8[] i8 i8 i8[,] f8[] i8[,] -> i8 i8 i8"
)
read_files = Kernel(
    "causeway.analysis.convert.bulk_kernel", "read_files",
    f"({_BUFFER}) (i8[] i8[] i8) (i4[] i8[,] u8[]) (i8[,] i8[]) (i8[,] i8[]) (i1[] i4[,] f8[,] i8[]) ({_COLUMNS}) "
    "i8[,] -> i8 i8 i8 i8",
)  # fmt: skip
gather = Kernel("causeway.analysis.convert.scalar_kernel", "gather", "u1[] i8[] i8[] i4[] u1[]")
fill = Kernel(
    "causeway.analysis.convert.sqlite_kernel", "fill", "(i8 i8 i8 i8) i8 i8 i8[] i8[] i8[] f8[] i8[] -> i8 i8"
)

ALL = (parse, records, read_scalars, read_files, gather, fill)


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
