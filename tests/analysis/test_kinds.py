"""Kinds of plots: a new one is one class, and nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.analysis import description, kinds, report
from causeway.analysis.description import Description
from causeway.analysis.kinds import kind
from causeway.analysis.plots import Plot
from causeway.bridge.errors import UserError
from tests.worlds.result_folder import fill

TOP = Path(__file__).resolve().parents[2]
DOTS = """
from causeway.analysis.figures.figure import Figure, Line, Point
from causeway.analysis.kinds import PlotKind


class Dots(PlotKind):
    name = "dots"
    own = {"radius": 2}

    def reduce(self, plot, data):
        points = [Point(row.x, row.value, row.value, row.value, 1) for row in data.values(plot).itertuples()]
        return Figure(plot, [Line("", "all", points)])

    def mark(self, line, drawing):
        r = self.option(drawing.figure.plot, "radius")
        places = [(drawing.axes.x(point.x), drawing.axes.y(point.y)) for point in line.points]
        return "".join(f'<circle class="own" cx="{x}" cy="{y}" r="{r}"/>' for x, y in places)
"""
PLOT = Plot("Every run", "clocks", "wrong", "n", kind="dots", more={"radius": 3})


@pytest.fixture
def own_kinds(monkeypatch):
    """Kinds that a test adds are gone after it."""
    kinds.known()
    monkeypatch.setattr(kind, "KINDS", kind.KINDS)
    before = dict(kind.KINDS)
    yield
    kind.KINDS.clear()
    kind.KINDS.update(before)


def page_of(folder: Path, *plots: Plot) -> str:
    fill(folder, engines=("inline",), sizes=(10, 50), seeds=2)
    description.write(folder, "clocks", description.text_of(Description("clocks", "Made up", "clk", plots)))
    return report.write(folder).read_text()


def test_a_new_kind_is_one_file_among_the_others(tmp_path: Path, monkeypatch, own_kinds) -> None:
    """A module beside those that ship: found without being named anywhere."""
    (tmp_path / "dots_kind.py").write_text(DOTS)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    kinds._look_through.cache_clear()
    page = page_of(tmp_path / "results", PLOT)
    assert page.count('class="own"') == 2 * 3 * 2, "two sizes, three clocks, two seeds"
    assert 'r="3"' in page and "not known here" not in page


def test_a_kind_of_a_file_of_ones_own_is_drawn_where_the_file_is_given_and_named_where_not(tmp_path, own_kinds) -> None:
    page = page_of(tmp_path / "before", PLOT)
    assert "Every run: kind 'dots'" in page.replace("&#x27;", "'") and 'class="own"' not in page
    (tmp_path / "mine.py").write_text(DOTS)
    kinds.load(tmp_path / "mine.py")
    assert 'class="own"' in page_of(tmp_path / "after", PLOT)


def test_a_kind_refuses_fields_that_it_does_not_have(own_kinds) -> None:
    with pytest.raises(UserError, match="kind 'time' has no 'bin', only bins"):
        kinds.kind_of("time").check(Plot("t", "clocks", "queue", kind="time", more={"bin": 3}))
    with pytest.raises(UserError, match="kind 'bar' has no 'bins', none of its own"):
        kinds.kind_of("bar").check(Plot("t", "clocks", "wrong", "n", kind="bar", more={"bins": 3}))


def test_a_kind_that_nobody_knows_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(
        UserError, match="no kind of plot 'pie', only bar, box, cdf, histogram, line, scatter, state, time"
    ):
        kinds.kind_of("pie")


def test_two_kinds_may_not_have_one_name(tmp_path: Path, own_kinds) -> None:
    (tmp_path / "mine.py").write_text(DOTS.replace('"dots"', '"bar"'))
    with pytest.raises(UserError, match="two kinds of plots are called 'bar': BarKind and Dots"):
        kinds.load(tmp_path / "mine.py")


def test_bins_of_a_plot_over_time_are_its_own_field(tmp_path: Path) -> None:
    page_of(tmp_path, Plot("Queue", "clocks", "queue", kind="time", more={"bins": 7}))
    rows = (tmp_path / "report" / "figures.csv").read_text().splitlines()
    assert len(rows) == 1 + 7


@pytest.mark.slow
def test_the_example_with_a_kind_of_its_own_draws_it(tmp_path: Path) -> None:
    def causeway(*arguments: str) -> None:
        command = [sys.executable, "-m", "causeway.cli.main", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(TOP)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr

    example = str(TOP / "examples/spread.py")
    causeway("run", example, "--sweep", "loss", "--reps", "3", "--out", "out")
    causeway("report", "out", "--kinds", example)
    assert (tmp_path / "out/report/index.html").read_text().count('class="whisker"') == 3
