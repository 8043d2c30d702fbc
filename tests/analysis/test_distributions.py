"""Kinds of plots for many values: a distribution, a histogram, boxes, dots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from causeway.analysis import description, report
from causeway.analysis.description import Description
from causeway.analysis.figures.data import Data, Recorded
from causeway.analysis.figures.figure import Figure
from causeway.analysis.kinds import kind_of
from causeway.analysis.kinds.box import Box
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import comparison, in_pandas
from tests.worlds.result_folder import fill


def figure(plot: Plot, values: dict[int, list[float]], samples: list[float] = []) -> Figure:  # noqa: B006
    """Runs of a study `s` with parameter n: for each n so many runs with these values of `y` (and `z` = 10 y)."""
    rows = [(f"{n}-{i}", n, value) for n, group in values.items() for i, value in enumerate(group)]
    runs = pd.DataFrame(
        [{"run_id": r, "study": "s", "point": str(n), "engine": "inline", "seed": 1} for r, n, _ in rows]
    )
    parameters = pd.DataFrame([{"run_id": r, "name": "n", "value": str(n), "number": float(n)} for r, n, _ in rows])
    scalars = pd.DataFrame(
        [{"run_id": r, "module": "run", "name": name, "value": value * f} for r, _, value in rows for name, f in
         (("y", 1), ("z", 10))]
    )  # fmt: skip
    known = comparison.Runs(runs, parameters, comparison.run_values(scalars, {"y", "z"}))
    vectors = pd.DataFrame([{"run_id": rows[0][0], "vector_id": 0, "module": "m", "name": "v", "unit": ""}])
    recorded = pd.DataFrame({"run_id": rows[0][0], "vector_id": 0, "value": samples})
    data = Data(known, comparison.frame_of([]), lambda: Recorded(vectors, recorded, in_pandas))
    return kind_of(plot.kind).reduce(plot, data)


def test_a_cdf_rises_by_one_run_at_each_value() -> None:
    (line,) = figure(Plot("t", "s", "y", kind="cdf"), {1: [3.0, 1.0], 2: [2.0, 2.0]}).lines
    assert [(p.x, p.y) for p in line.points] == [(1, 0.25), (2, 0.5), (2, 0.75), (3, 1)]


def test_a_cdf_of_samples_takes_the_recorded_series() -> None:
    plot = Plot("t", "s", "v", kind="cdf", more={"of": "samples"})
    (line,) = figure(plot, {1: [0.0]}, [5.0, 1.0]).lines
    assert [(p.x, p.y) for p in line.points] == [(1, 0.5), (5, 1)]


def test_a_long_cdf_is_thinned_and_keeps_its_ends() -> None:
    (line,) = figure(Plot("t", "s", "y", kind="cdf"), {1: list(map(float, range(5000)))}).lines
    assert len(line.points) == 400
    assert (line.points[0].x, line.points[-1].x, line.points[-1].y) == (0, 4999, 1)


def test_the_bins_of_a_histogram_hold_every_run_once() -> None:
    plot = Plot("t", "s", "y", series="n", kind="histogram", more={"bins": 4})
    found = figure(plot, {1: [0.0, 1.0, 4.0, float("inf")], 2: [4.0]})
    assert [[p.x for p in line.points] for line in found.lines] == [[0, 1, 2, 3, 4]] * 2
    assert [sum(p.y for p in line.points) for line in found.lines] == [1, 1]
    assert found.lines[0].points[0].y == pytest.approx(1 / 3)


def test_a_box_has_quartiles_and_ends() -> None:
    (line,) = figure(Plot("t", "s", "y", "n", kind="box"), {7: [1.0, 2.0, 3.0, 4.0, 9.0]}).lines
    assert line.points == [Box(7.0, 3.0, 1.0, 9.0, 5, 2.0, 4.0)]


def test_dots_are_runs_over_a_parameter_or_another_scalar() -> None:
    (line,) = figure(Plot("t", "s", "y", "n", kind="scatter"), {1: [5.0], 2: [6.0, 4.0]}).lines
    assert [(p.x, p.y) for p in line.points] == [(1, 5), (2, 4), (2, 6)]
    (line,) = figure(Plot("t", "s", "y", kind="scatter", more={"over": "z"}), {1: [5.0], 2: [6.0]}).lines
    assert [(p.x, p.y) for p in line.points] == [(50, 5), (60, 6)]


@pytest.mark.parametrize("kind", ["cdf", "histogram", "box", "scatter"])
def test_all_of_them_are_drawn_in_a_report(kind: str, tmp_path: Path) -> None:
    fill(tmp_path, engines=("inline",), sizes=(10, 50), seeds=3)
    plot = Plot("Drawn", "clocks", "wrong", "n" if kind in ("box", "scatter") else "", kind=kind)
    description.write(tmp_path, "clocks", description.text_of(Description("clocks", "Made up", "clk", (plot,))))
    page = report.write(tmp_path).read_text()
    assert "Drawn" in page and "not known here" not in page and "nan" not in page.partition("<main>")[2].lower()
    drawn = pd.read_csv(tmp_path / "report" / "figures.csv")
    assert len(drawn) and np.isfinite(drawn["mean"]).all()
