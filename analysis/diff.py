"""Compare two result folders (`diff`), or one with a baseline (`save`): the quantities that differ, and by how much."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from causeway.analysis import store, versions
from causeway.analysis.query.filters import select
from causeway.analysis.query.folder import Folder
from causeway.analysis.reduce import arithmetic
from causeway.analysis.reduce.means import mean_ci
from causeway.analysis.reduce.scalars import numbered
from causeway.analysis.remote import place
from causeway.errors import UserError

_POINT = ["study", "point", "engine"]
_KEPT = [*_POINT, "module", "name", "seed", "value"]
"""The columns of a baseline. Older baselines have no seeds."""
_SHOWN = 10


@dataclass(frozen=True)
class Difference:
    """One quantity (the mean of a scalar over the runs of a point) in both folders."""

    where: str
    a: float
    b: float
    pairs: int = 0
    """The number of seeds with a run in both folders."""
    change: float = math.nan
    """The mean of b - a over these seeds."""
    low: float = math.nan
    high: float = math.nan
    """The upper end of the 95 % interval of `change` by Student's t, computed from pairs of runs with one seed."""

    @property
    def relative(self) -> float:
        """The difference as a share of the larger value: 0 if both are equal, infinite if only one is a number."""
        if self.a == self.b or (math.isnan(self.a) and math.isnan(self.b)):
            return 0.0
        if not (math.isfinite(self.a) and math.isfinite(self.b)):
            return math.inf
        return abs(self.a - self.b) / max(abs(self.a), abs(self.b))

    def __str__(self) -> str:
        text = f"{self.where}: {self.a:.6g} and {self.b:.6g}, {self.relative:.3%} apart"
        if math.isnan(self.low):
            return text
        return f"{text}; B - A over {self.pairs} common seeds: {self.change:.6g} ({self.low:.6g} to {self.high:.6g})"


@dataclass
class DiffResult:
    """The result of a comparison: quantities in both folders, and quantities in only one of them."""

    threshold: float
    compared: list[Difference] = field(default_factory=list)
    only_a: list[str] = field(default_factory=list)
    only_b: list[str] = field(default_factory=list)

    @property
    def worst(self) -> Difference | None:
        """The largest relative difference; if several are equal, the first by name."""
        return max(self.compared, key=lambda one: one.relative, default=None)

    @property
    def passed(self) -> bool:
        """True if both folders hold the same quantities and no difference exceeds the threshold."""
        return bool(self.compared) and not self.only_a and not self.only_b and self.worst_relative <= self.threshold

    @property
    def worst_relative(self) -> float:
        """The relative difference of `worst`; 0 if nothing was compared."""
        return self.worst.relative if self.worst else 0.0

    def frame(self) -> pd.DataFrame:
        """Return all quantities as a DataFrame, the largest difference first.

        The column `only` names the folder of a quantity that only one of them has.
        """
        rows: list[tuple[Any, ...]] = [
            (one.where, one.a, one.b, one.relative, one.change, one.low, one.high, one.pairs) for one in self.compared
        ]
        rows += [(where, *[math.nan] * 2, math.inf, *[math.nan] * 3, 0) for where in (*self.only_a, *self.only_b)]
        found = pd.DataFrame(rows, columns=["where", "a", "b", "relative", "change", "low", "high", "pairs"])
        sides = ["both"] * len(self.compared) + ["a"] * len(self.only_a) + ["b"] * len(self.only_b)
        return found.assign(only=sides).sort_values("relative", ascending=False, kind="stable", ignore_index=True)

    def __str__(self) -> str:
        above = sorted((d for d in self.compared if d.relative > self.threshold), key=lambda d: -d.relative)
        lines = [str(difference) for difference in above[:_SHOWN]]
        if len(above) > _SHOWN:
            lines.append(f"... and {len(above) - _SHOWN} more above the threshold")
        for side, missing in (("A", self.only_a), ("B", self.only_b)):
            if missing:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                lines.append(f"only in {side}: {missing[0]}{more}")
        lines.append(f"{len(self.compared)} quantities compared, {len(above)} above the threshold {self.threshold:g}")
        if self.worst and self.worst_relative:
            lines.append(f"worst: {self.worst}")
        return "\n".join(lines)


def diff(
    a: str | Path, b: str | Path, threshold: float = 0.0, *, filter: str = "", vectors: bool = False
) -> DiffResult:
    """Compare the means of all scalars, point by point.

    If the folders have no engine in common, points are compared across engines. If a folder contains runs of several
    versions of the code, each version is compared with the same version in the other folder.

    Args:
        a: A result folder, or a baseline that `save` wrote.
        b: The other folder or baseline.
        threshold: The relative difference that is allowed.
        filter: Select quantities by an expression, as in `causeway.results`.
        vectors: Compare recorded series, too: their number of samples, their mean and their last time.
    """
    both_runs = versions.distinguished_together([_runs_of(place(one)) for one in (a, b)])
    found = [_quantities(place(one), vectors, runs) for one, runs in zip((a, b), both_runs, strict=True)]
    frames = [_chosen(frame, filter) for frame in found]
    if not any(map(len, frames)):
        what = f"the filter {filter!r} selects none of their quantities" if filter else "neither contains a quantity"
        raise UserError(f"nothing of {a} and {b} is compared: {what}; `causeway.results.open(DIR).find()` lists them")
    engines = [set(frame["engine"]) for frame in frames]
    by = ["study", "point"] if engines[0].isdisjoint(engines[1]) else _POINT
    key = [*by, "module", "name"]
    left, right = (_means(frame, key) for frame in frames)
    both, changes = left.index.intersection(right.index), _changes(frames[0], frames[1], key)
    return DiffResult(
        threshold,
        [Difference(_where(key), left[key], right[key], *changes.get(key, ())) for key in both],
        [_where(key) for key in left.index.difference(right.index)],
        [_where(key) for key in right.index.difference(left.index)],
    )


def save(folder: str | Path, path: Path, *, vectors: bool = False) -> int:
    """Write the quantities that `diff` compares into a CSV file, a baseline; return the number of its rows."""
    runs = versions.distinguished(_runs_of(place(folder)))
    kept = _quantities(place(folder), vectors, runs)[_KEPT]
    with store.replacing(path) as temporary:
        kept.sort_values([*_POINT, "module", "name"], kind="stable").to_csv(temporary, index=False, na_rep="nan")
    return len(kept)


def _runs_of(where: Path) -> pd.DataFrame:
    """Return the runs of a folder; a baseline has none."""
    columns = ["run_id", *_POINT, "code", "seed"]
    return pd.DataFrame(columns=columns) if where.is_file() else store.read_pandas(where, "runs", columns)


def _quantities(where: Path, vectors: bool, runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each run (or row of a baseline) and quantity."""
    if where.is_file():
        return _baseline(where)
    with store.one_state(where):
        store.read_arrow(where, "parameters")  # what the points mean; a damaged file is refused
        found = numbered(store.read_pandas(where, "scalars"))
        if vectors:
            series = _of_vectors(where)
            found = pd.concat([found, series], ignore_index=True) if len(series) else found
    return found.merge(runs.drop(columns="code"), on="run_id")


def _baseline(path: Path) -> pd.DataFrame:
    text = [*_POINT, "module", "name"]
    try:
        found = pd.read_csv(path, keep_default_na=False, dtype=dict.fromkeys(text, str))
        seeds = pd.to_numeric(found["seed"]) if "seed" in found else math.nan
        return found.assign(value=found["value"].astype(float), seed=seeds)[_KEPT]
    except KeyError as error:
        raise UserError(f"{path} is not a baseline of causeway diff --save: it has no column {error}") from None
    except ValueError as error:
        raise UserError(f"{path} is not a baseline of causeway diff --save: {error}") from None


def _of_vectors(folder: Path) -> pd.DataFrame:
    """Return the number of samples, the mean and the last time of every recorded series as scalars."""
    rows = []
    found = Folder(folder).vectors()
    for run_id, module, one in zip(found["run_id"], found["module"], found["series"], strict=True):
        numbers = {"samples": float(len(one))}
        if len(one):
            numbers |= {"mean": arithmetic.total(one.value.tolist()) / len(one), "last time": float(one.time_s[-1])}
        rows += [(run_id, module, f"{one.name} ({what})", value) for what, value in numbers.items()]
    return pd.DataFrame(rows, columns=["run_id", "module", "name", "value"])


def _chosen(frame: pd.DataFrame, text: str) -> Any:
    taken = select(text, lambda field: frame[field].tolist(), len(frame))
    return frame.loc[taken, :]


def _means(frame: pd.DataFrame, by: list[str]) -> pd.Series:
    means = mean_ci(frame, by)
    return means.set_index(by)["mean"].sort_index()


def _changes(a: pd.DataFrame, b: pd.DataFrame, key: list[str]) -> dict[Any, tuple[int, float, float, float]]:
    """Return for each quantity the number of common seeds, and the mean and the interval of b - a over these seeds."""
    sides = [
        frame[frame["seed"].notna()].drop_duplicates([*key, "seed"], keep=False)[[*key, "seed", "value"]]
        for frame in (a, b)
    ]
    pairs = sides[0].merge(sides[1], on=[*key, "seed"], suffixes=("_a", "_b"))
    found = mean_ci(pairs.assign(value=pairs["value_b"] - pairs["value_a"]), key)
    rows = zip(*(found[name] for name in ("runs", "mean", "ci_low", "ci_high")), strict=True)
    return dict(zip(found.set_index(key).index, rows, strict=True))


def _where(key: tuple[Any, ...]) -> str:
    *point, module, name = key
    return f"{' '.join(map(str, point))}, {name}" + (f" of {module}" if module not in ("", "run") else "")
