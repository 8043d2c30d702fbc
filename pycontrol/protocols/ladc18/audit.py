"""Check best-effort broadcast: validity, no duplication, no creation, and delivery to all correct processes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocol import BROADCAST, DELIVER, LEFT, Observer


class BestEffortAudit(Observer):
    """An observer of broadcasts, deliveries and crashes. Its scalars at the end of the run count violations."""

    def __init__(self, processes: int) -> None:
        self.source = np.empty(0, np.int32)
        self.delivered = np.zeros((processes, 64), bool)
        self.correct = np.ones(processes, bool)
        self.duplicates = self.created = self.deliveries = 0

    def observe(
        self, op: NDArray[np.uint8], time_ps: NDArray[np.int64], node: NDArray[np.int32], message: NDArray[np.int64]
    ) -> None:
        """Add rows of observations."""
        broadcasts, delivers = op == BROADCAST, op == DELIVER
        i, m = node[delivers], message[delivers]
        known = len(self.source) + np.cumsum(broadcasts)[delivers]  # messages that existed at each delivery
        self.source = np.concatenate([self.source, node[broadcasts]])
        while max(len(self.source), m.max(initial=-1) + 1) > self.delivered.shape[1]:
            self.delivered = np.hstack([self.delivered, np.zeros_like(self.delivered)])
        pairs = np.unique(i * np.int64(self.delivered.shape[1]) + m)
        self.deliveries += len(m)
        self.created += int((m >= known).sum())
        self.duplicates += len(m) - len(pairs) + int(self.delivered.ravel()[pairs].sum())
        self.delivered[i, m] = True
        self.correct[node[op == LEFT]] = False

    def scalars(self) -> Mapping[str, float]:
        """Return the numbers of messages, deliveries and violations."""
        owed = self.correct[self.source]
        got = self.delivered[self.correct, : len(self.source)][:, owed]
        undelivered = int(got.size - got.sum())
        return {
            "messages": len(self.source),
            "deliveries": self.deliveries,
            "duplicates": self.duplicates,
            "undelivered": undelivered,
            "violations": self.duplicates + self.created + undelivered,
        }
