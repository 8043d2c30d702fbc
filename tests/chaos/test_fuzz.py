"""A short stretch of damaged windows and recordings; `python -m tests.chaos.fuzz` is the long one."""

from __future__ import annotations

from collections import Counter

import pytest

from causeway.bridge.validation_frames import FrameValidator
from tests.chaos import fuzz


@pytest.mark.slow
def test_damaged_windows_are_refused_with_a_message_or_do_no_harm() -> None:
    said, wrong = fuzz.fuzz("windows", 10_000, 1)
    assert wrong == []
    assert said["refused"] > 1000 and said["windows"] - said["refused"] > 1000


@pytest.mark.slow
def test_damaged_recordings_are_refused_with_a_message_or_replayed() -> None:
    said, wrong = fuzz.fuzz("recordings", 300, 1)
    assert wrong == []
    assert said["refused"] > 100 and said["replayed"] > 20


@pytest.mark.slow
def test_without_validation_damaged_windows_would_do_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FrameValidator, "check_window", lambda self, window: None)
    monkeypatch.setattr(fuzz, "BELIEVED", 1.0)
    monkeypatch.setattr(fuzz, "BATCH_S", 20.0)  # a loop without end is harm enough
    _, wrong = fuzz.fuzz("windows", 10_000, 1, most_wrong=1)
    assert wrong


def test_the_counts_and_the_exit_of_a_child_are_reported() -> None:
    assert fuzz.in_child(lambda: Counter(a=2)) == (Counter(a=2), "")
    assert "ZeroDivisionError" in fuzz.in_child(lambda: Counter(a=1 // 0))[1]
    assert "status -11" in fuzz.in_child(lambda: fuzz.os.kill(fuzz.os.getpid(), 11))[1]  # type: ignore[arg-type, return-value]
