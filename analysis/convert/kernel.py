"""Vector data lines, `ID [EVENT] TIME VALUE`, straight from bytes into columns; compiled.

`parse` reads lines of the usual shape and stops at the first that is not, with a status that says why; the caller
deals with that line (`lexer.py` reads anything) and calls again behind it. `records` finds lines that are not data.

Both look at eight bytes at a time: `words[i]` is the 64 bits that begin at byte i. So a buffer must hold eight bytes
more than its lines, and its lines must end with a line end, where every loop stops.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from causeway.analysis.convert.doubles import decimal_to_double
from causeway.analysis.convert.native import DONE, FULL, NO_EVENT, ODD, UNDECLARED
from causeway.bridge.jit import njit

_LF, _CR, _TAB, _SPACE, _DOT = 10, 13, 9, 32, 46
_MINUS, _PLUS, _ZERO, _NINE, _HASH = 45, 43, 48, 57, 35
_PICO = -12
_WHOLE_SECONDS = 9_223_372  # 2**63 picoseconds, rounded down
_POWERS = np.array([10**n for n in range(19)], np.int64)
_U = np.uint64
_ZEROS, _HIGH_BITS, _LOW_BITS = _U(0x3030303030303030), _U(0x8080808080808080), _U(0x0101010101010101)
_ABOVE_NINE, _LINE_ENDS = _U(0x7676767676767676), _U(0x0A0A0A0A0A0A0A0A)
_PAIRS, _MILLIONS, _TENTHOUSANDS = _U(0x000000FF000000FF), _U(0x000F424000000064), _U(0x0000271000000001)
_8, _10, _16, _32 = _U(8), _U(10), _U(16), _U(32)


@intrinsic
def _trailing_zeros(context: Any, value: Any = None) -> Any:
    """How many zero bits a uint64 ends with; 64 for 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@njit(inline="always")
def _blank(byte):
    return byte in (_SPACE, _TAB)


@njit(inline="always")
def _skip_blanks(data, at):
    if data[at] <= _SPACE:
        while data[at] == _SPACE or data[at] == _TAB:
            at += 1
    return at


@njit(inline="always")
def _digits(words, at):
    """(value, position behind) of a run of digits. The value is right for at most 18 of them."""
    value = np.int64(0)
    while True:
        digits = words[at] ^ _ZEROS
        others = ((digits + _ABOVE_NINE) | digits) & _HIGH_BITS  # lowest bit set: the first byte that is no digit
        count = np.int64(_trailing_zeros(others) >> _U(3))
        if count == 0:
            return value, at
        digits = digits << _U(64 - 8 * count)
        digits = digits * _10 + (digits >> _8)
        eight = ((digits & _PAIRS) * _MILLIONS + ((digits >> _16) & _PAIRS) * _TENTHOUSANDS) >> _32
        value = value * _POWERS[count] + np.int64(eight)
        at += count
        if count < 8:
            return value, at


@njit(inline="always")
def _time(data, words, at):
    """(raw, power of ten, position behind) of a time; position -1 for an odd shape. lexer.exact_time's rule."""
    start = at
    whole, at = _digits(words, at)
    fraction, decimals, digits = np.int64(0), 0, at - start
    if digits == 0 or digits > 18:
        return whole, _PICO, -1
    if data[at] == _DOT:
        point = at + 1
        fraction, at = _digits(words, point)
        decimals = at - point
    if not _blank(data[at]):
        return whole, _PICO, -1
    if decimals <= 12 and whole < _WHOLE_SECONDS:
        return whole * _POWERS[12] + fraction * _POWERS[12 - decimals], _PICO, at
    return _long_time(whole, fraction, decimals, at)


@njit()
def _long_time(whole, fraction, decimals, at):
    """A time finer than a picosecond, or too long for 64 bits of picoseconds."""
    if decimals > 18 or whole >= _POWERS[18 - decimals] or whole + fraction == 0:
        return whole, _PICO, -1
    raw, exponent = whole * _POWERS[decimals] + fraction, -decimals
    while raw % 10 == 0:
        raw //= 10
        exponent += 1
    if exponent >= _PICO and whole <= _WHOLE_SECONDS:
        if whole == _WHOLE_SECONDS:
            return raw, _PICO, -1
        return raw * _POWERS[exponent - _PICO], _PICO, at
    return raw, exponent, at


@njit(inline="always")
def _value(data, words, at):
    """(value, position behind) of a plain decimal; position -1 for anything else."""
    negative = data[at] == _MINUS
    if negative:
        at += 1
    start = at
    mantissa, at = _digits(words, at)
    count = at - start
    if count == 0:
        return _named(data, at, negative)
    decimals = 0
    if data[at] == _DOT:
        point = at + 1
        fraction, at = _digits(words, point)
        decimals = at - point
        if count + decimals > 18:
            return 0.0, -1
        mantissa = mantissa * _POWERS[decimals] + fraction
    exponent = np.int64(-decimals)
    if data[at] == 101 or data[at] == 69:  # e, E
        at += 1
        sign = -1 if data[at] == _MINUS else 1
        if data[at] == _MINUS or data[at] == _PLUS:
            at += 1
        power, behind = _digits(words, at)
        if behind == at or behind > at + 4:
            return 0.0, -1
        exponent += sign * power
        at = behind
    if count > 18:
        return 0.0, -1
    sure, value = decimal_to_double(np.uint64(mantissa), exponent)
    return (-value if negative else value), (at if sure else -1)


@njit(inline="always")
def _named(data, at, negative):
    """`nan` and `inf`, which simulations write often enough to matter."""
    if data[at] == 110 and data[at + 1] == 97 and data[at + 2] == 110:
        return (np.copysign(np.nan, -1.0) if negative else np.nan), at + 3
    if data[at] == 105 and data[at + 1] == 110 and data[at + 2] == 102:
        return (-np.inf if negative else np.inf), at + 3
    return 0.0, -1


@njit(nogil=True)
def parse(data, words, at, end, base, declared, ids, events, raws, exponents, values, row):
    """Read data lines from `at` to `end` (just behind a line end) into row `row` and on: (status, position, row).

    `declared` is a hash table of three rows: vector id, code of its columns, file offset of its record; `base` is the
    file offset of data[0].
    """
    mask = declared.shape[1] - 1
    last_id, columns = np.int64(-1), np.int64(0)
    while at < end:
        line = at
        at = _skip_blanks(data, at)
        if not _ZERO <= data[at] <= _NINE:
            at = _next_line(words, at)
            continue
        if row == len(ids):
            return FULL, line, row
        start = at
        vector_id, at = _digits(words, at)
        if not _blank(data[at]) or at > start + 18:
            return ODD, line, row
        if vector_id != last_id:
            slot = vector_id & mask
            while declared[0, slot] != vector_id and declared[0, slot] >= 0:
                slot = (slot + 1) & mask
            if declared[0, slot] < 0 or declared[2, slot] > base + line:
                return UNDECLARED, line, row
            last_id, columns = vector_id, declared[1, slot]
        if columns > 3:
            return ODD, line, row  # columns in another order
        at = _skip_blanks(data, at)
        event = NO_EVENT
        if columns == 3:
            start = at
            event, at = _digits(words, at)
            if at == start or at > start + 18 or not _blank(data[at]):
                return ODD, line, row
            at = _skip_blanks(data, at)
        raw, exponent, at = _time(data, words, at)
        if at < 0:
            return ODD, line, row
        value, at = _value(data, words, _skip_blanks(data, at))
        if at < 0:
            return ODD, line, row
        at = _skip_blanks(data, at)
        if data[at] == _CR:
            at += 1
        if data[at] != _LF:
            return ODD, line, row
        at += 1
        ids[row], events[row], raws[row], exponents[row], values[row] = vector_id, event, raw, exponent, value
        row += 1
    return DONE, at, row


@njit(inline="always")
def _next_line(words, at):
    while True:
        others = words[at] ^ _LINE_ENDS
        found = (others - _LOW_BITS) & ~others & _HIGH_BITS  # lowest bit set: the first line end
        if found:
            return at + np.int64(_trailing_zeros(found) >> _U(3)) + 1
        at += 8


@njit(nogil=True)
def records(data, words, at, end, starts):
    """Fill `starts` with where the lines that are not data begin: (how many, position reached, data lines passed)."""
    found, rows = 0, 0
    while at < end:
        line = at
        at = _skip_blanks(data, at)
        byte = data[at]
        if _ZERO <= byte <= _NINE:
            rows += 1
        elif byte != _LF and byte != _CR and byte != _HASH:
            if found == len(starts):
                return found, line, rows
            starts[found] = line
            found += 1
        at = _next_line(words, at)
    return found, at, rows
