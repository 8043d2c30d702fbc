"""Wrong runs in the report, with drawings: unexpected ones at its head, expected ones further down."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from rich.console import Console

from causeway.cli.report import write_report
from causeway.cli.run import RunOptions, run_study
from tests.helpers.page import of_class, parse

FLOOD = Path(__file__).resolve().parents[2] / "examples" / "flood.py"
QUIET = Console(quiet=True)
SETTINGS = ["processes=5", "messages=40"]


@pytest.fixture
def unordered(tmp_path: Path) -> Path:
    """The same study without the declaration that violations are expected."""
    text = re.sub(r"    expected = .*\n", "", FLOOD.read_text())
    assert text != FLOOD.read_text()
    file = tmp_path / "unordered.py"
    file.write_text(text)
    return file


def written(file: Path, folder: Path, studies: list[str], again_s: float = 20.0) -> str:
    if not folder.exists():
        run_study(RunOptions(str(file), "inline", SETTINGS, reps=2, out_dir=folder), QUIET)
    write_report(folder, None, QUIET, studies=studies, most_s=again_s)
    return (folder / "report" / "index.html").read_text()


@pytest.mark.slow
def test_expected_violations_get_three_drawn_examples_below(tmp_path: Path) -> None:
    page = written(FLOOD, tmp_path / "r", [str(FLOOD)])
    assert "Unexpected violations and duplicates" not in page
    assert "violations in 2 runs (flooding keeps no order)" in page
    pictures = of_class(parse(page), "story")
    assert len(pictures) == 3
    for picture in pictures:
        drawn = unquote(picture.get("src", "").removeprefix("data:image/svg+xml,"))
        assert ElementTree.fromstring(drawn).tag.endswith("svg"), "a picture of its own"
    for number in (1, 2, 3):
        own = (tmp_path / "r" / "report" / f"wrong-{number}.html").read_text()
        assert "which it follows" in own and "<svg" in own


def test_unexpected_violations_head_the_report(unordered: Path, tmp_path: Path) -> None:
    page = written(unordered, tmp_path / "r", [str(unordered)])
    assert len(of_class(parse(page), "story")) == 3
    sections = [one.get("id") for one in parse(page).iter("section")]
    assert sections[:2] == ["summary", "wrong"] and "Expected violations and duplicates" not in page


@pytest.mark.slow
def test_without_the_studys_file_or_enough_time_the_report_names_the_command_that_draws_examples(
    tmp_path: Path,
) -> None:
    page = written(FLOOD, tmp_path / "r", [])
    assert "Expected violations and duplicates" in page and "<img" not in page and "--study FILE.py" in page
    page = written(FLOOD, tmp_path / "r", [str(FLOOD)], again_s=0)
    assert "<img" not in page and "causeway explain flood-" in page


def test_runs_without_fault_have_no_such_section(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    run_study(RunOptions(str(FLOOD), "inline", [*SETTINGS, "causal=true"], out_dir=folder), QUIET)
    assert "Wrong," not in written(FLOOD, folder, [str(FLOOD)])
