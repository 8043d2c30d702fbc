"""The message loads of dcs23, as segments of constant load.

The paper shows them in Figures 6 and 8 and gives in words: a bell from 10 to 200 messages per second; random targets,
one every 20 s, with three peaks; and 100 per second, of which processes of component C_0 send 25% and, after 50 s,
75%.
"""

from __future__ import annotations

import numpy as np

from causeway.bridge.workload import Segment

S_PS = 10**12
TARGET_EVERY_S = 20


def constant(rate: float) -> tuple[Segment, ...]:
    """The same load for ever."""
    return (Segment(0, rate),)


def bell(low: float, high: float, duration_s: float) -> tuple[Segment, ...]:
    """A Gaussian of plus and minus three standard deviations, in steps of a second."""
    return _steps(lambda t: low + (high - low) * np.exp(-18 * (t / duration_s - 0.5) ** 2), duration_s)


def random(low: float, high: float, duration_s: float, pattern: int) -> tuple[Segment, ...]:
    """A target every 20 s, the load going straight from one to the next: low ones, and three peaks apart."""
    targets = _targets(low, high, int(np.ceil(duration_s / TARGET_EVERY_S)) + 1, pattern)
    times = np.arange(len(targets)) * TARGET_EVERY_S
    return _steps(lambda t: np.interp(t, times, targets), duration_s)


def skewed(rate: float, duration_s: float, from_s: float, hot_nodes: int, hot_share: float) -> tuple[Segment, ...]:
    """The first processes send `hot_share` of all messages from some time on."""
    all_nodes_share = (hot_share - 0.25) / 0.75  # the rest comes from all processes alike, a quarter of them hot
    rows = [Segment(0, rate), Segment(int(from_s * S_PS), rate, all_nodes_share, hot_nodes)]
    return (*rows, Segment(int(duration_s * S_PS), 0.0))


def _targets(low: float, high: float, count: int, pattern: int) -> np.ndarray:
    """Targets up to twice the low load, and three peaks of 60% of the high load and more, none beside another."""
    generator = np.random.Generator(np.random.PCG64(pattern))
    targets = generator.uniform(low, 2 * low, count)
    apart = [i for i in range(1, count - 1) if i % 2 == 1]
    if len(apart) < 3:
        return targets
    peaks = generator.choice(apart, 3, replace=False)
    targets[peaks] = generator.uniform(0.6 * high, high, 3)
    targets[peaks[0]] = high
    return targets


def _steps(load, duration_s: float) -> tuple[Segment, ...]:
    middles = np.arange(int(duration_s)) + 0.5
    rows = [Segment(int((t - 0.5) * S_PS), float(load(t))) for t in middles]
    return (*rows, Segment(int(duration_s * S_PS), 0.0))
