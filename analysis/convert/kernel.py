"""Compiled reader of vector data lines, `ID [EVENT] TIME VALUE`, from bytes into columns.

`parse` reads lines of the usual form and stops at the first other line with a status, the reason; the caller reads that
line (by `lexer`, which reads every form) and calls `parse` again for the rest. The bytes must end with a line end,
since every loop stops there.
"""

import numpy as np

from causeway.analysis.convert.declared import DONE, FULL, NO_EVENT, ODD, UNDECLARED
from causeway.toolchain.jit import njit

_LF, _CR, _TAB, _SPACE, _DOT = 10, 13, 9, 32, 46
_MINUS, _PLUS, _ZERO, _NINE = 45, 43, 48, 57
_PICO = -12
_WHOLE_SECONDS = 9_223_372  # 2**63 picoseconds, rounded down
_POWERS = np.array([10**n for n in range(19)], np.int64)
_EXACT = np.array([10.0**n for n in range(23)])
_EXACT_MANTISSA = 1 << 53


@njit(inline="always")
def _skip_blanks(data, at):
    while data[at] == _SPACE or data[at] == _TAB:
        at += 1
    return at


@njit(inline="always")
def _digits(data, at):
    """Return (value, end) of a sequence of digits. The value is exact for at most 18 digits."""
    value = np.int64(0)
    while _ZERO <= data[at] <= _NINE:
        value = value * 10 + (data[at] - _ZERO)
        at += 1
    return value, at


@njit(inline="always")
def _time(data, at):
    """Return (raw, power of ten, end) of a time by the rule of `lexer.exact_time`.

    The end is -1 if the bytes have any other form.
    """
    start = at
    whole, at = _digits(data, at)
    fraction, decimals, digits = np.int64(0), 0, at - start
    if digits == 0 or digits > 18:
        return whole, _PICO, -1
    if data[at] == _DOT:
        point = at + 1
        fraction, at = _digits(data, point)
        decimals = at - point
    if data[at] != _TAB and data[at] != _SPACE:
        return whole, _PICO, -1
    if decimals <= 12 and whole < _WHOLE_SECONDS:
        return whole * _POWERS[12] + fraction * _POWERS[12 - decimals], _PICO, at
    return _long_time(whole, fraction, decimals, at)


@njit()
def _long_time(whole, fraction, decimals, at):
    """Return (raw, power of ten, end) of a time that is finer than a picosecond or exceeds 2**63 picoseconds."""
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
def _value(data, at):
    """Return (value, is exact, end) of a decimal number. The end is -1 if the bytes have any other form.

    If mantissa and power of ten are exact doubles, the number is rounded once, so it equals the result of strtod.
    """
    negative = data[at] == _MINUS
    if negative:
        at += 1
    start = at
    mantissa, at = _digits(data, at)
    digits = at - start
    if digits == 0:
        return _named(data, at, negative)
    exponent = np.int64(0)
    if data[at] == _DOT:
        point = at + 1
        while _ZERO <= data[point] <= _NINE:
            mantissa = mantissa * 10 + (data[point] - _ZERO)
            point += 1
        exponent = np.int64(at + 1 - point)
        digits -= exponent
        at = point
    if data[at] == 101 or data[at] == 69:  # e, E
        at += 1
        sign = -1 if data[at] == _MINUS else 1
        if data[at] == _MINUS or data[at] == _PLUS:
            at += 1
        power, behind = _digits(data, at)
        if behind == at or behind > at + 4:
            return 0.0, False, -1
        exponent += sign * power
        at = behind
    if digits > 18 or mantissa > _EXACT_MANTISSA or not -22 <= exponent <= 22:
        return 0.0, False, at
    value = np.float64(mantissa)
    value = value / _EXACT[-exponent] if exponent < 0 else value * _EXACT[exponent]
    return (-value if negative else value), True, at


@njit(inline="always")
def _named(data, at, negative):
    """Do the same as `_value` for `nan` and `inf`, which simulations often write."""
    if data[at] == 110 and data[at + 1] == 97 and data[at + 2] == 110:
        return (np.copysign(np.nan, -1.0) if negative else np.nan), True, at + 3
    if data[at] == 105 and data[at + 1] == 110 and data[at + 2] == 102:
        return (-np.inf if negative else np.inf), True, at + 3
    return 0.0, True, -1


@njit(nogil=True)
def parse(data, at, end, base, declared, ids, events, raws, exponents, values, row, unread, text):
    """Read data lines from `at` to `end` (just after a line end) into the rows from `row` on.

    Return (status, position, row, number of unread values). The module `declared` has the statuses, and the function
    `hash_table` that makes the argument `declared`. `base` is the file offset of data[0]. The caller reads the values
    that need more than one rounding: column n of `unread` is (row of value n, end of its characters in `text`).
    """
    mask = declared.shape[1] - 1
    last_id, columns, left, written = np.int64(-1), np.int64(0), 0, 0
    while at < end:
        line = at
        at = _skip_blanks(data, at)
        if not _ZERO <= data[at] <= _NINE:
            while data[at] != _LF:
                at += 1
            at += 1
            continue
        if row == len(ids):
            return FULL, line, row, left
        start = at
        vector_id, at = _digits(data, at)
        if (data[at] != _TAB and data[at] != _SPACE) or at > start + 18:
            return ODD, line, row, left
        if vector_id != last_id:
            slot = vector_id & mask
            while declared[0, slot] != vector_id and declared[0, slot] >= 0:
                slot = (slot + 1) & mask
            if declared[0, slot] < 0 or declared[2, slot] > base + line:
                return UNDECLARED, line, row, left
            last_id, columns = vector_id, declared[1, slot]
        if columns > 3:
            return ODD, line, row, left  # columns in another order
        at = _skip_blanks(data, at)
        event = NO_EVENT
        if columns == 3:
            start = at
            event, at = _digits(data, at)
            if at == start or at > start + 18 or (data[at] != _TAB and data[at] != _SPACE):
                return ODD, line, row, left
            at = _skip_blanks(data, at)
        raw, exponent, at = _time(data, at)
        if at < 0:
            return ODD, line, row, left
        begin = _skip_blanks(data, at)
        value, exact, at = _value(data, begin)
        if at < 0:
            return ODD, line, row, left
        behind = at
        at = _skip_blanks(data, at)
        if data[at] == _CR:
            at += 1
        if data[at] != _LF:
            return ODD, line, row, left
        if not exact:
            for i in range(begin, behind):
                text[written] = data[i]
                written += 1
            unread[0, left], unread[1, left] = row, written
            left += 1
        at += 1
        ids[row], events[row], raws[row], exponents[row], values[row] = vector_id, event, raw, exponent, value
        row += 1
    return DONE, at, row, left
