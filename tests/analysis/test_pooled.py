"""The report notes that a figure averages over runs that differ in more than their seeds."""

from __future__ import annotations

import pandas as pd
import pytest

from causeway.analysis.figures.data import Data, Recorded
from causeway.analysis.plots import Plot
from causeway.analysis.pooled import pooled
from causeway.analysis.reduce.comparison import Runs

RUNS = [("a", "5", "0.1"), ("b", "5", "0.2"), ("c", "10", "0.1"), ("d", "10", "0.2")]
"""run, rate, loss"""


@pytest.fixture
def runs() -> Runs:
    runs = pd.DataFrame({"run_id": [r for r, *_ in RUNS], "study": "toy", "engine": "inline"})
    rows = [(run, name, text) for run, *texts in RUNS for name, text in zip(("rate", "loss"), texts, strict=True)]
    parameters = pd.DataFrame(rows, columns=["run_id", "name", "value"]).assign(
        number=lambda f: f["value"].astype(float)
    )
    values = pd.DataFrame({"run_id": [r for r, *_ in RUNS], "name": "y", "value": 1.0})
    return Runs(runs, parameters, values)


@pytest.mark.parametrize(
    ("kind", "x", "series", "where", "hidden"),
    [
        ("line", "rate", "", {}, ["loss"]),
        ("line", "rate", "loss", {}, []),
        ("line", "rate", "", {"loss": 0.1}, []),
        ("time", "rate", "loss", {}, ["rate"]),
        ("time", "", "", {"rate": 5}, ["loss"]),
        ("scatter", "rate", "", {}, []),
    ],
)
def test_parameters_that_a_figure_averages_over_are_named(
    runs: Runs, kind: str, x: str, series: str, where: dict[str, float], hidden: list[str]
) -> None:
    empty = Recorded(pd.DataFrame(), pd.DataFrame())
    data = Data(Plot("t", "toy", "y", x, series, where, kind=kind), runs, pd.DataFrame(), lambda: empty)
    assert pooled(data) == hidden
