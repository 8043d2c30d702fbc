"""The counter-based generator that every engine shares.

A random number is a pure function of (seed, stream, a, b). There is no state, so the order in which engines draw does
not matter. Distributions are quantile tables, interpolated linearly. Only integer operations and correctly rounded
float64 operations (+ - * /) are used, so numpy, numba and C++ (`bridge/cpp/random.h`) give exactly the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.proto.contract import constant, pb
from causeway.toolchain.jit import njit

QUANTILE_BINS = constant("QUANTILE_BINS")
"""The number of bins of a table, which has one point more. The tails end at half a bin, about 4.0 standard deviations.
"""

STREAM_DELAY: int = pb.RandomStream.DELAY
STREAM_LOSS: int = pb.RandomStream.LOSS
STREAM_INTERVAL: int = pb.RandomStream.INTERVAL
STREAM_SENDER: int = pb.RandomStream.SENDER
STREAM_HOT: int = pb.RandomStream.HOT
STREAM_PROTOCOL: int = pb.RandomStream.PROTOCOL
"""The first of the streams for protocols."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _S50 = (np.uint64(n) for n in (30, 27, 31, 11, 50))


@njit(inline="always")
def mix(x: np.uint64) -> np.uint64:
    """Return the finalizer of splitmix64 (OOPSLA 2014)."""
    x = (x ^ (x >> _S30)) * _MIX1
    x = (x ^ (x >> _S27)) * _MIX2
    return x ^ (x >> _S31)


@njit(inline="always")
def draw(seed: int, stream: int, a: int, b: int) -> np.uint64:
    """Return 64 random bits for (seed, stream, a, b)."""
    h = mix(np.uint64(seed) + _GOLDEN * np.uint64(stream))
    h = mix(h + _GOLDEN * (np.uint64(a) + np.uint64(1)))
    return mix(h + _GOLDEN * (np.uint64(b) + np.uint64(1)))


@njit(inline="always")
def unit(bits: np.uint64) -> float:
    """Return a float64 in [0, 1) made of 53 random bits."""
    return np.float64(bits >> _S11) * (1.0 / 9007199254740992.0)


@njit(inline="always")
def below(bits: np.uint64, n: int) -> np.int64:
    """Return an integer in [0, n)."""
    return np.int64(bits % np.uint64(n))


@njit(inline="always")
def from_table(table: NDArray[np.float64], bits: np.uint64) -> float:
    """Return a draw from the distribution whose quantiles are in `table` (QUANTILE_BINS + 1 points)."""
    bin_ = np.int64(bits >> _S50)
    fraction = np.float64((bits >> _S11) & np.uint64(0x7FFFFFFFFF)) * (1.0 / 549755813888.0)
    low = table[bin_]
    return low + (table[bin_ + 1] - low) * fraction


@njit(inline="always")
def round_ns_to_ps(value_ns: float) -> np.int64:
    """Round a non-negative duration to whole nanoseconds and return it in picoseconds."""
    return np.int64(np.floor(value_ns + 0.5)) * np.int64(1000)


@njit(inline="always")
def draw_unit(seed: int, stream: int, a: int, b: int) -> float:
    """Return a float64 in [0, 1) for (seed, stream, a, b)."""
    return unit(draw(seed, stream, a, b))


@njit(inline="always")
def draw_ps(table: NDArray[np.float64], seed: int, stream: int, a: int, b: int) -> np.int64:
    """Return a duration in ps for (seed, stream, a, b), from a table of quantiles in ns."""
    return round_ns_to_ps(from_table(table, draw(seed, stream, a, b)))
