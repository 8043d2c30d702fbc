"""Read many `scalar` lines and their `attr` lines at once, by pyarrow's CSV reader. Start here: `stretch`.

pyarrow reads nearly all scalars of a simulation as `lexer.tokens` does. The first line of any other kind or form (an
escape, a byte beyond ASCII, two blanks in a row) ends the stretch; `records` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import csv

from causeway.analysis import schema
from causeway.analysis.arrow_arrays import of_numbers, of_texts

LEAST_LINES = 1000
"""Fewer lines are read faster one by one."""
_LF, _CR, _TAB, _SPACE, _QUOTE, _BACKSLASH = 10, 13, 9, 32, 34, 92
_TEXT = pa.dictionary(pa.int32(), pa.string())
_SCALAR, _ATTR = np.frombuffer(b"scalar ", np.uint8), np.frombuffer(b"attr ", np.uint8)


@dataclass
class Stretch:
    """The rows of consecutive lines."""

    lines: int
    scalars: pa.Table
    attributes: pa.Table
    rows: int
    last: tuple[str, str]
    """Module and name of the last scalar, to which an attribute after the stretch belongs."""


def stretch(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, run_id: str, position: int) -> Stretch | None:
    """Read plain scalars and their attributes. The first of the lines must be a scalar.

    Args:
        data: The bytes of the lines.
        starts: The positions of the lines.
        ends: The positions after their line ends.
        run_id: The run that the scalars belong to.
        position: The number of scalars of this run before the first one.

    Returns:
        The rows; None if there are too few plain lines, or if pyarrow would read them differently.
    """
    if len(starts) < LEAST_LINES:
        return None
    is_scalar = _begins(data, starts, ends, _SCALAR)
    known = is_scalar | _begins(data, starts, ends, _ATTR)
    lines = len(starts) if known.all() else int(np.argmin(known))
    if lines >= LEAST_LINES:
        lines = _plain_lines(data, starts[:lines], ends[:lines], is_scalar[:lines])
    if lines < LEAST_LINES:
        return None
    starts, ends, is_scalar = starts[:lines], ends[:lines], is_scalar[:lines]
    try:
        found = _read(data, starts[is_scalar], ends[is_scalar], {"module": _TEXT, "name": _TEXT, "value": pa.float64()})
        own = _read(data, starts[~is_scalar], ends[~is_scalar], {"name": _TEXT, "value": _TEXT})
    except pa.ArrowInvalid:
        return None
    rows, attributes = int(is_scalar.sum()), int((~is_scalar).sum())
    if (found.num_rows, own.num_rows) != (rows, attributes):
        return None
    owners = (np.cumsum(is_scalar) - 1)[~is_scalar]
    scalars = {
        "run_id": _same(run_id, rows), **_columns(found), "position": of_numbers(np.arange(position, position + rows)),
    }  # fmt: skip
    index = of_numbers(owners)
    items = {
        "run_id": _same(run_id, attributes), "owner": _same("scalar", attributes),
        "module": scalars["module"].take(index), "item": scalars["name"].take(index), **_columns(own),
        "position": of_numbers(owners + position),
    }  # fmt: skip
    last = (scalars["module"][-1].as_py(), scalars["name"][-1].as_py())
    return Stretch(lines, _table("scalars", scalars), _table("attributes", items), rows, last)


def _begins(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return which lines begin with `word`, which includes a blank at its end."""
    long = ends - starts > len(word)
    found = long.copy()
    for i, byte in enumerate(word):
        found[long] &= data[starts[long] + i] == byte
    return found


def _plain_lines(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, is_scalar: np.ndarray) -> int:
    """Return the number of lines before the first one that pyarrow would split into other tokens."""
    begin = int(starts[0])
    here = data[begin : ends[-1]]
    odd = (here == _BACKSLASH) | (here > 126) | ((here < _SPACE) & (here != _LF) & (here != _CR))
    odd[1:] |= (here[1:] == _SPACE) & (here[:-1] == _SPACE)
    quotes = np.flatnonzero(here == _QUOTE) + begin
    found = [np.flatnonzero(odd) + begin, _odd_quotes(data, quotes, starts, ends, is_scalar)]
    first = min((int(places[0]) for places in found if len(places)), default=None)
    return len(starts) if first is None else int(np.searchsorted(starts, first, "right")) - 1


def _odd_quotes(
    data: np.ndarray, quotes: np.ndarray, starts: np.ndarray, ends: np.ndarray, is_scalar: np.ndarray
) -> np.ndarray:
    """Return the positions of quotation marks that do not enclose a whole token, or that enclose a scalar's value."""
    line = np.searchsorted(starts, quotes, "right") - 1
    first = np.searchsorted(line, line)  # the quotes of a line are adjacent
    closes = (np.arange(len(quotes)) - first) % 2 == 1
    before, behind = data[quotes - 1], data[quotes + 1]
    at_end = (behind == _LF) | (behind == _CR)
    unpaired = ~closes & ((np.append(line[1:], -1) != line) | (before != _SPACE))
    unfinished = closes & (~(at_end | (behind == _SPACE)) | (at_end & is_scalar[line]))
    return quotes[(unpaired | unfinished) & (quotes < ends[line])]


def _read(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, kinds: dict[str, pa.DataType]) -> pa.Table:
    """Read lines of one kind as columns."""
    if not len(starts):
        return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
    begin, end = int(starts[0]), int(ends[-1])
    inside = np.zeros(end - begin + 1, np.int8)
    inside[starts - begin] += 1
    inside[ends - begin] -= 1
    wanted = data[begin:end][np.cumsum(inside[:-1], dtype=np.int8).view(bool)]
    return csv.read_csv(
        pa.BufferReader(pa.py_buffer(wanted)),
        csv.ReadOptions(column_names=["kind", *kinds], block_size=max(1 << 20, len(wanted))),
        csv.ParseOptions(delimiter=" ", double_quote=False, ignore_empty_lines=False),
        csv.ConvertOptions(
            check_utf8=False, column_types=kinds, include_columns=list(kinds), null_values=[], strings_can_be_null=False
        ),
    )


def _columns(table: pa.Table) -> dict[str, pa.Array]:
    return {name: table[name].unify_dictionaries().combine_chunks() for name in table.column_names}


def _same(text: str, count: int) -> pa.Array:
    """Return a column of one text as a dictionary array, which is written without reading each row."""
    return pa.DictionaryArray.from_arrays(of_numbers(np.zeros(count, np.int32)), of_texts([text]))


def _table(name: str, columns: dict[str, pa.Array]) -> pa.Table:
    fields = [pa.field(f.name, columns[f.name].type, f.nullable) for f in schema.TABLES[name]]
    return pa.Table.from_arrays([columns[field.name] for field in fields], schema=pa.schema(fields))
