"""Write the CSV files beside a report, for spreadsheets: comparison.csv, scalars.csv, figures.csv.

Start here: `write`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from causeway.analysis import store
from causeway.analysis.figures.numbers import name_and_unit
from causeway.analysis.reduce import comparison
from causeway.analysis.report.page import DrawnFigure
from causeway.analysis.report.result import Result

COLUMNS = (
    "title", "series", "engine", "x", "mean", "ci95_low", "ci95_high", "runs", "study", "kind", "series_name",
    "x_name", "x_unit", "x_scale", "y_name", "y_unit", "y_scale",
)  # fmt: skip
"""The columns of figures.csv."""


def write(result: Result) -> None:
    """Write the three files into the folder of the report."""
    _write_csv(result.out / "comparison.csv", result.compared[[*comparison.COLUMNS, "verdict"]])
    _write_csv(result.out / "scalars.csv", _with_parameters(result.means, result.known))
    _write_csv(result.out / "figures.csv", _rows(result.drawn))


def _rows(drawn: Sequence[DrawnFigure]) -> pd.DataFrame:
    """Return the numbers of all figures, each row with the names, units and scales of its axes."""
    frames = []
    for one in drawn:
        plot = one.plot
        (x_name, x_unit), (y_name, y_unit) = name_and_unit(one.x_label), name_and_unit(one.y_label)
        frames.append(pd.DataFrame({
            "title": plot.title, **one.numbers.rename(columns={"low": "ci95_low", "high": "ci95_high"}),
            "study": plot.study, "kind": plot.kind, "series_name": plot.series, "x_name": x_name, "x_unit": x_unit,
            "x_scale": "log" if plot.log_x else "linear", "y_name": y_name, "y_unit": y_unit,
            "y_scale": "log" if plot.log_y else "linear",
        }))  # fmt: skip
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))


def _with_parameters(means: pd.DataFrame, known: comparison.Runs) -> pd.DataFrame:
    """Add each point's parameters to its scalars. A parameter is empty if the runs of the point differ in it."""
    keys = ["study", "point", "engine"]
    grouped = known.texts.join(known.runs[keys]).groupby(keys, dropna=False)
    explained = grouped.first().where(grouped.nunique() == 1)
    taken = {name: f"parameter {name}" for name in explained.columns if name in means.columns}
    return means.merge(explained.rename(columns=taken).reset_index(), on=keys, how="left")


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a table for spreadsheets. Texts that a spreadsheet would compute as formulas stay texts."""
    texts = frame.select_dtypes(["object", "string", "category"]).columns
    plain = frame.assign(**{name: frame[name].map(_no_formula) for name in texts})
    with store.replacing(path) as temporary:
        plain.to_csv(temporary, index=False)


def _no_formula(cell: Any) -> Any:
    """Return a cell that no spreadsheet reads as a formula."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
