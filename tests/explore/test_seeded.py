"""The reference implementations of the papers' protocols pass in models, and their seeded mistakes do not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli.mutants import check_seeded, patches_of
from causeway.explore import schedules
from causeway.explore.mutants import Patch
from causeway.studies.trial import Trial

WORLDS = Path(__file__).resolve().parents[1] / "helpers"


@pytest.mark.parametrize(
    ("study", "settings"),
    [("hash", {"detector": "hash", "retest": False}), ("icpp18", {}), ("ladc18", {})],
    ids=["hash", "icpp18", "ladc18"],
)
@pytest.mark.slow
def test_seeded_mistakes_are_detected_and_the_protocol_passes(study: str, settings: dict[str, object]) -> None:
    text = io.StringIO()
    missed = check_seeded(
        Trial(study, settings), WORLDS / f"seeded_{study}.py", 300, 120.0, 1, Console(file=text, width=200)
    )
    assert not missed, text.getvalue()


@pytest.mark.parametrize(
    ("file", "processes", "budget"),
    [
        ("seeded_ladc18_forgetting.py", 8, {"crashes": 3}),
        ("seeded_ladc18_parents.py", 16, {"crashes": 4, "broadcasts": 1}),
    ],
)
@pytest.mark.slow
def test_lines_of_ladc18_that_fail_with_more_processes_are_detected(
    file: str, processes: int, budget: dict[str, int]
) -> None:
    trial = Trial("ladc18", {"processes": processes}, budget=budget)
    for name, plant in patches_of(WORLDS / file):
        patch = Patch([])
        try:
            plant(patch)
            found = schedules.search(trial.make, trial.rules(), 100_000, 300.0, 1, shrink=False)
        finally:
            patch.undo()
        assert found.broken is not None and found.broken.startswith("acknowledged: "), name
