"""The arithmetic that the Spark and the pandas reductions share, on plain lists and arrays."""

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
    """(count, mean, standard deviation, low, high) by Student's t; one value alone has a mean but no interval.

    Values that are missing are left out. Sums are exact, so the order of the values does not matter.
    """
    known = [float(value) for value in values if value is not None and not math.isnan(value)]
    n = len(known)
    if n == 0:
        return 0, math.nan, math.nan, math.nan, math.nan
    if not all(map(math.isfinite, known)):
        return n, sum(known), math.nan, math.nan, math.nan
    mean = total(known) / n
    if n == 1:
        return 1, mean, math.nan, math.nan, math.nan
    deviation = _deviation(known, mean)
    half = _quantile(level, n - 1) * deviation / math.sqrt(n)
    return n, mean, deviation, mean - half, mean + half


def _deviation(values: Sequence[float], mean: float) -> float:
    """Of two values or more. Distances are scaled by a power of two, so that no square is too large or too small."""
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
    """The correctly rounded sum, infinite only where the sum itself is beyond a double."""
    try:
        return math.fsum(values)
    except OverflowError:  # on the way, or at the end
        return _rounded(sum(map(Fraction, values), Fraction(0)))


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def exact_total(parts: Iterable[Sequence[float]]) -> float:
    """The correctly rounded sum of (root, a, b, c), each standing for (a + b / 2**27 + c / 2**54) / root**2 exactly."""
    exact = Fraction(0)
    for root, whole, upper, lower in parts:
        exact += Fraction((int(whole) << 54) + (int(upper) << 27) + int(lower), 1 << 54) / Fraction(root) ** 2
    return _rounded(exact)
