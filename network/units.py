"""Exact units for times, lengths and speeds: `seconds(1.5)`, `ms(300)`, `metres(180)`.

Times are whole picoseconds, lengths whole millimetres, and speeds whole millimetres per second. These functions convert
from the usual units. The value of a float is its shortest decimal, as Python prints it, so `seconds(0.1)` is exactly
10**11 ps. A string may be a decimal or a fraction (`seconds("1/8")`). Nothing is rounded: a value that is not a whole
number of picoseconds or millimetres is refused.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Integral

from causeway.errors import UserError
from causeway.signatures import checked_arguments

Number = int | float | str | Decimal | Fraction
"""The values that a unit accepts: numbers, or strings such as "0.1" and "1/8"."""
MOST_PS = 2**63 - 1
"""The latest time, since times are signed 64-bit integers: 106 days."""
LEAST_PS = 1000
"""The shortest time that a user can have meant, a nanosecond. A lower number is one of seconds or milliseconds."""
PICOSECONDS = "times are picoseconds, as seconds(2) or ms(300) return them"
MOST_MM = 2**31 - 1
"""The largest coordinate and speed, since they are sent to the simulator in 32 bits: 2,147 km."""
ALLOWED = "a number, or a string such as '0.1'"


class UnitError(UserError, ValueError):
    """Raised for a value that is out of range, or not a whole number of the smallest unit."""


@checked_arguments
def seconds(value: Number) -> int:
    """Return a time of `value` seconds in picoseconds."""
    return _picoseconds("seconds", value, 12)


@checked_arguments
def ms(value: Number) -> int:
    """Return a time of `value` milliseconds in picoseconds."""
    return _picoseconds("ms", value, 9)


@checked_arguments
def us(value: Number) -> int:
    """Return a time of `value` microseconds in picoseconds."""
    return _picoseconds("us", value, 6)


@checked_arguments
def ns(value: Number) -> int:
    """Return a time of `value` nanoseconds in picoseconds."""
    return _picoseconds("ns", value, 3)


@checked_arguments
def metres(value: Number) -> int:
    """Return a length or a coordinate of `value` metres in millimetres. It may be negative."""
    return _whole("metres", value, Fraction(1000), "millimetres", 3, -MOST_MM, MOST_MM)


@checked_arguments
def km(value: Number) -> int:
    """Return a length or a coordinate of `value` kilometres in millimetres. It may be negative."""
    return _whole("km", value, Fraction(1_000_000), "millimetres", 6, -MOST_MM, MOST_MM)


@checked_arguments
def mm(value: Number) -> int:
    """Return a length or a coordinate of `value` millimetres, which must be a whole number."""
    return _whole("mm", value, Fraction(1), "millimetres", 0, -MOST_MM, MOST_MM)


@checked_arguments
def metres_per_second(value: Number) -> int:
    """Return a speed of `value` m/s in millimetres a second."""
    return _whole("metres_per_second", value, Fraction(1000), "millimetres a second", 3, 0, MOST_MM)


@checked_arguments
def km_per_hour(value: Number) -> int:
    """Return a speed of `value` km/h in millimetres a second. Few are whole numbers: 18, 36, 54, 72 km/h are."""
    return _whole("km_per_hour", value, Fraction(10**6, 3600), "millimetres a second", -1, 0, MOST_MM)


def check_time(what: str, time_ps: int) -> None:
    """Refuse a time above 0 that is shorter than a nanosecond, since it is a number of seconds in all likelihood."""
    if 0 < time_ps < LEAST_PS:
        raise UserError(f"{what} is {time_ps} ps; allowed: 1 ns and up; {PICOSECONDS}")


def _picoseconds(unit: str, value: Number, digits: int) -> int:
    return _whole(unit, value, Fraction(10**digits), "picoseconds", digits, 0, MOST_PS)


def _whole(unit: str, value: Number, factor: Fraction, of: str, digits: int, least: int, most: int) -> int:
    """Return the value times the factor, which must be a whole number in a range.

    Args:
        unit: The function's name, for error messages.
        value: The user's value.
        factor: The unit in `of`.
        of: The name of the smallest unit.
        digits: The number of decimals that a value may have; -1 if it depends on the value.
        least: The smallest result allowed.
        most: The largest result allowed.
    """
    exact = _exact(unit, value) * factor
    if exact.denominator != 1:
        near = round(exact)
        remedy = (
            f"write {unit}(round(x, {digits}))" if digits > 0 else f"write the whole number nearest to it, {near:,}"
        )
        if of == "picoseconds":
            remedy += f", and draw a random time as self.rng.randrange({unit}(...))"
        elif digits < 0:
            remedy = f"write metres_per_second({near / 1000:g})"
        raise UnitError(f"{unit}({value!r}) is not a whole number of {of}; {remedy}")
    if not least <= exact.numerator <= most:
        why = "negative" if exact < 0 <= least else "too large"
        bound = f"{float(Fraction(most) / factor):,.10g}"
        low = "0" if least == 0 else f"-{bound}"
        raise UnitError(f"{unit}({value!r}) is {why}; allowed: {low} to {bound}")
    return exact.numerator


def _exact(unit: str, value: Number) -> Fraction:
    """Return the value as a fraction. The value of a float is its shortest decimal."""
    given: object = value
    try:
        if isinstance(given, float):
            return Fraction(float.__repr__(given))  # numpy's floats have a different repr
        if isinstance(given, Integral) and not isinstance(given, bool):
            return Fraction(int(given))
        if isinstance(given, str | Decimal | Fraction):
            return Fraction(given)
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise UnitError(f"{unit} was given {given!r}; allowed: {ALLOWED}")
