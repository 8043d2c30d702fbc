"""The numbers of a plot: values of runs, means of points, recorded series and published numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from causeway.analysis.plots import Plot
from causeway.analysis.query.patterns import matcher
from causeway.analysis.reduce import arithmetic, means
from causeway.analysis.reduce.comparison import Runs
from causeway.analysis.reduce.spread import Frame, in_memory, join
from causeway.analysis.units import in_base_units

NUMBERS = ("series", "engine", "x", "mean", "low", "high", "runs")
"""The columns of the numbers in a figure. `mean` is the value that is drawn; `low` and `high` are the ends of its
interval, or NaN."""
NAN = float("nan")
_PAIR = ["engine", "rest", "seed"]
"""The columns in which both runs of a pair must agree."""


class Recorded(NamedTuple):
    """A table of recorded series and a table of their samples."""

    vectors: pd.DataFrame
    samples: Frame


class Data:
    """The numbers of one plot, as DataFrames.

    A kind of plot draws one or more of these: `values` (a row for each run), `means` (a row for each x), `published`,
    `samples` and `over_time` (recorded series). All have the columns `series` and `engine`.
    """

    def __init__(
        self, plot: Plot, runs: Runs, numbers: pd.DataFrame, recorded: Callable[[], Recorded],
        bins: Callable[[], pd.DataFrame] = pd.DataFrame,
    ) -> None:  # fmt: skip
        """Take the sources of the numbers.

        Args:
            plot: The plot.
            runs: The runs.
            numbers: The published numbers.
            recorded: Reads the recorded series.
            bins: Reads the bins of recorded histograms.
        """
        self.plot, self.runs, self._numbers, self._recorded, self._bins = plot, runs, numbers, recorded, bins
        self.tooltips: dict[str, Sequence[str]] = {}
        self.keys: list[Any] = []
        """Artists that appear only in the legend, such as the meaning of a colour or a dash."""

    @property
    def there(self) -> pd.Index:
        """The runs that the plot selects."""
        return self.runs.at(self.plot.study, dict(self.plot.where))

    def say(self, artist: Any, texts: Sequence[str], name: str = "") -> None:
        """Set the tooltips that an HTML page shows for an artist's marks, one text for each mark.

        `name` becomes the artist's gid, by which a test finds it.
        """
        name = name or f"mark {len(self.tooltips)}"
        artist.set_gid(name)
        self.tooltips[name] = texts

    # ---- scalars ----------------------------------------------------------------------------------------------------
    def values(self, formula: str = "") -> pd.DataFrame:
        """Return a row for each run: series, engine, x and value, which is `formula` or the plot's y."""
        plot, there = self.plot, self.there
        return pd.DataFrame({
            "series": _labels(self.runs, plot.series, there), "engine": self.runs.runs.loc[there, "engine"],
            "x": _positions(self.runs, plot.x, there), "value": self.runs.quantity(formula or plot.y, there),
        }).dropna(subset=["value"])  # fmt: skip

    def means(self) -> pd.DataFrame:
        """Return mean and 95 % interval of the plot's y for each series, engine and x, with the columns `NUMBERS`."""
        return _means(self.values())

    def changes(self, against: str) -> pd.DataFrame:
        """Return mean and interval of the differences of y to the series `against`, as `NUMBERS`. `runs` counts pairs.

        The two runs of a pair have the same seed, engine and parameters, except for the parameter of the series.
        """
        values = self.values()
        texts = self.runs.texts.drop(columns=self.plot.series, errors="ignore").reindex(values.index).fillna("")
        rest: Any = [*map(tuple, texts.to_numpy())]
        values = values.assign(seed=self.runs.runs["seed"], rest=rest)
        values = values.dropna(subset=["seed"])
        same = values["series"] == _text(against)
        base = values.loc[same, [*_PAIR, "value"]]
        pairs = values[~same].merge(base, on=_PAIR, suffixes=("", "_against"))
        return _means(pairs.assign(value=pairs["value"] - pairs["value_against"]))

    # ---- recorded series --------------------------------------------------------------------------------------------
    def samples(self) -> Frame | None:
        """Return the samples of the series that y names, with engine and series, as a pandas or Spark frame.

        Return None if no run recorded it.
        """
        plot, there, recorded = self.plot, self.there, self._recorded()
        vectors = recorded.vectors
        chosen = vectors[vectors["run_id"].isin(there) & _matching(vectors, plot.y)]
        if chosen.empty:
            return None
        keys = chosen[["run_id", "vector_id"]].assign(
            engine=self.runs.runs.loc[chosen["run_id"], "engine"].to_numpy(),
            series=_labels(self.runs, plot.series, pd.Index(chosen["run_id"])).to_numpy(),
        )
        return join(recorded.samples, keys, ["run_id", "vector_id"])

    def bins(self) -> pd.DataFrame:
        """Return the bins of recorded histograms that y names: series, engine, run_id, value, edge (the lower edge)."""
        plot, there, bins = self.plot, self.there, self._bins()
        if bins.empty:
            return bins.assign(engine="", series="")
        chosen = bins[bins["run_id"].isin(there) & _matching(bins, plot.y)]
        runs = pd.Index(chosen["run_id"])
        return chosen.assign(
            engine=self.runs.runs.loc[runs, "engine"].to_numpy(),
            series=_labels(self.runs, plot.series, runs).to_numpy(),
        )

    def states(self, most: int) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
        """Return the changes of a series in the first run of each engine as times [s] and values, by engine and module.

        The last value is repeated at the end of all series. `most` limits the number of modules.
        """
        there = self.there
        first = self.runs.runs.loc[there].reset_index().groupby("engine")["run_id"].min()
        joined = self.samples()
        if joined is None:
            return {}
        samples = in_memory(joined[joined["run_id"].isin(list(first))])
        timed = samples.assign(time_ps=means.times_ps(samples))
        timed = timed.merge(self._recorded().vectors, on=["run_id", "vector_id"])
        found = {}
        end = float(timed["time_ps"].max()) / 1e12 if len(timed) else 0.0
        groups = [(str(e), str(m), rows) for (e, m), rows in timed.groupby(["engine", "module"])]
        for engine, module, rows in sorted(groups, key=lambda one: (one[0], _in_natural_order(one[1]))):
            rows = rows.sort_values(["time_ps", "event", "value"], kind="stable", na_position="first")
            values, times = rows["value"].to_numpy(float), rows["time_ps"].to_numpy(float) / 1e12
            changes = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
            kept = _visible_changes(times[changes], end)
            at = changes[kept]
            found[engine, module] = [*times[at], end], [*values[at], values[at[-1]]]
            if len(found) == most:
                break
        return found

    def over_time(self, bins: int) -> pd.DataFrame:
        """Return mean and interval of a series in bins of simulated time, as `NUMBERS`.

        The x of a bin is its middle in seconds.
        """
        joined = self.samples()
        if joined is None:
            return numbers([])
        width_ps = max(1, -(-(means.last_ps(joined) + 1) // bins))
        frame = in_memory(means.time_series(joined, ["engine", "series"], width_ps)).sort_values("bin")
        middles = [(number * width_ps + width_ps / 2) / 1e12 for number in frame["bin"].tolist()]
        columns = ["series", "engine", "x", "mean", "ci_low", "ci_high", "runs"]
        return numbers(list(frame.assign(x=middles)[columns].itertuples(index=False, name=None)))

    # ---- published numbers ------------------------------------------------------------------------------------------
    def published(self) -> pd.DataFrame:
        """Return the published numbers of the plot's place in its paper that measure its quantity, as `NUMBERS`."""
        plot, rows = self.plot, []
        paper, _, place = (part.strip() for part in plot.paper.partition(","))
        for number in self._numbers.to_dict("records"):
            parameters: Mapping[str, Any] = number["parameters"]
            here = number["paper"] == paper and number["where"] == place and number["study"] == plot.study
            if not here or _normalized(number["scalar"]) != _normalized(plot.y) or not _agrees(parameters, plot.where):
                continue
            x = parameters.get(plot.x, "")
            at = float(x) if isinstance(x, int | float) and not isinstance(x, bool) else _text(x)
            series = _text(parameters.get(plot.series, "")) if plot.series else ""
            rows.append((series, "published", at, number["published"], number["low"], number["high"], 0))
        return numbers(rows)


def _means(values: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 95 % interval of the values at each series, engine and x, as `NUMBERS`."""
    rows = []
    for (series, engine, x), group in values.groupby(["series", "engine", "x"])["value"]:
        count, mean, _, low, high = arithmetic.interval(group.tolist())
        rows.append((series, engine, x, mean, low, high, count))
    return numbers(rows)


def numbers(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return rows of `NUMBERS` as a frame, sorted by series (2Mbps before 11Mbps) and engine."""
    rows = sorted(rows, key=lambda row: (*_natural(row[0]), row[1]))
    frame = pd.DataFrame(rows, columns=list(NUMBERS)).astype({"x": object})
    return frame.astype(dict.fromkeys(("mean", "low", "high"), float))


def _natural(text: str) -> tuple[Any, ...]:
    try:
        return 0, float(text), text
    except ValueError:
        quantity = in_base_units(text)
        return (1, 0.0, text) if quantity is None else (0, quantity, text)


def _matching(vectors: pd.DataFrame, name: str) -> pd.Series:
    """Return a mask of the vectors that have this name or this `module.name`, or that match it as a pattern."""
    whole = vectors["module"] + "." + vectors["name"]
    if "*" not in name:
        return (vectors["name"] == name) | (whole == name)
    fits = matcher(name)
    return whole.isin({one for one in whole.unique() if fits(one)})


def _in_natural_order(module: str) -> list[tuple[int, str]]:
    """Return a sort key that puts host[2] before host[10]."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", module)]


def _visible_changes(times: np.ndarray, end: float) -> np.ndarray:
    """Return the changes of state that are visible.

    If several changes are within 1/1000 of the width, only the last one is visible.
    """
    if len(times) < 2:
        return np.arange(len(times))
    narrow = np.diff(times) < (end - times[0]) / 1000
    return np.flatnonzero(np.concatenate([~narrow, [True]]))


def _labels(runs: Runs, parameter: str, there: pd.Index) -> pd.Series:
    if not parameter or parameter not in runs.texts:
        return pd.Series("", index=there)
    return runs.texts[parameter].reindex(there).fillna("")


def _positions(runs: Runs, parameter: str, there: pd.Index) -> pd.Series:
    """Return the parameter's value for each run, as a number if all values are numbers, and as text otherwise."""
    if parameter not in runs.texts:
        return pd.Series("", index=there)
    numbers = runs.numbers[parameter].reindex(there)
    return runs.texts[parameter].reindex(there).fillna("") if numbers.isna().any() else numbers.astype(float)


def _agrees(parameters: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(name not in parameters or parameters[name] == value for name, value in where.items())


def _normalized(formula: str) -> str:
    return "".join(formula.split())


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
