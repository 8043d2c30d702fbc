"""Commands do not write through symbolic links in another user's folder."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from causeway.cli import check, explain, run
from causeway.errors import UserError
from causeway.explore.model import Log


def linked(link: Path, elsewhere: Path) -> Path:
    """Make a link to a file of somebody else, and return that file."""
    link.parent.mkdir(parents=True, exist_ok=True)
    elsewhere.write_text("mine")
    link.symlink_to(elsewhere)
    return elsewhere


@pytest.mark.parametrize("name", ["s.html", "s.json"])
def test_a_counterexample_is_not_written_through_a_link(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(check, "_nodes_of", lambda trial: 2)
    other = linked(tmp_path / "out" / name, tmp_path / "other")
    trial: Any = SimpleNamespace(study=SimpleNamespace(name="s", title="a study"), as_json=dict)
    found = check.Found("", 0.0, "something", (), log=Log())
    with pytest.raises(UserError, match="is a link"):
        check._write(trial, found, tmp_path / "out", Console())
    assert other.read_text() == "mine"


@pytest.mark.parametrize("name", ["run-1.html", "run-1.shiviz.txt"])
def test_an_explanation_is_not_written_through_a_link(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    other = linked(tmp_path / "pages" / name, tmp_path / "other")
    monkeypatch.setattr(explain, "describe_chain", lambda one: [])
    monkeypatch.setattr(explain, "drawn", lambda one, title: None)
    monkeypatch.setattr(explain.spacetime, "page", lambda drawing: "")
    monkeypatch.setattr(explain.shiviz, "log", lambda *_: "")
    chain: Any = SimpleNamespace(title="wrong", left_out=0, unnamed={}, events=[], names={})
    with pytest.raises(UserError, match="is a link"):
        explain.print_chain(chain, "run-1", "a study", tmp_path / "pages", Console(), False)
    assert other.read_text() == "mine"


def test_a_recording_is_not_written_below_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "recordings").symlink_to(tmp_path / "elsewhere")
    job: Any = SimpleNamespace(run_id="run")
    with pytest.raises(UserError, match="is a link"):
        run._recorded(job, tmp_path)
