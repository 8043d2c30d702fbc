"""Decimal to double, bit for bit what strtod gives, compiled.

A number is `mantissa * 10**exponent` with a mantissa below 2**64. Small ones are exact in one multiplication or
division (Clinger); the others go through a 128-bit product (Eisel and Lemire). What neither can decide (subnormals, the
rare product on the edge) is refused, and the caller asks Python's own float().
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

import causeway.analysis.convert.powers as powers
from causeway.bridge.jit import njit

_HIGH, _LOW = powers.table()
_EXACT = np.array([10.0**n for n in range(23)])
_U = np.uint64
_ONE, _32, _LOW32, _ALL = _U(1), _U(32), _U(0xFFFFFFFF), _U(0xFFFFFFFFFFFFFFFF)
_CLINGER = _U(1) << _U(53)


@intrinsic
def _as_double(context: Any, bits: Any = None) -> Any:
    """The double of these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@njit(inline="always")
def _product(a, b):
    """The 128-bit product of two 64-bit integers, as (high, low)."""
    a_low, a_high = a & _LOW32, a >> _32
    b_low, b_high = b & _LOW32, b >> _32
    low = a_low * b_low
    cross = a_high * b_low + (low >> _32)
    other = a_low * b_high + (cross & _LOW32)
    return a_high * b_high + (cross >> _32) + (other >> _32), (other << _32) | (low & _LOW32)


@njit(inline="always")
def _leading_zeros(value):
    count = 0
    for width in (32, 16, 8, 4, 2, 1):
        if value >> _U(64 - width) == _U(0):
            count += width
            value = value << _U(width)
    return count


@njit()
def _wide(mantissa, exponent):
    """`mantissa * 10**exponent` for a mantissa that is not 0; False if undecided."""
    if exponent < -300 or exponent > 280:
        return False, 0.0
    zeros = _leading_zeros(mantissa)
    mantissa = mantissa << _U(zeros)
    index = exponent - powers.SMALLEST
    high, low = _product(mantissa, _HIGH[index])
    if high & _U(0x1FF) == _U(0x1FF):  # the bits below could carry into those that count
        carry, _ = _product(mantissa, _LOW[index])
        low = low + carry
        if carry > low:
            high = high + _ONE
    if low == _ALL and not -27 <= exponent <= 55:
        return False, 0.0
    upper = high >> _U(63)
    shift = upper + _U(64 - 52 - 3)
    result = high >> shift
    power = ((217706 * exponent) >> 16) + 63 + np.int64(upper) - zeros + 1023
    if power <= 0 or power >= 0x7FE:
        return False, 0.0
    if low <= _ONE and -4 <= exponent <= 23 and result & _U(3) == _ONE and result << shift == high:
        result = result & ~_ONE  # exactly half-way: round to even
    result = (result + (result & _ONE)) >> _ONE
    if result >= _U(1) << _U(53):
        result = _U(1) << _U(52)
        power += 1
    return True, _as_double((result & ~(_U(1) << _U(52))) | (_U(power) << _U(52)))


@njit(inline="always")
def decimal_to_double(mantissa, exponent):
    """(True, the nearest double), or (False, anything) when only strtod can say."""
    if mantissa <= _CLINGER and -22 <= exponent <= 22:
        if exponent < 0:
            return True, np.float64(mantissa) / _EXACT[-exponent]
        return True, np.float64(mantissa) * _EXACT[exponent]
    if mantissa == _U(0):
        return True, 0.0
    return _wide(mantissa, exponent)
