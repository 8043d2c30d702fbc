"""Lines of ladc18 as printed or broken, as in its tests."""

from __future__ import annotations

from typing import Any

import pytest

from causeway.pycontrol.protocols.ladc18 import node as ladc18
from causeway.pycontrol.protocols.ladc18.node import Process
from causeway.pycontrol.protocols.vcube.tree import cluster_of, subtree


def the_subtree_of_the_source(m: pytest.MonkeyPatch) -> None:
    """Line 33 as printed."""

    def forward(self: Any, message: Any, j: int) -> None:
        height = self.height if message.src == self.i else cluster_of(self.i, message.src) - 1
        for k in subtree(self.i, height, self.correct):
            self.check_bundle((ladc18.TREE, message), k)
            self.expect_ack(message, j, k)

    m.setattr(Process, "forward", forward)


def no_window(m: pytest.MonkeyPatch) -> None:
    m.setattr(Process, "update_window", lambda self, message: None)


def no_retransmission(m: pytest.MonkeyPatch) -> None:
    def on_crash(self: Any, j: int) -> None:
        self.correct[j] = 0
        for message, entries in list(self.ack_set.items()):
            for p, q in list(entries):
                if q == j or not self.correct[message.src] or not self.correct[p]:
                    self.drop_ack(message, p, q)
                    self.check_acks(message, p)

    m.setattr(Process, "on_crash", on_crash)
