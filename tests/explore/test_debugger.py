"""`causeway replay --pdb`: `d` stops in the user's handler, in its first line."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli.check import Search, check_study
from causeway.cli.replay import replay_example
from causeway.studies.trial import Trial
from tests.helpers import talking

TOP = Path(__file__).resolve().parents[2]
FLOOD, TALLY = str(TOP / "examples" / "flood.py"), str(TOP / "examples" / "tally.py")


Session = Callable[..., str]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Session:
    """Check, go through the counterexample by typing this, and return what is printed."""

    def run(study: str, trial: Trial, *typed: str) -> str:
        assert check_study(trial, Search(500, 60.0, 0, False, 1), tmp_path, Console(quiet=True))
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*typed, ""])))
        capsys.readouterr()
        replay_example(tmp_path / f"{Path(study).stem}.json", Console(width=300), study, True, trial.always)
        return capsys.readouterr().out

    return run


def test_it_stops_in_the_first_line_of_the_handler(session: Session) -> None:
    trial = Trial(FLOOD, {"processes": 2}, budget={"broadcasts": 2})
    text = session(FLOOD, trial, "n", "d", "p number", "c", "d", "p (message, self.heard)", "c", "q")
    assert "flood.py(23)on_broadcast()" in text and "(Pdb) 1" in text
    assert "flood.py(26)on_packet()" in text and "(Pdb) (1, set())" in text
    assert text.count("(Pdb) ") == 4 and "world.py" not in text
    assert "broken causal order: node 0 delivers message 1 before message 0" in text


def test_it_goes_on_by_itself_when_the_handler_has_returned(session: Session) -> None:
    trial = Trial(FLOOD, {"processes": 2}, budget={"broadcasts": 2})
    text = session(FLOOD, trial, "d", "n", "n", "n", "q")
    assert "--Return--" in text and "world.py" not in text
    assert "1> " in text, "the third n was an answer to the prompt between events"
    assert text.count("broadcasts message") == 2


def test_it_stops_in_the_handler_that_changes_a_content(session: Session, tmp_path: Path) -> None:
    study = talking.write(tmp_path, BROADCAST="self.send(EVERYONE, self.clock, 10); self.clock[0] += 1")
    text = session(study, Trial(study, budget={"broadcasts": 1}, properties=("once",)), "d", "n", "n", "q", "q")
    assert "on_broadcast()\n-> message = self.new_message()" in text and "shared.py" not in text
    assert "Talker.on_broadcast (talk.py:" in text and "changed the content that node" in text, text


def test_quitting_the_debugger_does_not_leave_half_a_handler(session: Session) -> None:
    trial = Trial(FLOOD, {"processes": 2}, budget={"broadcasts": 2})
    text = session(FLOOD, trial, "d", "q", "p nodes[1].heard", "q")
    assert "node 1  delivers message 0" in text and "{0}" in text and "BdbQuit" not in text


@pytest.mark.parametrize("what", ["loss", "crash"])
def test_an_event_without_a_handler_of_the_users_just_happens(what: str, session: Session) -> None:
    rule = {"loss": "not any(event.what == 'loss' for event in world.log)", "crash": "not world.failed"}[what]
    trial = Trial(FLOOD, {"processes": 2}, budget={"broadcasts": 1, "losses": 1, "crashes": 1}, always=(rule,))
    text = session(FLOOD, trial, "g 50", "b", "d", "q")
    assert f"broken condition: {rule}" in text and "(Pdb)" not in text


def test_of_an_asyncio_program_it_stops_in_the_programs_own_code(session: Session) -> None:
    trial = Trial(TALLY, {"version": "careless"}, budget={"losses": 1})
    text = session(TALLY, trial, "d", "c", "d", "p data", "c", "q")
    assert re.search(r"tally\.py\(\d+\)main\(\)", text) and re.search(r"tally\.py\(\d+\)datagram_received\(\)", text)
    assert "(Pdb) b'1'" in text
