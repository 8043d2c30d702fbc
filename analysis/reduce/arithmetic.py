"""The arithmetic of the reductions, on lists of numbers: exact sums and Student's intervals."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from scipy.special import stdtrit

LEVEL = 0.95
INTERVAL = ("runs", "mean", "sd", "ci_low", "ci_high")


@lru_cache(maxsize=1024)
def _quantile(level: float, degrees: int) -> float:
    return float(stdtrit(degrees, 0.5 + level / 2))


def interval(values: Iterable[float | None], level: float = LEVEL) -> tuple[int, float, float, float, float]:
    """Return (count, mean, standard deviation, low, high) by Student's t. The interval of a single value is NaN.

    Missing values are left out. Sums are exact, so the order of the values does not matter.
    """
    known = [float(value) for value in values if value is not None and not math.isnan(value)]
    n = len(known)
    if n == 0:
        return 0, math.nan, math.nan, math.nan, math.nan
    if not all(map(math.isfinite, known)):
        return n, total(known), math.nan, math.nan, math.nan
    mean = total(known) / n
    if n == 1:
        return 1, mean, math.nan, math.nan, math.nan
    deviation = _deviation(known, mean)
    half = _quantile(level, n - 1) * deviation / math.sqrt(n)
    return n, mean, deviation, mean - half, mean + half


def _deviation(values: Sequence[float], mean: float) -> float:
    """Return the standard deviation of at least two values.

    Distances are scaled by a power of two, so that no square overflows or underflows.
    """
    distances = [value - mean for value in values]
    farthest = max(map(abs, distances))
    if farthest == 0 or not math.isfinite(farthest):
        return farthest
    _, exponent = math.frexp(farthest)
    squares = (math.ldexp(distance, -exponent) ** 2 for distance in distances)
    scaled = math.sqrt(math.fsum(squares) / (len(values) - 1))
    try:
        return math.ldexp(scaled, exponent)
    except OverflowError:
        return math.inf


def total(values: Sequence[float]) -> float:
    """Return the correctly rounded sum.

    It is infinite only if the sum is too large for a double, and NaN for inf - inf.
    """
    try:
        return math.fsum(values)
    except ValueError:  # infinities of both signs
        return math.nan
    except OverflowError:  # overflow in a partial sum, or in the result
        if infinite := [value for value in values if not math.isfinite(value)]:
            return sum(infinite)
        return _rounded(sum(map(Fraction, values), Fraction(0)))


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def parts(values: Sequence[float]) -> list[float]:
    """Return a few numbers with the same exact sum as these finite values.

    The first is the correctly rounded sum. Each of the others is the rounded rest that the numbers before it leave. If
    a rest is too large for a double, the values themselves are returned.
    """
    found: list[float] = []
    try:
        while (rest := math.fsum([*values, *(-part for part in found)])) or not found:
            found.append(rest)
    except OverflowError:
        return list(values)
    return found
