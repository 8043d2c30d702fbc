"""Lines of ladc18 as printed or broken: what its tests know."""

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


def one_parent_acknowledged(m: pytest.MonkeyPatch) -> None:
    """Lines 67 to 69 as printed."""

    def receive_ack(self: Any, message: Any, j: int) -> None:
        for x, k in self.ack_set.get(message, ()):
            if k == j:
                self.drop_ack(message, x, k)
                self.check_acks(message, x)
                return

    m.setattr(Process, "receive_ack", receive_ack)


def forgets_early(m: pytest.MonkeyPatch) -> None:
    """Line 53 as printed: a message is forgotten when no acknowledgement for one parent is pending, though some for
    another may be; after a crash it is not there to be sent again."""
    check_acks, on_crash, check_bundle = Process.check_acks, Process.on_crash, Process.check_bundle
    handle = Process.handle_message

    def handle_message(self: Any, message: Any, j: int) -> None:
        self.__dict__.setdefault("forgotten", set()).discard(message)
        handle(self, message, j)

    def forgetting(self: Any, message: Any, k: int) -> None:
        if not any(x == k for x, _ in self.ack_set.get(message, ())):
            self.__dict__.setdefault("forgotten", set()).add(message)
        check_acks(self, message, k)

    def crash(self: Any, j: int) -> None:
        self.in_crash = True
        on_crash(self, j)
        self.in_crash = False

    def bundle(self: Any, item: Any, k: int) -> None:
        kind, message = item
        if not (getattr(self, "in_crash", False) and kind == ladc18.TREE and message in getattr(self, "forgotten", ())):
            check_bundle(self, item, k)

    for name, broken in (
        ("handle_message", handle_message), ("check_acks", forgetting), ("on_crash", crash), ("check_bundle", bundle),
    ):  # fmt: skip
        m.setattr(Process, name, broken)
