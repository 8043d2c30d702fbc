"""A short stretch of chaos; `make chaos` is the long one."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from causeway.bridge import engines
from tests.chaos import chaos


@pytest.mark.slow
def test_campaigns_that_are_killed_doubled_and_starved_end_as_if_nothing_had_happened() -> None:
    found = chaos.chaos(16, 1, ["inline"])
    assert sum(found.disturbed.values()) > 8, "or nothing was disturbed and this shows nothing"
    assert found.wrong == []


@pytest.mark.slow
def test_commands_of_all_kinds_that_are_killed_and_stopped_lose_and_double_nothing() -> None:
    script = "from tests.chaos import folder; print(folder.chaos(12, 1))"
    command = [sys.executable, "-c", script]  # a process of its own: it forks, and nothing may run in it
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wrong, disturbed = ast.literal_eval(done.stdout)
    assert disturbed > 8, "or nothing was disturbed and this shows nothing"
    assert wrong == []


@pytest.mark.slow
@pytest.mark.omnet
def test_so_do_campaigns_whose_simulator_is_killed() -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    found = chaos.chaos(6, 1, ["omnet"])
    assert sum(found.disturbed.values()) > 2, "or nothing was disturbed and this shows nothing"
    assert found.wrong == []
