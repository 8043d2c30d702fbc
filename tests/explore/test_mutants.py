"""Mutation tests: properties detect mutants, survivors are listed, and the code is restored afterwards."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli.mutants import check_mutants, check_seeded
from causeway.errors import UserError
from causeway.explore import mutants, schedules
from causeway.studies.trial import Trial

TOP = Path(__file__).resolve().parents[2]
FIFO = str(TOP / "examples" / "textbook" / "fifo_broadcast.py")


def told_by(check, *arguments) -> tuple[bool, str]:
    text = io.StringIO()
    return check(*arguments, Console(file=text, width=200)), text.getvalue()


def all_of(trial: Trial) -> list[mutants.Mutant]:
    ran: set = set()
    with mutants.reached(ran):
        schedules.search(trial.make, trial.rules(), 60, 10.0, 1)
    return list(mutants.mutants(trial.make(), ran, set()))


def test_mutants_are_of_the_lines_that_run_and_of_no_other_version() -> None:
    found = all_of(Trial(FIFO))
    assert {one.function.__qualname__.split(".")[0] for one in found} == {"Fifo"}
    assert {"left out", "!= for =="} <= {one.what for one in found}


def test_a_mutant_is_in_place_only_for_a_while() -> None:
    trial = Trial(FIFO)
    (mutant,) = [m for m in all_of(trial) if m.what == "left out" and "self.deliver(one[2])" in line_of(m)]
    with mutants.put_in(mutant, 10.0):
        assert schedules.search(trial.make, trial.rules(), 100, 10.0, 1).broken is not None
    assert schedules.search(trial.make, trial.rules(), 100, 10.0, 1).broken is None


def line_of(mutant: mutants.Mutant) -> str:
    return mutant.file.read_text().splitlines()[mutant.line - 1]


def test_a_mutant_that_hangs_is_stopped() -> None:
    trial = Trial(FIFO)
    (mutant,) = [m for m in all_of(trial) if m.what == "left out" and "self.early -= {one}" in line_of(m)]
    with pytest.raises(mutants.MutantHangs), mutants.put_in(mutant, 0.2):
        while True:
            pass


@pytest.mark.slow
def test_the_command_names_the_survivors_with_their_lines() -> None:
    survived, reported = told_by(check_mutants, Trial(FIFO), 60, 20.0, 1)
    assert "mutants" in reported
    for line in reported.splitlines():
        assert line.startswith("survives") == ("fifo_broadcast.py:" in line)
    assert survived == ("survives" in reported)
    # what is broadcast is not looked at by anybody, so its size may be anything
    assert "101 for 100" in reported


def test_a_protocol_that_violates_a_property_has_no_mutants() -> None:
    with pytest.raises(UserError, match="violates a property without mutants"):
        check_mutants(Trial(FIFO, {"version": "hasty"}), 60, 20.0, 1, Console(quiet=True))


@pytest.mark.slow
def test_seeded_mistakes_are_planted_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "seeds.py"
    file.write_text(
        "from causeway.pycontrol.protocols.mobile import Host\n\n"
        "def the_position_is_not_saved(m: 'pytest.MonkeyPatch'):\n"
        "    m.setattr(Host, '_save_position', lambda self: None)\n\n"
        "def helper(x):\n    raise AssertionError('not a patch')\n"
    )
    missed, reported = told_by(check_seeded, Trial("mobile20"), file, 400, 120.0, 1)
    assert not missed and "the_position_is_not_saved" in reported and "helper" not in reported
    assert schedules.search(Trial("mobile20").make, Trial("mobile20").rules(), 60, 20.0, 1).broken is None
