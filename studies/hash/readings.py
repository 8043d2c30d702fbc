"""Other readings of three phrases of the paper hash: "every 2 seconds", "a Poisson distribution" and "errors".

`staggered`, `entries_of` and `DirectErrors` follow the program that the authors published
(github:Wilhelm2/ErrorDetectors, read 2026).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.network.workload import Script
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, Observer
from causeway.toolchain.jit import njit

JITTER_MS = 10.0
"""The standard deviation of a broadcast around its slot in the authors' program."""
MOST_ENTRIES = 4
"""The maximum number of entries of a process in the authors' program."""
IN_FLIGHT = 1 << 12
"""The number of messages that may be in flight at a time if errors are counted as in the authors' program; a power of
two."""
ALL, UNDETECTED = range(2)


def entries_of(clock_size: int, rate: float, delay_mean_ms: float) -> int:
    """Return k of the authors' program: min(4, ceil(ln 2 * M / X)), with X messages in flight at a time."""
    return min(MOST_ENTRIES, math.ceil(math.log(2) * clock_size / (rate * delay_mean_ms / 1000)))


def reach_of(rate: float) -> float:
    """Return the number of recent messages that the authors' program searches: 0.15 s of the load, and ten more."""
    return 0.15 * rate + 10


def staggered(processes: int, rate: float, messages: int, size_bytes: int, seed: int) -> Script:
    """Return a script in which every process broadcasts once in processes / rate seconds.

    The slots are evenly spaced, and each broadcast deviates from its slot by N(0, 10 ms). The broadcasts of a process
    keep their order.
    """
    random = np.random.default_rng(seed)
    period_ms = processes * 1000 / rate
    rounds = math.ceil(messages / processes) + math.ceil(10 * JITTER_MS / period_ms) + 1
    slot_ms = np.arange(processes)[:, None] * (period_ms / processes) + np.arange(rounds)[None, :] * period_ms
    time_ms = np.maximum(slot_ms + random.normal(0, JITTER_MS, slot_ms.shape), 0)
    return _script(np.maximum.accumulate(time_ms, axis=1), messages, size_bytes)


def steady(processes: int, rate: float, messages: int, size_bytes: int, seed: int) -> Script:
    """Return a script in which the intervals of a process are Poisson-distributed numbers of milliseconds.

    Such intervals are nearly constant.
    """
    random = np.random.default_rng(seed)
    interval_ms = processes * 1000 / rate
    each = int(1.5 * messages / processes) + 20
    first_ms = random.uniform(0, interval_ms, (processes, 1))
    time_ms = np.hstack([first_ms, first_ms + np.cumsum(random.poisson(interval_ms, (processes, each)), axis=1)])
    return _script(time_ms, messages, size_bytes)


def _script(time_ms: NDArray[np.float64], messages: int, size_bytes: int) -> Script:
    """Return the first `messages` broadcasts of all processes. Each process has a row of times."""
    order = np.argsort(time_ms, axis=None, kind="stable")[:messages]
    node = (order // time_ms.shape[1]).astype(np.int32)
    time_ps = (time_ms.ravel()[order] * 1e6).astype(np.int64) * 1000
    return Script(time_ps, node, np.full(messages, size_bytes, np.int32))


class DirectErrors(Observer):
    """Counts wrong deliveries as the authors' program does: by comparison with the deliveries of the sender.

    It keeps, for each process, the newest delivered message of every other process. A delivery is wrong if the sender
    had delivered a newer one when it sent. The causality checker is stricter, since it includes messages that the
    sender itself had missed.
    """

    def __init__(self, nodes: int) -> None:
        self._delivered = np.zeros((nodes, nodes), np.int32)
        self._needs, self._sender = np.zeros((IN_FLIGHT, nodes), np.int32), np.zeros(IN_FLIGHT, np.int32)
        self._counts = np.zeros(2, np.int64)

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        """Count the wrong deliveries among rows of observations."""
        _count_direct(op, node, message, self._delivered, self._needs, self._sender, self._counts)

    def scalars(self) -> Mapping[str, float]:
        """Return the number of wrong deliveries, and of those among them that no detector reported."""
        return {
            "direct_violations": float(self._counts[ALL]),
            "direct_violations_undetected": float(self._counts[UNDETECTED]),
        }


@njit()
def _count_direct(op, node, message, delivered, needs, sender, counts):
    for i in range(len(op)):
        p, slot = node[i], message[i] & (IN_FLIGHT - 1)
        if op[i] == BROADCAST:
            sender[slot] = p
            needs[slot] = delivered[p]  # without the message itself
            delivered[p, p] += 1
        elif op[i] == DELIVER:
            q = sender[slot]
            lacking = False
            for x in range(delivered.shape[1]):
                lacking |= needs[slot, x] > delivered[p, x]
            delivered[p, q] = max(delivered[p, q], needs[slot, q] + 1)
            counts[ALL] += lacking
            counts[UNDETECTED] += lacking and not (i > 0 and op[i - 1] == FLAGGED and node[i - 1] == p)
