"""Kills at every step of an action, and a wait for a condition."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from causeway.analysis import delta


def killed_in_commit(monkeypatch: pytest.MonkeyPatch, step: int, action: Callable[[], object]) -> bool:
    """Run an action that is killed at its `step`-th rename, commit or flush; return False if it ends before."""
    done = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            done += 1
            if done == step:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        return act

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", counted(os.replace))
        patch.setattr(delta, "_try", counted(delta._try))
        patch.setattr(delta, "settle", counted(delta.settle))
        try:
            action()
        except KeyboardInterrupt:
            return True
    return False


def wait_for(condition: Callable[[], object], within_s: float = 60.0) -> bool:
    """Return whether the condition holds within this time."""
    end = time.monotonic() + within_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())
