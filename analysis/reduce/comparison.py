"""Compare measured with published numbers (`compare`): each number with the mean of its point."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from causeway.analysis import published as published_rows
from causeway.analysis.reduce import arithmetic, expression

COLUMNS = (
    "paper", "where", "quantity", "condition", "published", "measured", "ci95_low", "ci95_high", "runs", "engine",
    "ratio", "relation", "low", "high", "study", "drawn", "remark", "decimals",
)  # fmt: skip
"""The columns of comparison.csv. `published` is empty if the paper prints bounds; `low` and `high` are empty if it
prints a number. `ratio` is the measured value divided by the number or, outside the bounds, by the nearest bound;
within them it is 1. `drawn`, `remark` and `decimals` are those of `published`."""
_GIVEN = (*published_rows.COLUMNS, *published_rows.BOUNDS)


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return published numbers (see `published.read`) as a frame, with NaN for missing numbers."""
    known = {"drawn": True, "remark": "", "decimals": None}
    given = [
        [*(row[name] for name in _GIVEN), *(row.get(name, other) for name, other in known.items())] for row in rows
    ]
    frame = pd.DataFrame(given, columns=[*_GIVEN, *known], dtype=object)
    return frame.astype(dict.fromkeys(("published", "low", "high"), float))


class Runs:
    """The dimension tables and the scalars of some runs. It selects points and computes quantities."""

    def __init__(self, runs: pd.DataFrame, parameters: pd.DataFrame, values: pd.DataFrame) -> None:
        self.runs = runs.set_index("run_id")
        self.texts = _wide(parameters, "value", self.runs.index)
        self.numbers = _wide(parameters, "number", self.runs.index)
        self.values = _wide(values, "value", self.runs.index)

    def at(self, study: str, parameters: dict[str, Any]) -> pd.Index:
        """Return the runs of a study (of all studies for '') that have these parameter values."""
        chosen = (self.runs["study"] == study) | (not study)
        for name, value in parameters.items():
            chosen &= self._has(name, value)
        return self.runs.index[chosen]

    def _has(self, name: str, value: object) -> pd.Series:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if name not in self.texts:
            return pd.Series(False, index=self.runs.index)
        same = self.texts[name] == text
        if isinstance(value, int | float) and not isinstance(value, bool):
            same |= self.numbers[name] == value
        return same

    def quantity(self, formula: str, run_ids: pd.Index) -> pd.Series:
        """Return a quantity (an expression of scalars and numeric parameters) per run; NaN if one is missing."""

        def value_of(name: str) -> pd.Series:
            source = self.values if name in self.values else self.numbers
            if name not in source:
                return pd.Series(math.nan, index=run_ids)
            return source[name].reindex(run_ids).astype(float)

        def divide(a: object, b: object) -> object:
            return a / b.where(b != 0) if isinstance(b, pd.Series) else (a / b if b else math.nan)  # type: ignore[operator]

        found = expression.evaluate(formula, value_of, divide)
        return found if isinstance(found, pd.Series) else pd.Series(float(found), index=run_ids)


def _wide(frame: pd.DataFrame, value: str, index: pd.Index) -> pd.DataFrame:
    kept = frame[frame["run_id"].isin(index)].drop_duplicates(["run_id", "name"])
    return kept.pivot(index="run_id", columns="name", values=value).reindex(index)


def compare(published: pd.DataFrame, runs: Runs) -> pd.DataFrame:
    """Return a row (`COLUMNS`) for each published number and engine that has runs of its point."""
    rows = []
    for number in published.to_dict("records"):
        there = runs.at(number["study"], number["parameters"])
        if there.empty:
            continue
        measured = runs.quantity(number["scalar"], there)
        bounds = [number[name] for name in published_rows.BOUNDS]
        for engine, group in measured.groupby(runs.runs.loc[there, "engine"]):
            count, mean, _, low, high = arithmetic.interval(group.tolist())
            if count:
                nearest = nearest_published(mean, number["published"], number["low"], number["high"])
                ratio = 1.0 if mean == nearest else mean / nearest if nearest else math.nan
                printed, about = ([number[name] for name in names] for names in (COLUMNS[:5], COLUMNS[-4:]))
                rows.append((*printed, mean, low, high, count, engine, ratio, *bounds, *about))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def nearest_published(measured: float, published: float, low: float, high: float) -> float:
    """Return the published number; if the paper prints bounds, the value within them that is nearest to `measured`."""
    if not math.isnan(published):
        return published
    if measured < low:  # False for a missing bound (NaN)
        return low
    return high if measured > high else measured
