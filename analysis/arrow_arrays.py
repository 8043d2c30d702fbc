"""Arrow arrays from plain Python values, without loading pandas.

`pyarrow.array` loads pandas in order to recognize its types. This takes 0.25 s, which is too long for a program that
only writes a few tables.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

_NUMBERS = {pa.int64(): (np.int64, int), pa.int8(): (np.int8, int), pa.float64(): (np.float64, float)}


def array(values: Any, kind: pa.DataType) -> pa.Array:
    """Return `pyarrow.array(values).cast(kind)`, without loading pandas if the values obviously are of this kind."""
    if isinstance(values, np.ndarray):
        return (
            of_numbers(values)
            if kind in _NUMBERS and values.dtype == _NUMBERS[kind][0]
            else pa.array(values).cast(kind)
        )
    if not isinstance(values, list | tuple):
        return pa.array(values, from_pandas=False).cast(kind)
    types = set(map(type, values))
    if kind == pa.string() and types <= {str}:
        return of_texts(values)
    if kind in _NUMBERS:
        dtype, plain = _NUMBERS[kind]
        if types <= ({int, float, type(None)} if plain is float else {int, type(None)}):
            missing = np.array([value is None for value in values], bool)
            filled = [0 if value is None else value for value in values] if missing.any() else values
            return of_numbers(np.array(filled, dtype), missing)
    return pa.array(values).cast(kind)


def of_numbers(values: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
    """Return numbers that share the memory of `values`, with nulls at `missing`."""
    values = np.ascontiguousarray(values)
    valid = None
    if missing is not None and missing.any():
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, pa.py_buffer(values)])


def of_texts(values: Sequence[str]) -> pa.Array:
    """Return an array of strings."""
    encoded = [value.encode() for value in values]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=ends[1:])
    if ends[-1] >= 2**31:
        return pa.array(values, pa.string())
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)
