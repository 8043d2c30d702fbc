"""A short stretch of chaos; `make chaos` is the long one."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from causeway.bridge import engines


def in_a_process(script: str) -> tuple[list[str], int]:
    """Return (what was wrong, how often something was disturbed), found in a process of its own.

    Chaos forks, and delta-rs does not work in a child of a process that has used it.
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wrong, disturbed = ast.literal_eval(done.stdout.strip().splitlines()[-1])
    return wrong, disturbed


def chaos(rounds: int, engine: str) -> tuple[list[str], int]:
    """Run chaos on one engine."""
    return in_a_process(
        f"from tests.chaos import chaos; found = chaos.chaos({rounds}, 1, [{engine!r}]); "
        "print((found.wrong, sum(found.disturbed.values())))"
    )


@pytest.mark.parametrize("rounds", [0, -1])
@pytest.mark.parametrize("kind", ["chaos", "folder"])
def test_chaos_without_rounds_fails(kind: str, rounds: int) -> None:
    command = [sys.executable, "-m", f"tests.chaos.{kind}", "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and f"{rounds} rounds" in done.stderr and "show nothing" in done.stderr


@pytest.mark.slow
def test_campaigns_that_are_killed_duplicated_and_out_of_disk_space_end_with_the_same_tables() -> None:
    wrong, disturbed = chaos(16, "inline")
    assert disturbed > 8, "or nothing was disturbed and this shows nothing"
    assert wrong == []


@pytest.mark.slow
def test_commands_of_all_kinds_that_are_killed_and_stopped_lose_and_duplicate_nothing() -> None:
    wrong, disturbed = in_a_process(
        "from tests.chaos import folder; wrong, some = folder.chaos(12, 1); "
        "print((wrong, some['killed'] + some['stopped']))"
    )
    assert disturbed > 8, "or nothing was disturbed and this shows nothing"
    assert wrong == []


@pytest.mark.slow
@pytest.mark.omnet
def test_campaigns_whose_simulator_is_killed_end_with_the_same_tables() -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    wrong, disturbed = chaos(6, "omnet")
    assert disturbed > 2, "or nothing was disturbed and this shows nothing"
    assert wrong == []
