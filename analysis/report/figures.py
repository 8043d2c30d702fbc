"""From the plots a study asks for to the numbers that are drawn: points with intervals, published ones apart."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from causeway.analysis.plots import Plot
from causeway.analysis.reduce import arithmetic
from causeway.analysis.reduce.comparison import Runs

X = float | str
BINS = 60


@dataclass(frozen=True)
class Point:
    """One mark: a mean with its interval (NaN where there is none). Published bounds have one or both ends, no mean."""

    x: X
    y: float
    low: float
    high: float
    runs: int


@dataclass
class Line:
    """The points of one series on one engine, or the published points of one series (engine "published")."""

    series: str
    engine: str
    points: list[Point] = field(default_factory=list)


@dataclass
class Figure:
    """All that is drawn for one plot."""

    plot: Plot
    lines: list[Line]
    published: list[Line]

    @property
    def all_points(self) -> list[Point]:
        return [point for line in (*self.lines, *self.published) for point in line.points]

    @property
    def categorical(self) -> bool:
        """Whether x is a list of names: bars, and parameters that are no numbers."""
        return self.plot.kind == "bar" or any(isinstance(point.x, str) for point in self.all_points)


def figure(plot: Plot, runs: Runs, published: pd.DataFrame, over_time: "OverTime | None" = None) -> Figure:
    """The figure of a plot. `over_time` reduces samples, for plots of kind 'time'."""
    there = runs.at(plot.study, dict(plot.where))
    if plot.kind == "time":
        lines = over_time(plot, there) if over_time else []
        return Figure(plot, lines, [])
    measured = runs.quantity(plot.y, there)
    frame = pd.DataFrame({
        "engine": runs.runs.loc[there, "engine"], "series": _labels(runs, plot.series, there),
        "x": _positions(runs, plot.x, there), "value": measured,
    }).dropna(subset=["value"])  # fmt: skip
    lines = []
    for (engine, series), group in frame.groupby(["engine", "series"], sort=False):
        line = Line(str(series), str(engine))
        for x, values in group.groupby("x")["value"]:
            count, mean, _, low, high = arithmetic.interval(values.tolist())
            line.points.append(Point(_as_x(x), mean, low, high, count))
        lines.append(line)
    return Figure(plot, sorted(lines, key=_order), _published_lines(plot, published))


class OverTime:
    """Reduces recorded series over simulated time, on Spark or pandas: whatever module has the reductions' names."""

    def __init__(self, runs: Runs, vectors: pd.DataFrame, samples: Any, reduce: Any) -> None:
        self.runs, self.vectors, self.samples, self.reduce = runs, vectors, samples, reduce

    def __call__(self, plot: Plot, there: pd.Index) -> list[Line]:
        """One line per engine and series value; each point is a bin of simulated time, x its middle in seconds."""
        chosen = self.vectors[self.vectors["run_id"].isin(there) & (self.vectors["name"] == plot.y)]
        if chosen.empty:
            return []
        keys = chosen[["run_id", "vector_id"]].assign(
            engine=self.runs.runs.loc[chosen["run_id"], "engine"].to_numpy(),
            series=_labels(self.runs, plot.series, pd.Index(chosen["run_id"])).to_numpy(),
        )
        joined = self._join(keys)
        width_ps = max(1, -(-self._last_ps(joined) // BINS))
        found = self.reduce.time_series(joined, ["engine", "series"], width_ps)
        frame = found if isinstance(found, pd.DataFrame) else found.toPandas()
        lines = []
        for (engine, series), group in frame.sort_values("start_ps").groupby(["engine", "series"]):
            columns = (group[name].tolist() for name in ("start_ps", "mean", "ci_low", "ci_high", "runs"))
            points = [
                Point((start + width_ps / 2) / 1e12, mean, low, high, int(count))
                for start, mean, low, high, count in zip(*columns, strict=True)
            ]
            lines.append(Line(str(series), str(engine), points))
        return sorted(lines, key=_order)

    def _join(self, keys: pd.DataFrame) -> Any:
        if isinstance(self.samples, pd.DataFrame):
            return self.samples.merge(keys, on=["run_id", "vector_id"])
        from pyspark.sql import functions as F

        there = self.samples.sparkSession.createDataFrame(keys)
        return self.samples.join(F.broadcast(there), ["run_id", "vector_id"])

    def _last_ps(self, joined: Any) -> int:
        timed = self.reduce.with_time(joined)
        if isinstance(timed, pd.DataFrame):
            return int(timed["time_ps"].max()) + 1 if len(timed) else 1
        return int(timed.agg({"time_ps": "max"}).collect()[0][0] or 0) + 1


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


def _order(line: Line) -> tuple[Any, ...]:
    return _natural(line.series), line.engine


def _natural(text: str) -> tuple[Any, ...]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _published_lines(plot: Plot, published: pd.DataFrame) -> list[Line]:
    """The published numbers of the plot's place in its paper that measure the same quantity, as points."""
    paper, _, place = (part.strip() for part in plot.paper.partition(","))
    lines: dict[str, Line] = {}
    for number in published.to_dict("records"):
        parameters: Mapping[str, Any] = number["parameters"]
        here = number["paper"] == paper and number["where"] == place and number["study"] == plot.study
        if not here or _squeezed(number["scalar"]) != _squeezed(plot.y) or not _agrees(parameters, plot.where):
            continue
        x = parameters.get(plot.x, "")
        at = float(x) if isinstance(x, int | float) and not isinstance(x, bool) else _text(x)
        series = _text(parameters.get(plot.series, "")) if plot.series else ""
        line = lines.setdefault(series, Line(series, "published"))
        line.points.append(Point(at, number["published"], number["low"], number["high"], 0))
    return sorted(lines.values(), key=_order)


def _agrees(parameters: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(name not in parameters or parameters[name] == value for name, value in where.items())


def _squeezed(formula: str) -> str:
    return "".join(formula.split())


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def rows(figures: Sequence[Figure]) -> list[tuple[Any, ...]]:
    """Everything drawn, as rows: title, series, engine, x, y, low, high, runs."""
    return [
        (figure.plot.title, line.series, line.engine, point.x, point.y, point.low, point.high, point.runs)
        for figure in figures
        for line in (*figure.lines, *figure.published)
        for point in line.points
    ]
