"""The readable twins of the papers' protocols pass small worlds, and the mistakes that their tests know do not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli.mutants import check_seeded
from causeway.studies.trial import Trial

WORLDS = Path(__file__).resolve().parents[2] / "worlds"


@pytest.mark.parametrize(
    ("study", "settings"),
    [("hash", {"detector": "hash", "retest": False}), ("icpp18", {}), ("ladc18", {})],
    ids=["hash", "icpp18", "ladc18"],
)
@pytest.mark.slow
def test_seeded_mistakes_are_noticed_and_the_protocol_passes(study: str, settings: dict[str, object]) -> None:
    text = io.StringIO()
    missed = check_seeded(
        Trial(study, settings), WORLDS / f"seeded_{study}.py", 300, 120.0, 1, Console(file=text, width=200)
    )
    assert not missed, text.getvalue()
