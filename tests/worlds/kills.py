"""Kills at every step: functions that count their calls, and one of which never comes to its end."""

from __future__ import annotations

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
