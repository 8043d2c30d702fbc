"""Runs in lockstep share a core, one each; where there are two, each side has one; and all are given back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from causeway.bridge import core
from causeway.bridge.core import SWITCH, Cores

count = core.others_running

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs two cores to choose from"
)


@pytest.fixture(autouse=True)
def nobody_else_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other runs on this machine may hold all of its cores just now, and other processes keep them busy."""
    monkeypatch.setattr(core, "CLAIM", f"causeway-test-{os.getpid()}")
    monkeypatch.setattr(core, "others_running", lambda: 0)


def cores_of_a_child() -> str:
    return subprocess.check_output([sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], text=True)


def test_in_lockstep_a_run_has_one_core_and_gives_it_back() -> None:
    before = os.sched_getaffinity(0)
    cores = Cores(ahead=False)
    try:
        cores.simulator_begins()
        assert cores_of_a_child().strip() == str({cores.simulator}), "what it starts is there, too"
        cores.simulator_began()
        assert os.sched_getaffinity(0) == {cores.controller} == {cores.simulator}
        assert not cores.are_two and not cores.ahead
    finally:
        cores.release()
        cores.release()
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize("ahead", [True, None])
def test_where_there_are_two_simulator_and_controller_have_one_each(ahead: bool | None) -> None:
    before = os.sched_getaffinity(0)
    cores = Cores(ahead)
    try:
        cores.simulator_begins()
        assert cores_of_a_child().strip() == str({cores.simulator})
        cores.simulator_began()
        assert os.sched_getaffinity(0) == {cores.controller} != {cores.simulator}
        assert cores.are_two and cores.ahead
    finally:
        cores.release()
    assert os.sched_getaffinity(0) == before


def test_a_run_of_a_campaign_has_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    cores = Cores()
    cores.release()
    assert cores.simulator is not None and not cores.are_two and not cores.ahead


def test_where_others_compute_a_run_has_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "others_running", lambda: len(os.sched_getaffinity(0)) - 1)
    cores = Cores()
    cores.release()
    assert cores.simulator is not None and not cores.are_two and not cores.ahead


def test_who_computes_is_counted() -> None:
    busy = "import time\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", busy]) as one, subprocess.Popen([sys.executable, "-c", busy]) as other:
        try:
            assert count() >= 1
        finally:
            one.kill()
            other.kill()


def test_simulators_side_by_side_never_have_the_same_core() -> None:
    before = os.sched_getaffinity(0)
    claimed: list[Cores] = []
    try:
        for ahead in (True, None, *[False] * len(before)):
            claimed.append(Cores(ahead))
            os.sched_setaffinity(0, before)  # as another process would be
        found = [cores.simulator for cores in claimed if cores.simulator is not None]
        assert len(found) == len(set(found)) == len(before), "whoever finds none free is not bound at all"
        assert claimed[-1].simulator is None
    finally:
        for cores in claimed:
            cores.release()


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    cores = Cores()
    assert cores.simulator is None and not cores.ahead
