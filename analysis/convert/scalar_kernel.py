"""Plain `scalar` and `attr` lines, from bytes into columns; compiled. See `scalars`.

Imports only what it needs, by `import ... as`: a kernel is compiled again whenever a file that it reaches changes, and
`from package import module` reaches the whole package.
"""

import numpy as np

import causeway.analysis.convert.kernel as kernel
from causeway.bridge.jit import njit

_LF, _CR, _QUOTE, _BACKSLASH = 10, 13, 34, 92


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


@njit(nogil=True)
def read(data, words, starts, first, last, cells, values, own):
    """Lines first..last-1 of `starts`, as far as they are plain: (line reached, scalars, attributes).

    `cells` gets place and length of a scalar's module and name, `own` those of an attribute's name and value, and its
    scalar. An attribute belongs to the scalar before it, so the stretch begins with a scalar.
    """
    rows, attributes = 0, 0
    for line in range(first, last):
        at = starts[line]
        is_scalar = _is_word(data, at, _SCALAR)
        if not is_scalar and (rows == 0 or not _is_word(data, at, _ATTR)):
            return line, rows, attributes
        place, length, at = _token(data, at + (6 if is_scalar else 4))
        next_place, next_length, at = _token(data, at)
        if length < 0 or next_length < 0:
            return line, rows, attributes
        value = 0.0
        if is_scalar:
            if not kernel._blank(data[at]):
                return line, rows, attributes
            value, at = kernel._value(data, words, kernel._skip_blanks(data, at))
            if at < 0:
                return line, rows, attributes
        at = kernel._skip_blanks(data, at)
        if data[at] == _CR:
            at += 1
        if data[at] != _LF:
            return line, rows, attributes
        if is_scalar:
            cells[0, rows], cells[1, rows], cells[2, rows], cells[3, rows] = place, length, next_place, next_length
            values[rows] = value
            rows += 1
        else:
            own[0, attributes], own[1, attributes] = place, length
            own[2, attributes], own[3, attributes] = next_place, next_length
            own[4, attributes] = rows - 1
            attributes += 1
    return last, rows, attributes


@njit(nogil=True)
def gather(data, places, lengths, ends, room):
    """The strings at `places` one behind the other."""
    to = 0
    for row in range(len(places)):
        at, length = places[row], lengths[row]
        for i in range(length):
            room[to + i] = data[at + i]
        to += length
        ends[row + 1] = to
