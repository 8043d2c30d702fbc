"""The arithmetic that the Spark and the pandas reductions share, on plain lists and arrays."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import stdtrit

LEVEL = 0.95
INTERVAL = ("runs", "mean", "sd", "ci_low", "ci_high")
MSER_BATCH = 5


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


def batch_means(values: np.ndarray, batches: int) -> list[float]:
    """The correctly rounded means of equal batches of a series, of what is finite; what is left over is left out."""
    size = len(values) // batches
    cut: Any = values[: size * batches].reshape(-1, size) if size else []
    finite = (batch[np.isfinite(batch)].tolist() for batch in cut)
    return [total(batch) / len(batch) for batch in finite if batch]


def places_in_time(time: np.ndarray, event: np.ndarray, no_event: np.ndarray, value: np.ndarray) -> np.ndarray | None:
    """The places of a series' samples by time, event and value, missing ones first. None: they lie so already, as they
    do where they come from one file."""
    if (np.diff(time) > 0).all():
        return None
    by_time = np.argsort(time, kind="stable")
    if (np.diff(time[by_time]) > 0).all():
        return by_time
    missing = np.isnan(value)
    return np.lexsort((np.where(missing, 0.0, value), ~missing, np.where(no_event, 0, event), ~no_event, time))


def warmup_rows(values: np.ndarray, batch: int = MSER_BATCH) -> int:
    """How many observations at the beginning to leave out, by MSER: those whose loss narrows the interval most.

    Observations are averaged in batches of 5 (MSER-5); the cut minimises the squared standard error of what remains and
    is looked for in the first half only, as a minimum behind it says that the run is too short. White (1997).
    """
    count = len(values) // batch
    if count < 4:
        return 0
    means = values[: count * batch].reshape(count, batch).mean(axis=1)
    means = means - means.mean()  # keeps the squares small
    left = np.arange(count, 0, -1)
    sums = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum((means**2)[::-1])[::-1]
    error = (squares - sums**2 / left) / left**2
    return int(np.argmin(error[: count // 2 + 1])) * batch


def interpolated(low: float, high: float, fraction: float) -> float:
    """A percentile between two neighbours, as numpy's 'linear' method has it where they are finite.

    Between a number and an infinity lies that infinity, but the place of a neighbour is its own: nothing becomes NaN.
    """
    if fraction == 0.0 or low == high:
        return low
    if fraction == 1.0 or math.isinf(high):
        return high if math.isfinite(low) else math.nan
    if math.isinf(low):
        return low
    width = high - low
    if math.isinf(width):  # beyond a double: the same in halves
        return 2.0 * (low / 2.0 + (high / 2.0 - low / 2.0) * fraction)
    return low + width * fraction
