"""Many `scalar` lines and their `attr` lines at once, straight from bytes into columns; compiled.

A line of any other kind or shape (an escape, a byte beyond ASCII, a number of unusual form) ends the stretch, and is
left to the complete reader in `records.py`. A simulation writes a million scalars with hardly such a line among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from causeway.analysis import schema
from causeway.analysis.arrays import of_numbers
from causeway.analysis.convert import kernel

LEAST_LINES = 1000
"""Fewer lines than this are not worth the columns."""
_LF, _CR, _QUOTE, _BACKSLASH, _HASH = 10, 13, 34, 92, 35
_TEXTS = 2  # strings of a row: module and name, or an attribute's name and value


@njit(inline="always")
def _token(data, at):
    """(start, length, position behind) of a plain or simply quoted token; length -1 for any other."""
    at = kernel._skip_blanks(data, at)
    if data[at] == _QUOTE:
        start = at + 1
        at = start
        while data[at] != _QUOTE:
            if data[at] == _BACKSLASH or data[at] == _LF or data[at] >= 128:
                return start, -1, at
            at += 1
        return start, at - start, at + 1
    start = at
    while data[at] > 32:
        if data[at] >= 127:
            return start, -1, at
        at += 1
    return start, (at - start if at > start else -1), at


@njit(inline="always")
def _is_word(data, at, word):
    for i in range(len(word)):
        if data[at + i] != word[i]:
            return False
    return kernel._blank(data[at + len(word)])


_SCALAR = np.frombuffer(b"scalar", np.uint8)
_ATTR = np.frombuffer(b"attr", np.uint8)


@njit(cache=True, nogil=True)
def read(data, words, starts, first, last, places, lengths, values, attribute_places, attribute_lengths, owners):
    """Lines first..last-1 of `starts`, as far as they are plain: (line reached, scalars, attributes).

    An attribute belongs to the scalar before it, so the stretch begins with a scalar.
    """
    bits = np.zeros(1, np.uint64)
    rows, attributes = 0, 0
    for line in range(first, last):
        at = starts[line]
        if _is_word(data, at, _SCALAR):
            module, module_length, at = _token(data, at + 6)
            name, name_length, at = _token(data, at)
            if module_length < 0 or name_length < 0 or not kernel._blank(data[at]):
                return line, rows, attributes
            value, at = kernel._value(data, words, kernel._skip_blanks(data, at), bits)
            if at < 0:
                return line, rows, attributes
            at = kernel._skip_blanks(data, at)
            if data[at] == _CR:
                at += 1
            if data[at] != _LF:
                return line, rows, attributes
            places[0, rows], lengths[0, rows], places[1, rows], lengths[1, rows] = (
                module, module_length, name, name_length,
            )  # fmt: skip
            values[rows] = value
            rows += 1
        elif rows > 0 and _is_word(data, at, _ATTR):
            key, key_length, at = _token(data, at + 4)
            text, text_length, at = _token(data, at)
            if key_length < 0 or text_length < 0:
                return line, rows, attributes
            at = kernel._skip_blanks(data, at)
            if data[at] == _CR:
                at += 1
            if data[at] != _LF:
                return line, rows, attributes
            attribute_places[0, attributes], attribute_lengths[0, attributes] = key, key_length
            attribute_places[1, attributes], attribute_lengths[1, attributes] = text, text_length
            owners[attributes] = rows - 1
            attributes += 1
        else:
            return line, rows, attributes
    return last, rows, attributes


@njit(cache=True, nogil=True)
def _gather(data, places, lengths, ends, room):
    """The strings at `places` one behind the other."""
    to = 0
    for row in range(len(places)):
        at, length = places[row], lengths[row]
        for i in range(length):
            room[to + i] = data[at + i]
        to += length
        ends[row + 1] = to


def _texts(data: np.ndarray, places: np.ndarray, lengths: np.ndarray) -> pa.Array:
    ends, room = np.zeros(len(places) + 1, np.int32), np.empty(int(lengths.sum()), np.uint8)
    _gather(data, places, lengths, ends, room)
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
    places, lengths, values = np.empty((2, room), np.int64), np.empty((2, room), np.int64), np.empty(room)
    own_places, own_lengths, owners = (
        np.empty((2, room), np.int64),
        np.empty((2, room), np.int64),
        np.empty(room, np.int64),
    )
    reached, rows, attributes = read(
        data, words, starts, first, last, places, lengths, values, own_places, own_lengths, owners
    )
    if rows == 0 or reached - first < min(LEAST_LINES, room):
        return None
    places, lengths, owners = places[:, :rows], lengths[:, :rows], owners[:attributes]
    own_places, own_lengths = own_places[:, :attributes], own_lengths[:, :attributes]
    modules, names = _texts(data, places[0], lengths[0]), _texts(data, places[1], lengths[1])
    scalars = schema.conform("scalars", {
        "module": modules, "name": names, "value": of_numbers(values[:rows].copy()),
        "position": of_numbers(np.arange(position, position + rows)),
    }, run_id)  # fmt: skip
    index = pa.array(owners)
    found = schema.conform("attributes", {
        "owner": pa.DictionaryArray.from_arrays(np.zeros(attributes, np.int8), pa.array(["scalar"])).cast(pa.string()),
        "module": modules.take(index), "item": names.take(index), "name": _texts(data, own_places[0], own_lengths[0]),
        "value": _texts(data, own_places[1], own_lengths[1]), "position": of_numbers(owners + position),
    }, run_id)  # fmt: skip
    return Stretch(reached - first, scalars, found, rows, (modules[-1].as_py(), names[-1].as_py()))
