"""The key-value example: right in every order, and both mistakes are caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.explore import exhaustive, schedules
from causeway.studies.trial import Trial

KEYVALUE = str(Path(__file__).resolve().parents[2] / "examples" / "keyvalue.py")


@pytest.mark.parametrize("budget", [{"calls": 2}, {"calls": 2, "losses": 1}], ids=str)
def test_the_store_is_linearizable_in_every_schedule(budget: dict[str, int]) -> None:
    trial = Trial(KEYVALUE, budget=budget, clocks="late")
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 200.0)
    assert (covered.complete, covered.broken) == (True, None) and covered.ends > 1


@pytest.mark.parametrize(("version", "losses"), [("stale", 0), ("forgetful", 1)])
def test_a_classic_mistake_is_caught(version: str, losses: int) -> None:
    trial = Trial(KEYVALUE, {"version": version}, budget={"losses": losses})
    found = schedules.search(trial.make, trial.rules(), 3000, 100.0, 1, shrink=False)
    assert str(found.broken).startswith(trial.study.verdicts[version])


def test_every_schedule_catches_the_stale_read() -> None:
    trial = Trial(KEYVALUE, {"version": "stale"}, budget={"calls": 2}, clocks="late")
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 100.0)
    assert str(covered.broken).startswith("linearizability") and len(covered.plan) <= 4
