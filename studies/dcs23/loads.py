"""The message loads of dcs23, as segments of constant load.

The paper's Figures 6 and 8 and its text give three: a bell from 10 to 200 messages per second; random targets, one
every 20 s, with three peaks; and 100 messages per second, of which the processes of component C_0 send 25 % and, after
50 s, 75 %. `bells`, `triangles` and `peaks` are loads of the authors' published program (github:Wilhelm2/DCSClocks,
read 2026), in which senders take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from causeway.network.workload import Script, Segment

S_PS = 10**12
TARGET_EVERY_S = 20


def constant(rate: float) -> tuple[Segment, ...]:
    """Return a constant load without end."""
    return (Segment(0, rate),)


def bell(low: float, high: float, duration_s: float) -> tuple[Segment, ...]:
    """Return a Gaussian curve over plus and minus three standard deviations, in steps of a second."""
    return _steps(lambda t: low + (high - low) * np.exp(-18 * (t / duration_s - 0.5) ** 2), duration_s)


def random(low: float, high: float, duration_s: float, pattern: int) -> tuple[Segment, ...]:
    """Return a load that changes linearly to a new random target every 20 s.

    The targets are low, except for three peaks, which are not adjacent.
    """
    targets = _targets(low, high, int(np.ceil(duration_s / TARGET_EVERY_S)) + 1, pattern)
    times = np.arange(len(targets)) * TARGET_EVERY_S
    return _steps(lambda t: np.interp(t, times, targets), duration_s)


BELLS_S = ((0, 350, 175, 40), (350, 600, 475, 30), (600, 750, 675, 20), (750, 850, 800, 15))
"""Begin, end, middle and standard deviation of each bell."""
TRIANGLES_S = (100, 85, 70, 55)
"""Length of each triangle; the load ends at 300 s, within the fourth."""
PEAKS_AT_S = (60, 70, 140, 150, 220, 230)
"""Times at which the target is a peak; the load reaches it 10 s later."""


def bells(low: float, high: float, duration_s: float) -> tuple[Segment, ...]:
    """Return four bells, each narrower than the previous one.

    The authors' program has 850 s and a lowest load of 0.
    """
    starts = [start for start, *_ in BELLS_S]

    def load(t: NDArray[np.float64]) -> NDArray[np.float64]:
        at = t / duration_s * 850
        _, _, middle, sd = BELLS_S[np.searchsorted(starts, at, side="right") - 1]
        return low + (high - low) * np.exp(-0.5 * ((at - middle) / sd) ** 2)

    return _steps(load, duration_s)


def triangles(low: float, high: float, duration_s: float) -> tuple[Segment, ...]:
    """Return linear rises and falls, each triangle shorter than the previous one.

    The authors' program has 300 s, from 20 to 220 messages per second.
    """
    corners = np.concatenate([[0], np.cumsum([half for a in TRIANGLES_S for half in (a / 2, a / 2)])])
    loads = np.where(np.arange(len(corners)) % 2, high, low)
    return _steps(lambda t: np.interp(t / duration_s * 300, corners, loads), duration_s)


def peaks(high: float, duration_s: float, pattern: int) -> tuple[Segment, ...]:
    """Return a load that changes linearly to a new random target every 10 s.

    Targets are up to 15 % of the high load, with three peaks of 50 % to 100 %, and up to 25 % at the end. The authors'
    program has 300 s and a high load of 200.
    """
    generator = np.random.Generator(np.random.PCG64(pattern))
    set_at = np.arange(0, 300, 10)
    low = generator.uniform(0, np.where(set_at < 240, 0.15, 0.25) * high)
    targets = np.where(np.isin(set_at, PEAKS_AT_S), generator.uniform(0.5 * high, high, len(set_at)), low)
    times, loads = np.concatenate([[0], set_at + 10]), np.concatenate([[0.1 * high], targets])
    return _steps(lambda t: np.interp(t / duration_s * 300, times, loads), duration_s)


def plateaus(duration_s: float, pattern: int) -> tuple[Segment, ...]:
    """Return a load of 10 to 30, drawn every second, with four plateaus of 150 to 200 for 50 s each.

    The authors' program (createLoadRandom.py) has 850 s. Each plateau comes after 150 s; the last 50 s have up to 50.
    """
    stretches = [*((150, 10, 30), (50, 150, 200)) * 4, (50, 10, 50)]
    return _drawn(stretches, duration_s, pattern)


def climbs(duration_s: float, pattern: int) -> tuple[Segment, ...]:
    """Return the same as `plateaus` with three plateaus, each after a rise of 10 s (createRandomLoad2.py)."""
    climb = [(1, rate, rate) for rate in (40, 50, 62, 75, 87, 100, 113, 125, 138, 150)]
    return _drawn([*((190, 10, 30), *climb, (50, 150, 200)) * 3, (100, 10, 30)], duration_s, pattern)


def _drawn(stretches: Sequence[tuple[int, int, int]], duration_s: float, pattern: int) -> tuple[Segment, ...]:
    """Draw a load for each of 850 s from (seconds, lowest, highest), and stretch it to a duration."""
    generator = np.random.Generator(np.random.PCG64(pattern))
    drawn = np.concatenate([generator.integers(low, high + 1, seconds) for seconds, low, high in stretches])
    return _steps(lambda t: drawn[min(len(drawn) - 1, int(t / duration_s * len(drawn)))], duration_s)


def in_turn(segments: tuple[Segment, ...], nodes: int, messages: int) -> Script:
    """Return a script in which processes broadcast one after the other.

    A message is sent each time the integral of the load has grown by one.

    Args:
        segments: The load over time.
        nodes: The number of processes.
        messages: The maximum number of messages; 0: as many as the load contains.
    """
    ends = [float(s.start_ps) for s in segments[1:]] or [messages / segments[0].rate_per_s * S_PS]
    ends_s = np.array(ends) / S_PS
    starts_s = np.concatenate([[0.0], ends_s])
    sent = np.concatenate([[0.0], np.cumsum(np.diff(starts_s) * [s.rate_per_s for s in segments[: len(ends_s)]])])
    count = int(sent[-1] + 1e-9)
    count = min(messages, count) if messages else count
    time_s = np.interp(np.arange(1, count + 1), sent, starts_s)
    node = (np.arange(count) % nodes).astype(np.int32)
    return Script((time_s * 1e9).astype(np.int64) * 1000, node, np.zeros(count, np.int32))


def skewed(rate: float, duration_s: float, from_s: float, hot_nodes: int, hot_share: float) -> tuple[Segment, ...]:
    """Return a constant load, of which the first processes send the share `hot_share` from `from_s` on."""
    all_nodes_share = (hot_share - 0.25) / 0.75  # all processes send the rest, and a quarter of them is hot
    rows = [Segment(0, rate), Segment(int(from_s * S_PS), rate, all_nodes_share, hot_nodes)]
    return (*rows, Segment(int(duration_s * S_PS), 0.0))


def _targets(low: float, high: float, count: int, pattern: int) -> np.ndarray:
    """Draw targets up to twice the low load, and three peaks from 60 % of the high load. Peaks are not adjacent."""
    generator = np.random.Generator(np.random.PCG64(pattern))
    targets = generator.uniform(low, 2 * low, count)
    apart = [i for i in range(1, count - 1) if i % 2 == 1]
    if len(apart) < 3:
        return targets
    peaks = generator.choice(apart, 3, replace=False)
    targets[peaks] = generator.uniform(0.6 * high, high, 3)
    targets[peaks[0]] = high
    return targets


def _steps(load: Callable[[NDArray[np.float64]], NDArray[np.float64]], duration_s: float) -> tuple[Segment, ...]:
    middles = np.arange(int(duration_s)) + 0.5
    rows = [Segment(int((t - 0.5) * S_PS), float(load(t))) for t in middles]
    return (*rows, Segment(int(duration_s * S_PS), 0.0))
