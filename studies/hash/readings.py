"""Other readings of what the paper hash says: of "out of causal order", and of "a Poisson distribution"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from causeway.bridge.workload import Script
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, Observer

MS_PS = 10**9
DELIVERIES, MESSAGES, MESSAGES_UNDETECTED = range(3)


class SenderOrder(Observer):
    """Counts deliveries of a message before an earlier one of the same sender: the errors that sequence numbers show.

    For every pair of processes it keeps how many messages of the one the other has delivered.
    """

    def __init__(self, nodes: int, messages: int) -> None:
        self._broadcasts = np.zeros(nodes, np.int64)
        self._delivered = np.zeros((nodes, nodes), np.int32)
        self._sender, self._seq = np.zeros(messages, np.int32), np.zeros(messages, np.int32)
        self._wrong = np.zeros(messages, np.uint8)
        self._counts = np.zeros(3, np.int64)

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        _observe(
            op, node, message, self._broadcasts, self._delivered, self._sender, self._seq, self._wrong, self._counts
        )

    def scalars(self) -> Mapping[str, float]:
        return {
            "violations_of_sender_order": float(self._counts[DELIVERIES]),
            "messages_out_of_sender_order": float(self._counts[MESSAGES]),
            "messages_out_of_sender_order_undetected": float(self._counts[MESSAGES_UNDETECTED]),
        }


@numba.njit(cache=True)
def _observe(op, node, message, broadcasts, delivered, sender, seq, wrong, counts):
    for i in range(len(op)):
        p, m = node[i], message[i]
        if op[i] == BROADCAST:
            sender[m], seq[m] = p, broadcasts[p]
            broadcasts[p] += 1
        elif op[i] == DELIVER:
            if seq[m] > delivered[p, sender[m]]:
                flagged = i > 0 and op[i - 1] == FLAGGED and node[i - 1] == p and message[i - 1] == m
                counts[DELIVERIES] += 1
                counts[MESSAGES] += wrong[m] == 0
                counts[MESSAGES_UNDETECTED] += wrong[m] < 2 and not flagged
                wrong[m] = max(wrong[m], 1 if flagged else 2)
            delivered[p, sender[m]] += 1


def steady(processes: int, rate: float, messages: int, size_bytes: int, seed: int) -> Script:
    """Every process broadcasts at intervals of a Poisson-distributed number of milliseconds: nearly constant ones."""
    random = np.random.default_rng(seed)
    interval_ms = processes * 1000 / rate
    each = int(1.5 * messages / processes) + 20
    first_ms = random.uniform(0, interval_ms, (processes, 1))
    time_ms = np.hstack([first_ms, first_ms + np.cumsum(random.poisson(interval_ms, (processes, each)), axis=1)])
    order = np.argsort(time_ms, axis=None, kind="stable")[:messages]
    node = (order // (each + 1)).astype(np.int32)
    time_ps = (time_ms.ravel()[order] * 1e6).astype(np.int64) * 1000
    return Script(time_ps, node, np.full(messages, size_bytes, np.int32))
