"""Lines 67 to 69 of ladc18 as printed: 16 processes, four of which crash, show it."""

from __future__ import annotations

from typing import Any

import pytest

from causeway.pycontrol.protocols.ladc18.node import Process


def one_parent_acknowledged(m: pytest.MonkeyPatch) -> None:
    """Lines 67 to 69 as printed."""

    def receive_ack(self: Any, message: Any, j: int) -> None:
        for x, k in self.ack_set.get(message, ()):
            if k == j:
                self.drop_ack(message, x, k)
                self.check_acks(message, x)
                return

    m.setattr(Process, "receive_ack", receive_ack)
