"""Every scalar that runs have whatever the study has a meaning in words."""

from __future__ import annotations

from pathlib import Path

from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.scalar_meanings import MEANINGS
from causeway.studies.runner import Job, run_job

TOY = Path(__file__).parents[1] / "helpers" / "toy_study.py"
CHATTER = Path(__file__).parents[2] / "examples" / "chatter.py"


def test_every_scalar_of_checker_nodes_and_programs_has_a_meaning() -> None:
    found = set(CausalityChecker(3).scalars()) | set(run_job(Job(str(TOY), {"messages": 3}, 1, "inline")).scalars)
    found |= set(run_job(Job(str(CHATTER), {"nodes": 2, "duration_s": 1}, 1, "inline")).scalars)
    assert found == set(MEANINGS)
