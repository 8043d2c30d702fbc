"""Kinds of plots: a new one is one function, and nothing else is touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from causeway.analysis import kinds, report, store, study_description
from causeway.analysis.kinds import kind
from causeway.analysis.plots import Plot
from causeway.analysis.study_description import Description
from causeway.errors import UserError
from tests.helpers.page import parse, words
from tests.helpers.result_folder import fill

TOP = Path(__file__).resolve().parents[2]
EXAMPLE = TOP / "examples" / "spread.py"
DOTS = """
from causeway import plot_kind


@plot_kind
def dots(ax, data, size=2):
    found = data.values()
    ax.scatter(found["x"].astype(float), found["value"], s=size, gid=f"dots of {size}", label="every run")
"""
PLOT = Plot("Every run", "clocks", "wrong", "n", kind="dots", more={"size": 3})


@pytest.fixture
def own_kinds(monkeypatch):
    """Remove the kinds that a test adds after it."""
    kinds.known()
    before = dict(kind.KINDS)
    yield
    kind.KINDS.clear()
    kind.KINDS.update(before)


def page_of(folder: Path, *plots: Plot) -> str:
    fill(folder, engines=("inline",), sizes=(10, 50), seeds=2)
    study_description.write(folder, "clocks", study_description.text_of(Description("clocks", "Made up", "clk", plots)))
    return report.write(folder).read_text()


def is_drawn(folder: Path, title: str) -> bool:
    figures = parse((folder / "report" / "index.html").read_text()).iter("figcaption")
    return any(words(caption).startswith(title) for caption in figures)


def test_a_new_kind_is_one_file_among_the_others(tmp_path: Path, monkeypatch, own_kinds) -> None:
    """A module beside those that ship is found without an entry in any list."""
    (tmp_path / "dots_kind.py").write_text(DOTS)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    kinds._import_all.cache_clear()
    page = page_of(tmp_path / "results", PLOT)
    assert is_drawn(tmp_path / "results", "Every run") and "not known here" not in page
    (svg,) = [one for one in parse(page).iter("svg") if one.get("class") == "plot"]
    assert "every run" in words(svg), "what it labels stands in the legend"
    numbers = pd.read_csv(tmp_path / "results" / "report" / "figures.csv")
    assert len(numbers) == 2 * 3 * 2, "two sizes, three clocks, two seeds: the values that it was given"


def test_a_kind_of_a_file_of_ones_own_is_drawn_where_the_file_is_given_and_named_where_not(tmp_path, own_kinds) -> None:
    page = page_of(tmp_path / "before", PLOT)
    assert "Every run: kind 'dots'" in words(parse(page)) and not is_drawn(tmp_path / "before", "Every run")
    (tmp_path / "mine.py").write_text(DOTS)
    kinds.load(tmp_path / "mine.py")
    page_of(tmp_path / "after", PLOT)
    assert is_drawn(tmp_path / "after", "Every run")


def test_a_mistake_in_a_kind_of_ones_own_is_reported_with_its_line(tmp_path: Path, own_kinds) -> None:
    (tmp_path / "mine.py").write_text(DOTS.replace('found["value"]', 'found["values"]'))
    kinds.load(tmp_path / "mine.py")
    with pytest.raises(
        UserError, match=r"plot 'Every run': kind 'dots' does not draw it: KeyError: 'values'\n.*mine\.py:8"
    ):
        page_of(tmp_path / "results", PLOT)


def test_a_frame_of_a_kind_without_a_needed_column_is_refused(tmp_path: Path, own_kinds) -> None:
    (tmp_path / "mine.py").write_text(DOTS + "    return found\n")
    kinds.load(tmp_path / "mine.py")
    with pytest.raises(UserError, match="kind 'dots' returns a frame without the column mean"):
        page_of(tmp_path / "results", PLOT)


def test_a_kind_refuses_fields_that_it_does_not_have(own_kinds) -> None:
    with pytest.raises(UserError, match="kind 'time' has no 'bin', only bins"):
        kinds.kind_of("time").check(Plot("t", "clocks", "queue", kind="time", more={"bin": 3}))
    with pytest.raises(UserError, match="kind 'bar' has no 'bins', none of its own"):
        kinds.kind_of("bar").check(Plot("t", "clocks", "wrong", "n", kind="bar", more={"bins": 3}))


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UserError, match="no kind of plot 'pie', only bar, box, cdf, change, histogram, line, scatter, state, time"
    ):
        kinds.kind_of("pie")


def test_two_kinds_may_not_have_one_name(tmp_path: Path, own_kinds) -> None:
    (tmp_path / "mine.py").write_text(DOTS.replace("def dots", "def bar"))
    with pytest.raises(UserError, match=r"two kinds of plots are called 'bar', in .*kinds/bar\.py:bar and .*mine\.py"):
        kinds.load(tmp_path / "mine.py")
    (tmp_path / "mine.py").write_text(DOTS)
    kinds.load(tmp_path / "mine.py")
    kinds.load(tmp_path / "mine.py")  # a study's file is read by the run and by the report


def test_a_plot_reads_its_scalars_and_no_others() -> None:
    def formulas(plot: Plot) -> tuple[str, ...]:
        return kinds.kind_of(plot.kind).formulas(plot)

    assert formulas(Plot("t", "s", "a/b")) == ("a/b",)
    assert formulas(Plot("t", "s", "a", kind="scatter", more={"over": "c"})) == ("a", "c")
    assert formulas(Plot("t", "s", "*.series", kind="time")) == ()
    assert formulas(Plot("t", "s", "m.v:vector", kind="cdf", more={"of": "samples"})) == ()


def test_bins_of_a_plot_over_time_are_its_own_field(tmp_path: Path) -> None:
    page_of(tmp_path, Plot("Queue", "clocks", "queue", kind="time", more={"bins": 7}))
    rows = (tmp_path / "report" / "figures.csv").read_text().splitlines()
    assert len(rows) == 1 + 7


def test_matplotlib_is_imported_when_something_is_drawn_and_not_before() -> None:
    code = (
        "import sys; from causeway.cli import main; from causeway.analysis import kinds, report; kinds.known(); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, env=os.environ).returncode == 0


@pytest.mark.slow
def test_the_example_of_a_kind_draws_the_numbers_of_its_stored_file(tmp_path: Path) -> None:
    def causeway(*arguments: str) -> None:
        command = [sys.executable, "-m", "causeway.cli.main", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(TOP)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr

    commands = re.findall(r"^causeway (.*)$", EXAMPLE.read_text(), re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        causeway(*(str(TOP / word) if word.startswith("examples/") else word for word in command.split()))
    report_folder = tmp_path / "results" / "spread" / "report"
    assert (report_folder / "figures.csv").read_text() == EXAMPLE.with_suffix(".csv").read_text()
    assert is_drawn(report_folder.parent, "Deliveries by loss")


def test_a_change_is_drawn_with_the_interval_of_the_differences_of_one_seed(tmp_path: Path) -> None:
    """Seeds differ by hundreds; `new` is 1 and 2 above `old` at each seed that both have."""
    worth = {("old", 1): 100.0, ("old", 2): 500.0, ("old", 9): 7.0, ("new", 1): 101.0, ("new", 2): 502.0}
    for (way, seed), value in worth.items():
        store.write_run(tmp_path, {
            "runs": {
                "run_id": [f"{way}-{seed}"], "study": ["clocks"], "point": [way], "engine": ["inline"],
                "seed": [seed], "started_at": ["2024-05-01T10:00:00.000+00:00"], "wall_s": [1.0],
            },
            "parameters": {"name": ["way", "n"], "value": [way, "10"], "number": [None, 10.0]},
            "scalars": {"module": ["run"], "name": ["wrong"], "value": [value]},
        })  # fmt: skip
    plot = Plot("Change", "clocks", "wrong", "n", "way", kind="change", more={"against": "old"})
    study_description.write(
        tmp_path, "clocks", study_description.text_of(Description("clocks", "Made up", "clk", (plot,)))
    )
    report.write(tmp_path)
    assert is_drawn(tmp_path, "Change")
    (row,) = pd.read_csv(tmp_path / "report" / "figures.csv").to_dict("records")
    half = 12.706204736174694 * 0.5  # t of one degree of freedom times the standard error of 1 and 2
    assert (row["series"], row["mean"], row["runs"]) == ("new", 1.5, 2)
    assert (row["ci95_low"], row["ci95_high"]) == pytest.approx((1.5 - half, 1.5 + half))
