"""Texts from files and studies are not executed: in output, in paths, in expressions."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from causeway.analysis import store
from causeway.analysis.reduce.expression import evaluate
from causeway.bridge import framing
from causeway.bridge.recording import Recorder
from causeway.cli import console as consoles
from causeway.cli import doctor
from causeway.cli.replay import replay_file
from causeway.errors import UserError
from tests.helpers.bridge_tools import small_spec

RUN = (
    "study", "point", "engine", "engine_version", "causeway_version", "commit", "seed", "digest", "started_at",
    "wall_s", "events",
)  # fmt: skip


def recording_of(study: str, path: Path) -> Path:
    recorder = Recorder(path)
    recorder.from_engine(framing.encode_hello("fake", "fake 1"))
    recorder.from_controller(framing.encode_setup(small_spec(study=study)))
    recorder.land()
    return path


def test_replay_runs_no_file_that_a_recording_names(tmp_path: Path) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n")
    path = recording_of(str(trap), tmp_path / "run.frames")
    with pytest.raises(UserError, match=r"does not ship with Causeway .*--study FILE.py"):
        replay_file(path, Console(quiet=True))
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(UserError, match="defines 0 studies"):
        replay_file(path, Console(quiet=True), str(trap))
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize("text", ["[/x]", "[red]", "host[a]", ":smile:", "[link=x]y[/link]"])
def test_brackets_are_printed_as_they_are(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printer = consoles.console()
    printer.file = io.StringIO()
    printer.print(f"{text} is here")
    assert printer.file.getvalue() == f"{text} is here\n"


def test_control_characters_are_printed_as_escapes() -> None:
    assert consoles.printable("a\x1b[2Jb\udcff\nc") == "a\\x1b[2Jb\\udcff\nc"


@pytest.mark.parametrize("text", ["9**9**9", "(-8)**0.5", "1/x", "0**-1"])
def test_an_expression_without_a_value_is_refused_at_once(text: str) -> None:
    with pytest.raises(UserError, match="has no value that fits a number"):
        evaluate(text, lambda _: 0.0, lambda a, b: a / b)


@pytest.mark.parametrize("text", ["(" * 5000, "1+" * 5000 + "1", "-" * 900 + "x" + "("])
def test_text_that_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        evaluate(text, lambda _: 0.0, lambda a, b: a / b)


@pytest.mark.parametrize("run_id", ["/../../x", "/etc/x", "a/../../x"])
def test_a_run_whose_id_is_a_path_is_refused_where_tables_are_read(run_id: str, tmp_path: Path) -> None:
    row = {name: [0 if name in ("seed", "events") else 0.5 if name == "wall_s" else "x"] for name in RUN}
    store.write_run(tmp_path, {"runs": {**row, "run_id": [run_id]}})
    with pytest.raises(UserError, match="an id must not be a path"):
        store.finished_runs(tmp_path)
    with pytest.raises(UserError, match="an id must not be a path"):
        store.read_arrow(tmp_path, "runs")


def test_the_doctors_table_has_no_markup_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "checks", lambda: iter([doctor.Check("a", "b", True), doctor.Check("c", "d", False)]))
    with (shown := consoles.console()).capture() as reported:
        doctor.show_machine(shown)
    assert "ok" in reported.get() and "--" in reported.get() and "[" not in reported.get()
