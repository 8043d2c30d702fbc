"""Checks best-effort broadcast: validity, no duplication, no creation, and delivery to all correct processes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pycontrol.protocol import BROADCAST, DELIVER, LEFT, Observer


class BestEffortAudit(Observer):
    """Sees broadcasts, deliveries and crashes only; judges at the end of the run."""

    def __init__(self, processes: int) -> None:
        self.source: list[int] = []
        self.delivered = np.zeros((processes, 64), bool)
        self.correct = np.ones(processes, bool)
        self.duplicates = self.created = self.deliveries = 0

    def observe(
        self, op: NDArray[np.uint8], time_ps: NDArray[np.int64], node: NDArray[np.int32], message: NDArray[np.int64]
    ) -> None:
        for what, i, m in zip(op.tolist(), node.tolist(), message.tolist(), strict=True):
            if what == BROADCAST:
                self.source.append(i)
                if m >= self.delivered.shape[1]:
                    self.delivered = np.hstack([self.delivered, np.zeros_like(self.delivered)])
            elif what == DELIVER:
                self.deliveries += 1
                self.created += m >= len(self.source)
                self.duplicates += bool(self.delivered[i, m])
                self.delivered[i, m] = True
            elif what == LEFT:
                self.correct[i] = False

    def scalars(self) -> Mapping[str, float]:
        owed = self.correct[np.array(self.source, int)]
        got = self.delivered[self.correct, : len(self.source)][:, owed]
        undelivered = int(got.size - got.sum())
        return {
            "messages": len(self.source),
            "deliveries": self.deliveries,
            "duplicates": self.duplicates,
            "undelivered": undelivered,
            "violations": self.duplicates + self.created + undelivered,
        }
