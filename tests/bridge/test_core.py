"""Runs in lockstep share a core, one each, and give it back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from causeway.bridge import core
from causeway.bridge.core import SWITCH, SharedCore

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs two cores to choose from"
)


@pytest.fixture(autouse=True)
def nobody_else_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other runs on this machine may hold all of its cores just now."""
    monkeypatch.setattr(core, "CLAIM", f"causeway-test-{os.getpid()}")


def test_a_run_has_one_core_and_gives_it_back() -> None:
    before = os.sched_getaffinity(0)
    shared = SharedCore()
    try:
        assert os.sched_getaffinity(0) == {shared.core}
        child = subprocess.check_output([sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], text=True)
        assert child.strip() == str({shared.core}), "what it starts is there, too"
    finally:
        shared.release()
        shared.release()
    assert os.sched_getaffinity(0) == before


def test_runs_side_by_side_never_have_the_same_core() -> None:
    before = os.sched_getaffinity(0)
    claimed: list[SharedCore] = []
    try:
        for _ in range(len(before) + 1):
            claimed.append(SharedCore())
            os.sched_setaffinity(0, before)  # as another process would be
        cores = [shared.core for shared in claimed if shared.core is not None]
        assert cores
        assert len(cores) == len(set(cores)), "whoever finds none free is not bound at all"
        assert claimed[-1].core is None
    finally:
        for shared in claimed:
            shared.release()


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert SharedCore().core is None
