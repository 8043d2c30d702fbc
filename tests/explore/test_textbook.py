"""Textbook protocols: every schedule of the right version holds, and the classic mistakes are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.explore import exhaustive, schedules
from causeway.studies.trial import Trial

FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "textbook").glob("*.py"))
VERSIONS = [(file, version) for file in FILES for version in Trial(str(file)).study.versions]


def trial_of(file: Path, version: str, **budget: int) -> Trial:
    return Trial(str(file), {"version": version}, budget=budget)


@pytest.mark.parametrize(("file", "version"), VERSIONS, ids=lambda value: getattr(value, "stem", value))
def test_exhaustive_search_gives_the_verdict_in_the_protocols_file(file: Path, version: str) -> None:
    trial = trial_of(file, version)
    rules, expected = trial.rules(), trial.study.verdicts.get(version)
    reduce = not (rules.always or trial.full_budget().forever)
    covered = exhaustive.search_exhaustively(
        trial.make, rules, 10**6, 100.0, reduce=reduce, symmetric=trial.checks.symmetric
    )  # fmt: skip
    if expected is None:
        assert (covered.broken, covered.complete) == (None, True)
    else:
        assert covered.broken is not None and covered.broken.startswith(expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "version"), [(f, v) for f, v in VERSIONS if v != "right"], ids=lambda value: getattr(value, "stem", value)
)
def test_random_schedules_catch_the_wrong_version_and_shrink_it(file: Path, version: str) -> None:
    trial = trial_of(file, version)
    found = schedules.search(trial.make, trial.rules(), 3000, 60.0, 1)
    assert found.broken is not None and found.broken.startswith(trial.study.verdicts[version])
    assert len(found.plan) <= 12


def test_every_example_names_its_verdicts() -> None:
    assert len(FILES) >= 8
    for file in FILES:
        study = Trial(str(file)).study
        assert set(study.verdicts) == set(study.versions) - {"right"}
        assert "Verdict: " in file.read_text()


def test_a_coordinator_that_fails_blocks_two_phase_commit() -> None:
    (file,) = (f for f in FILES if f.stem == "two_phase_commit")
    trial = trial_of(file, "right", forever=False, crashes=1, recover=False)
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 60.0)
    assert covered.broken is not None and covered.broken.startswith("blocked: ")
