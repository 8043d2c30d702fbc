"""Line 53 of ladc18 as printed: eight processes, three of which crash, show it."""

from __future__ import annotations

from typing import Any

import pytest

from causeway.pycontrol.protocols.ladc18 import node as ladc18
from causeway.pycontrol.protocols.ladc18.node import Process


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
