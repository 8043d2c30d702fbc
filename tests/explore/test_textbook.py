"""Textbook protocols: every schedule of the right version holds, and the classic mistakes are found."""

from __future__ import annotations

import warnings
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

import causeway as cw
from causeway.explore import exhaustive, schedules
from causeway.studies.trial import Trial

FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "textbook").glob("*.py"))
DRAWING = ("plumtree", "raft", "swim")
"""The protocols that draw random numbers, of which no search is exhaustive."""
ALL_VERSIONS = [(file, version) for file in FILES for version in Trial(str(file)).study.versions]
VERSIONS = [(file, version) for file, version in ALL_VERSIONS if file.stem not in DRAWING]


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


@pytest.mark.parametrize(
    ("file", "version"), [one for one in ALL_VERSIONS if one not in VERSIONS],
    ids=lambda value: getattr(value, "stem", value),
)  # fmt: skip
def test_random_schedules_give_the_verdict_of_a_protocol_that_draws_random_numbers(file: Path, version: str) -> None:
    trial = trial_of(file, version)
    expected = trial.study.verdicts.get(version)
    found = schedules.search(trial.make, trial.rules(), 60 if expected is None else 1000, 200.0, 1, shrink=False)
    if expected is None:
        assert (found.broken, found.tried) == (None, 60)
    else:
        assert found.broken is not None and found.broken.startswith(expected)


@pytest.mark.parametrize("name", DRAWING)
def test_a_larger_textbook_protocol_is_short_and_runs(name: str, tmp_path: Path) -> None:
    (file,) = (f for f in FILES if f.stem == name)
    assert len(file.read_text().splitlines()) < 150
    with warnings.catch_warnings(action="error", category=DeprecationWarning):
        run = cw.run(str(file), params={"nodes": 5})
    assert run.scalars["missing"] == run.scalars["duplicates"] == 0 < run.scalars["packets"]


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
    assert len(FILES) >= 11
    for file in FILES:
        study = Trial(str(file)).study
        assert set(study.verdicts) == set(study.versions) - {"right"}
        assert "Verdict: " in file.read_text()


def test_a_coordinator_that_fails_blocks_two_phase_commit() -> None:
    (file,) = (f for f in FILES if f.stem == "two_phase_commit")
    trial = trial_of(file, "right", forever=False, crashes=1, recover=False)
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 60.0)
    assert covered.broken is not None and covered.broken.startswith("blocked: ")


@pytest.mark.parametrize(
    ("broken", "led", "logs", "commits"),
    [
        (None, ({1}, {2}), (("a1", "b2"), ("a1",)), (1, 1)),
        ("election safety: nodes 0 and 1 lead term 2", ({2}, {1, 2}), (("a1",), ("a1",)), (1, 1)),
        ("log matching: entry 1 of nodes 0 and 1", ({1}, {2}), (("a1", "c2"), ("b1", "c2")), (0, 0)),
        ("committed entries: node 1 leads without those of node 0", ({1}, {2}), (("a1", "b1"), ("a1",)), (2, 1)),
    ],
)
def test_each_safety_property_of_raft_can_fail(
    broken: str | None, led: tuple[set[int], ...], logs: tuple[tuple[str, ...], ...], commits: tuple[int, ...]
) -> None:
    """A log here is a message and a term for each entry; node 1 leads."""
    (file,) = (f for f in FILES if f.stem == "raft")
    (safe,) = Trial(str(file)).checks.always.values()
    entry = namedtuple("entry", "message term")
    nodes = [
        SimpleNamespace(
            id=i, term=2, leader=1, led=led[i], commit=commits[i], entries=tuple(entry(*text) for text in logs[i])
        )
        for i in range(2)
    ]
    found = safe(SimpleNamespace(nodes=nodes))
    assert found == broken if broken is None else str(found).startswith(broken)
