"""What kinds of plots draw from: values of runs, means of points, recorded series, published numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from causeway.analysis.figures.figure import Line, Point, X, in_order
from causeway.analysis.plots import Plot
from causeway.analysis.query.patterns import matcher
from causeway.analysis.reduce import arithmetic, in_pandas
from causeway.analysis.reduce.comparison import Runs


class Recorded(NamedTuple):
    """Recorded series: `reduce` is the module whose reductions take these samples, for pandas or for Spark."""

    vectors: pd.DataFrame
    samples: Any
    reduce: Any


class Data:
    """Everything a kind may ask for. Samples are read when the first one asks."""

    def __init__(
        self, runs: Runs, numbers: pd.DataFrame, recorded: Callable[[], Recorded],
        bins: Callable[[], pd.DataFrame] = pd.DataFrame,
    ) -> None:  # fmt: skip
        """`numbers`: the published ones; `bins`: those of histograms that runs recorded."""
        self.runs, self._numbers, self._read, self._bins = runs, numbers, recorded, bins
        self._recorded: Recorded | None = None

    @property
    def recorded(self) -> Recorded:
        if self._recorded is None:
            self._recorded = self._read()
        return self._recorded

    def there(self, plot: Plot) -> pd.Index:
        """The runs that a plot is about."""
        return self.runs.at(plot.study, dict(plot.where))

    # ---- scalars ----------------------------------------------------------------------------------------------------
    def values(self, plot: Plot, formula: str = "") -> pd.DataFrame:
        """A row for each run that has it: engine, series, x and value, which is `formula` or the plot's y."""
        there = self.there(plot)
        return pd.DataFrame({
            "engine": self.runs.runs.loc[there, "engine"], "series": _labels(self.runs, plot.series, there),
            "x": _positions(self.runs, plot.x, there), "value": self.runs.quantity(formula or plot.y, there),
        }).dropna(subset=["value"])  # fmt: skip

    def means(self, plot: Plot) -> list[Line]:
        """Mean and 95 % interval of the plot's y for each x; one line for each series and engine."""
        lines = []
        for (engine, series), group in self.values(plot).groupby(["engine", "series"], sort=False):
            line = Line(str(series), str(engine))
            for x, values in group.groupby("x")["value"]:
                count, mean, _, low, high = arithmetic.interval(values.tolist())
                line.points.append(Point(_as_x(x), mean, low, high, count))
            lines.append(line)
        return in_order(lines)

    # ---- recorded series --------------------------------------------------------------------------------------------
    def samples(self, plot: Plot) -> Any:
        """The samples of the series that y names, with engine and series; a frame of pandas or of Spark, or None."""
        there, vectors = self.there(plot), self.recorded.vectors
        chosen = vectors[vectors["run_id"].isin(there) & _called(vectors, plot.y)]
        if chosen.empty:
            return None
        keys = chosen[["run_id", "vector_id"]].assign(
            engine=self.runs.runs.loc[chosen["run_id"], "engine"].to_numpy(),
            series=_labels(self.runs, plot.series, pd.Index(chosen["run_id"])).to_numpy(),
        )
        if isinstance(self.recorded.samples, pd.DataFrame):
            return self.recorded.samples.merge(keys, on=["run_id", "vector_id"])
        from pyspark.sql import functions as F

        known = self.recorded.samples.sparkSession.createDataFrame(keys)
        return self.recorded.samples.join(F.broadcast(known), ["run_id", "vector_id"])

    def bins(self, plot: Plot) -> pd.DataFrame:
        """The bins of recorded histograms that y names: engine, series, run_id, edge (where a bin begins) and value."""
        there, bins = self.there(plot), self._bins()
        if bins.empty:
            return bins.assign(engine="", series="")
        chosen = bins[bins["run_id"].isin(there) & _called(bins, plot.y)]
        runs = pd.Index(chosen["run_id"])
        return chosen.assign(
            engine=self.runs.runs.loc[runs, "engine"].to_numpy(),
            series=_labels(self.runs, plot.series, runs).to_numpy(),
        )

    def states(self, plot: Plot, most: int) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
        """(engine, module) -> times [s] and values of a series where it changes, of the first run of each engine; the
        last value stands twice, where it was seen first and at the end of all."""
        there = self.there(plot)
        first = self.runs.runs.loc[there].reset_index().groupby("engine")["run_id"].min()
        joined = self.samples(plot)
        if joined is None:
            return {}
        if not isinstance(joined, pd.DataFrame):
            joined = joined.where(joined["run_id"].isin(list(first))).toPandas()
        joined = joined[joined["run_id"].isin(first)]
        timed = in_pandas.with_time(joined).merge(self.recorded.vectors, on=["run_id", "vector_id"])
        found = {}
        end = float(timed["time_ps"].max()) / 1e12 if len(timed) else 0.0
        groups = [(str(e), str(m), rows) for (e, m), rows in timed.groupby(["engine", "module"])]
        for engine, module, rows in sorted(groups, key=lambda one: (one[0], _in_natural_order(one[1]))):
            rows = rows.sort_values(in_pandas.ORDER, kind="stable", na_position="first")
            values, times = rows["value"].to_numpy(float), rows["time_ps"].to_numpy(float) / 1e12
            changes = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
            kept = _seen(times[changes], end)
            at = changes[kept]
            found[engine, module] = [*times[at], end], [*values[at], values[at[-1]]]
            if len(found) == most:
                break
        return found

    def over_time(self, plot: Plot, bins: int) -> list[Line]:
        """One line per engine and series value; each point is a bin of simulated time, x its middle in seconds."""
        joined = self.samples(plot)
        if joined is None:
            return []
        width_ps = max(1, -(-self._last_ps(joined) // bins))
        found = self.recorded.reduce.time_series(joined, ["engine", "series"], width_ps)
        frame = found if isinstance(found, pd.DataFrame) else found.toPandas()
        lines = []
        for (engine, series), group in frame.sort_values("start_ps").groupby(["engine", "series"]):
            columns = (group[name].tolist() for name in ("start_ps", "mean", "ci_low", "ci_high", "runs"))
            points = [
                Point((start + width_ps / 2) / 1e12, mean, low, high, int(count))
                for start, mean, low, high, count in zip(*columns, strict=True)
            ]
            lines.append(Line(str(series), str(engine), points))
        return in_order(lines)

    def _last_ps(self, joined: Any) -> int:
        timed = self.recorded.reduce.with_time(joined)
        if isinstance(timed, pd.DataFrame):
            return int(timed["time_ps"].max()) + 1 if len(timed) else 1
        return int(timed.agg({"time_ps": "max"}).collect()[0][0] or 0) + 1

    # ---- published numbers ------------------------------------------------------------------------------------------
    def published(self, plot: Plot) -> list[Line]:
        """Those of the plot's place in its paper that measure the same quantity, as points."""
        paper, _, place = (part.strip() for part in plot.paper.partition(","))
        lines: dict[str, Line] = {}
        for number in self._numbers.to_dict("records"):
            parameters: Mapping[str, Any] = number["parameters"]
            here = number["paper"] == paper and number["where"] == place and number["study"] == plot.study
            if not here or _squeezed(number["scalar"]) != _squeezed(plot.y) or not _agrees(parameters, plot.where):
                continue
            x = parameters.get(plot.x, "")
            at = float(x) if isinstance(x, int | float) and not isinstance(x, bool) else _text(x)
            series = _text(parameters.get(plot.series, "")) if plot.series else ""
            line = lines.setdefault(series, Line(series, "published"))
            line.points.append(Point(at, number["published"], number["low"], number["high"], 0))
        return in_order(list(lines.values()))


def _called(vectors: pd.DataFrame, name: str) -> pd.Series:
    """Which vectors a plot means: those of the name, or those whose module.name it is or fits as a pattern."""
    whole = vectors["module"] + "." + vectors["name"]
    if "*" not in name:
        return (vectors["name"] == name) | (whole == name)
    fits = matcher(name)
    return whole.isin({one for one in whole.unique() if fits(one)})


def _in_natural_order(module: str) -> list[tuple[int, str]]:
    """host[2] before host[10]."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", module)]


def _seen(times: np.ndarray, end: float) -> np.ndarray:
    """The changes of state that can be seen: of some that come in less than a thousandth of the picture, the last."""
    if len(times) < 2:
        return np.arange(len(times))
    narrow = np.diff(times) < (end - times[0]) / 1000
    return np.flatnonzero(np.concatenate([~narrow, [True]]))


def _labels(runs: Runs, parameter: str, there: pd.Index) -> pd.Series:
    if not parameter or parameter not in runs.texts:
        return pd.Series("", index=there)
    return runs.texts[parameter].reindex(there).fillna("")


def _positions(runs: Runs, parameter: str, there: pd.Index) -> pd.Series:
    """x per run: the parameter as numbers where all of it are numbers, else as text."""
    if parameter not in runs.texts:
        return pd.Series("", index=there)
    numbers = runs.numbers[parameter].reindex(there)
    return runs.texts[parameter].reindex(there).fillna("") if numbers.isna().any() else numbers.astype(float)


def _as_x(x: Any) -> X:
    return x if isinstance(x, str) else float(x)


def _agrees(parameters: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(name not in parameters or parameters[name] == value for name, value in where.items())


def _squeezed(formula: str) -> str:
    return "".join(formula.split())


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
