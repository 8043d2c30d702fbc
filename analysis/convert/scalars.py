"""Many `scalar` lines and their `attr` lines at once, straight from bytes into columns.

A line of any other kind or shape (an escape, a byte beyond ASCII, a number of unusual form) ends the stretch, and is
left to the complete reader in `records.py`. A simulation writes a million scalars with hardly such a line among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from causeway.analysis import schema
from causeway.analysis.arrays import of_numbers, of_texts
from causeway.analysis.convert.native import gather, read_scalars

LEAST_LINES = 1000
"""Fewer lines than this are not worth the columns."""


def _texts(data: np.ndarray, places: np.ndarray, lengths: np.ndarray) -> pa.Array:
    ends, room = np.zeros(len(places) + 1, np.int32), np.empty(int(lengths.sum()), np.uint8)
    gather(data, places, lengths, ends, room)
    return pa.Array.from_buffers(pa.string(), len(places), [None, pa.py_buffer(ends), pa.py_buffer(room)])


@dataclass
class Stretch:
    """What a stretch of lines gave."""

    lines: int
    scalars: pa.Table
    attributes: pa.Table
    rows: int
    last: tuple[str, str]
    """Module and name of the last scalar: what an attribute behind the stretch belongs to."""


def stretch(
    data: np.ndarray, words: np.ndarray, starts: np.ndarray, first: int, last: int, run_id: str, position: int
) -> Stretch | None:
    """The plain scalars and attributes from line `first` on; None if there are too few for the trouble.

    `position` is that of the first scalar among all of its run.
    """
    room = last - first
    if room < LEAST_LINES:
        return None
    cells, own, values = np.empty((4, room), np.int64), np.empty((5, room), np.int64), np.empty(room)
    reached, rows, attributes = read_scalars(data, words, starts, first, last, cells, values, own)
    if rows == 0 or reached - first < min(LEAST_LINES, room):
        return None
    modules, names = _texts(data, *cells[:2, :rows]), _texts(data, *cells[2:, :rows])
    own_names, own_values = _texts(data, *own[:2, :attributes]), _texts(data, *own[2:4, :attributes])
    owners = own[4, :attributes]
    every = {
        "run_id": _same(run_id, rows), "module": modules.dictionary_encode(), "name": names.dictionary_encode(),
        "value": of_numbers(values[:rows].copy()), "position": of_numbers(np.arange(position, position + rows)),
    }  # fmt: skip
    index = of_numbers(owners.copy())
    found = {
        "run_id": _same(run_id, attributes), "owner": _same("scalar", attributes),
        "module": every["module"].take(index), "item": every["name"].take(index),
        "name": own_names.dictionary_encode(), "value": own_values.dictionary_encode(),
        "position": of_numbers(owners + position),
    }  # fmt: skip
    end = (modules[-1].as_py(), names[-1].as_py())
    return Stretch(reached - first, _table("scalars", every), _table("attributes", found), rows, end)


def _same(text: str, count: int) -> pa.Array:
    """A column of one text. Dictionaries are written as they are, without looking at every row again."""
    return pa.DictionaryArray.from_arrays(of_numbers(np.zeros(count, np.int32)), of_texts([text]))


def _table(name: str, columns: dict[str, pa.Array]) -> pa.Table:
    fields = [pa.field(f.name, columns[f.name].type, f.nullable) for f in schema.TABLES[name]]
    return pa.Table.from_arrays([columns[field.name] for field in fields], schema=pa.schema(fields))
