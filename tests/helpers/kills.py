"""Kills at every step: functions that count their calls, and one of which never ends; waiting for what follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class Steps:
    """The calls of everything that is `counted`; the one with number `killed` is a kill."""

    def __init__(self, killed: int) -> None:
        self.killed, self.done = killed, 0

    def counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **kwargs: Any) -> Any:
            self.done += 1
            if self.done == self.killed:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        return act


def wait_for(condition: Callable[[], object], within_s: float = 60.0) -> bool:
    """Return whether the condition came to hold in time."""
    end = time.monotonic() + within_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())
