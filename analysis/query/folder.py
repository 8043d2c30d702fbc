"""Read a result folder as DataFrames: its runs and their results.

folder = causeway.results.open("results")
folder.scalars("delivery_delay_s OR loss_*", study="mobile20", engine="omnet")
folder.vectors('module =~ "node[3]"', start_s=10, end_s=60)
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from causeway.analysis import store
from causeway.analysis.query.filters import select
from causeway.analysis.query.series import Series
from causeway.analysis.remote import place
from causeway.analysis.versions import mixed_groups
from causeway.errors import UserError

if TYPE_CHECKING:
    import xarray

NO_PARAMETERS = frozenset({"repetition"})
"""Parameters of converted runs that only number the repetitions."""
RUN_COLUMNS = ("study", "point", "engine", "seed")
_TYPES = {"scalars": "scalar", "vectors": "vector", "statistics": "statistics", "bins": "histogram"}
_KINDS = {"runattr": ("attributes", "name", "value"), "config": ("config", "name", "value")}


def open(directory: str | Path) -> Folder:
    """Open a result folder that `causeway run --out` or `causeway convert --out` wrote."""
    path = place(directory)
    if not (path / "tables").is_dir():
        raise UserError(f"{path} is not a result folder (it has no tables/); name the --out of causeway run or convert")
    return Folder(path)


class Folder:
    """A result folder in the state in which it was opened.

    Tables are read once; open the folder again to see later runs.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._state = path, store.state_of(path)
        self._tables: dict[str, Any] = {}

    # ---- runs -------------------------------------------------------------------------------------------------------
    def runs(self, **where: Any) -> pd.DataFrame:
        """Return a row for each run, with the parameters as columns.

        `where` selects runs by columns: study, engine, seed, or any parameter, each with a value or a list of values.
        """
        runs = self._runs()
        for name, wanted in where.items():
            if name not in runs:
                raise UserError(f"{self.path} has no parameter or column '{name}'; it has {', '.join(runs.columns)}")
            runs = runs[_equal(runs[name], name, wanted)]
        return runs

    def parameters(self) -> list[str]:
        """Return the names of all parameters. Those that differ between runs come first."""
        names = [name for name in self._runs().columns if name not in self._table("runs").columns]
        varied = [name for name in names if self._runs()[name].nunique(dropna=False) > 1]
        return varied + [name for name in names if name not in varied]

    def find(self, filter: str = "", **where: Any) -> pd.DataFrame:
        """Return modules and names of the scalars that the filter selects, and the number of runs that have them."""
        found = self._selected("scalars", filter, where)
        counted = found.groupby(["module", "name"], sort=True)["run_id"].nunique()
        return counted.rename("runs").reset_index()

    # ---- scalars ---------------------------------------------------------------------------------------------------
    def scalars(self, filter: str = "", *, wide: bool = False, **where: Any) -> pd.DataFrame:
        """Return a row for each scalar: module, name, value, and the study, engine, seed and parameters of its run.

        A parameter is a column only if it differs between runs.

        Args:
            filter: An expression (see `causeway.analysis.query.filters`).
            wide: Return a row for each run and a column for each scalar (`module.name` if several modules have one of
                the same name; `name #2` for the second of the same name in one module).
            **where: Select runs, as in `runs`.
        """
        found = self._selected("scalars", filter, where)
        runs = self._described(found["run_id"].unique())
        if not wide:
            return found.merge(runs, on="run_id", how="left")
        names = found["name"]
        if found.duplicated(["run_id", "name"]).any():
            names = found["module"] + "." + names
        columns = found.assign(column=names)
        again = columns.groupby(["run_id", "column"]).cumcount()
        columns["column"] = names.where(again == 0, names + " #" + (again + 1).astype(str))
        return runs.merge(columns.pivot(index="run_id", columns="column", values="value"), on="run_id", how="right")

    def array(self, scalar: str, *dimensions: str, **where: Any) -> xarray.DataArray:
        """Return one scalar as an xarray: a dimension for each of `dimensions` (parameters), and one of repetitions.

        Repetitions may differ only in their seeds. If runs differ in another parameter, in the engine or in the code,
        UserError is raised: then name it as a dimension, or select one value of it (`where`).
        """
        try:
            import xarray
        except ModuleNotFoundError:
            raise UserError("arrays need xarray (pip install xarray)") from None
        found = self._selected("scalars", f'"{scalar}"', where).merge(self.runs(), on="run_id")
        missing = [name for name in dimensions if name not in found]
        if missing or found.empty:
            raise UserError(f"{self.path} has no {'parameter ' + missing[0] if missing else 'scalar ' + scalar}")
        if found["run_id"].duplicated().any():
            modules = ", ".join(sorted(found["module"].unique())[:4])
            raise UserError(
                f"a run has several scalars {scalar} ({modules}), which are no repetitions; select one with "
                f"scalars('name =~ \"{scalar}\" AND module =~ ...')"
            )
        self._refuse_pooling(found, dimensions)
        found["repetition"] = (
            found.groupby(list(dimensions), dropna=False).cumcount() if dimensions else range(len(found))
        )
        indexed = found.set_index([*dimensions, "repetition"])["value"]
        return xarray.DataArray.from_series(indexed).rename(scalar)

    def _refuse_pooling(self, found: Any, dimensions: Sequence[str]) -> None:
        """Refuse runs that differ in more than their seeds and the dimensions, since they are not repetitions."""
        apart = ["study", "engine", "code", *(name for name in self.parameters() if name not in NO_PARAMETERS)]
        free = [name for name in apart if name in found and name not in dimensions]
        texts = found[free].astype(str).assign(code=found["code"].fillna("")) if "code" in free else found[free]
        counts = texts.groupby([found[name] for name in dimensions], dropna=False) if dimensions else texts
        for name in free:
            most = counts[name].nunique(dropna=False)
            if (most.max() if dimensions else most) > 1:
                values = ", ".join(sorted(map(str, texts[name].unique()))[:4])
                raise UserError(
                    f"runs in one cell of the array differ in {name} ({values}): name {name} as a dimension, or choose "
                    f"one value, array(..., {name}=...)"
                )

    # ---- vectors ---------------------------------------------------------------------------------------------------
    def vectors(
        self,
        filter: str = "",
        *,
        start_s: float | None = None,
        end_s: float | None = None,
        **where: Any,
    ) -> pd.DataFrame:
        """Return a row for each series: module, name, unit, its run's columns, and `series`, a `Series`.

        Samples are those from `start_s` on and before `end_s`; `filter` and `where` are those of `scalars`.
        """
        for name, bound in (("start_s", start_s), ("end_s", end_s)):
            is_number = isinstance(bound, int | float | np.integer | np.floating) and not isinstance(bound, bool)
            if bound is not None and (not is_number or bound != bound):
                raise UserError(f"{name} is {bound!r}; allowed: a number of seconds, or None")
        found = self._selected("vectors", filter, where)
        found = found.merge(self._described(found["run_id"].unique()), on="run_id", how="left")
        samples = dict(self._samples(found, start_s, end_s))
        none = np.empty(0), np.empty(0)
        keys = zip(found["run_id"], found["vector_id"], found["name"], found["unit"], strict=True)
        made = []
        for run_id, vector, name, unit in keys:
            time_s, value = samples.get((run_id, vector), none)
            made.append(Series(time_s, value, name, unit))
        return found.assign(series=pd.Series(made, dtype=object))

    def series(self, name: str, *, module: str = "*", **where: Any) -> Series:
        """Return the only series with this name; raise UserError if there are several, or none."""
        found = self.vectors(f'name =~ "{name}" AND module =~ "{module}"', **where)
        if len(found) != 1:
            some = ", ".join(f"{row.run_id} {row.module}" for row in found.head(5).itertuples())
            raise UserError(
                f"{self.path} has {len(found)} series {name!r}"
                + (f" ({some}, ...); select a run or a module" if some else "")
            )
        return found["series"].iloc[0]

    # ---- statistics -------------------------------------------------------------------------------------------------
    def statistics(self, filter: str = "", **where: Any) -> pd.DataFrame:
        """Return a row for each statistic, with a column for each field (count, mean, stddev, ...)."""
        found = self._selected("statistics", filter, where)
        keys = ["run_id", "module", "name"]
        return found.drop_duplicates([*keys, "field"]).pivot(index=keys, columns="field", values="value").reset_index()

    def histograms(self, filter: str = "", **where: Any) -> pd.DataFrame:
        """Return a row for each histogram: `edges` and `counts`.

        The first and last counts are those beyond the edges.
        """
        found = self._selected("bins", filter, where).sort_values("position", kind="stable")
        keys = ["run_id", "module", "name"]
        rows = [
            (*key, bins["edge"].to_numpy(), bins["value"].to_numpy()) for key, bins in found.groupby(keys, sort=True)
        ]
        return pd.DataFrame(rows, columns=[*keys, "edges", "counts"])

    # ---- inside ----------------------------------------------------------------------------------------------------
    def _table(self, name: str) -> Any:
        if name not in self._tables:
            with store.one_state(at=[self._state]):
                self._tables[name] = store.read_pandas(self.path, name)
        return self._tables[name]

    def _runs(self) -> Any:
        """Return the runs with their parameters; a parameter whose values are all numbers is a column of numbers."""
        if "" not in self._tables:
            given = self._table("parameters").drop_duplicates(["run_id", "name"], keep="last")
            wide = given.pivot(index="run_id", columns="name", values="value")
            numbers = given.pivot(index="run_id", columns="name", values="number")
            for name in wide:
                if numbers[name].notna().equals(wide[name].notna()):
                    wide[name] = numbers[name]
            clash = {name: f"param:{name}" for name in wide if name in self._table("runs")}
            self._tables[""] = self._table("runs").merge(
                wide.rename(columns=clash).reset_index(), on="run_id", how="left"
            )
        return self._tables[""]

    def _described(self, run_ids: Any) -> Any:
        """Return study, point, engine, seed and varying parameters of these runs, and the code if it varies."""
        runs = self._runs()
        runs = runs[runs["run_id"].isin(run_ids)]
        varied = [name for name in self.parameters() if runs[name].nunique(dropna=False) > 1]
        code = ["code"] if mixed_groups(runs) else []
        return runs.loc[:, ["run_id", *RUN_COLUMNS, *code, *varied]]

    def _selected(self, table: str, text: str, where: dict[str, Any]) -> Any:
        if not isinstance(text, str):
            raise UserError(f"a filter is a text, not {text!r}; write it as in 'loss_* OR delay' (\"\" takes all)")
        found = self._table(table)
        if where:
            found = found[found["run_id"].isin(self.runs(**where)["run_id"])]
        mask = select(text, lambda field: self._field(table, found, field), len(found))
        return found.loc[mask].reset_index(drop=True)

    def _field(self, table: str, found: Any, field: str) -> list[Any]:
        """Return the values of a filter's field, row by row; raise KeyError if there is no such field."""
        if field in found:
            return found[field].tolist()
        kind, _, name = field.partition(":")
        if field == "type":
            return [_TYPES[table]] * len(found)
        if field == "run":
            return found["run_id"].tolist()
        if kind in ("param", "itervar") and name:
            given = self._table("parameters")
            values = given[given["name"] == name].drop_duplicates("run_id", keep="last").set_index("run_id")["value"]
        elif kind in _KINDS and name:
            source, key, value = _KINDS[kind]
            given = self._table(source)
            if source == "attributes":
                given = given[given["owner"] == "run"]
            values = given[given[key] == name].drop_duplicates("run_id", keep="last").set_index("run_id")[value]
        elif kind == "attr" and name and {"module", "name"} <= builtins.set(found.columns):
            return self._attribute(found, name)
        else:
            values = self._table("runs").set_index("run_id")[field]
        return [None if value is None or value != value else value for value in found["run_id"].map(values)]

    def _attribute(self, found: Any, name: str) -> list[Any]:
        given = self._table("attributes")
        given = given[(given["name"] == name) & (given["owner"] != "run")]
        known = dict(
            zip(zip(given["run_id"], given["module"], given["item"], strict=True), given["value"], strict=True)
        )
        return [known.get(key) for key in zip(found["run_id"], found["module"], found["name"], strict=True)]

    def _samples(self, found: Any, start_s: float | None, end_s: float | None) -> Iterator[tuple[Any, Any]]:
        """Yield ((run, vector), (times, values)) of each series in `found`, in the order in which it was recorded."""
        if found.empty:
            return
        with store.one_state(at=[self._state]):
            some = pc.field("run_id").isin(found["run_id"].unique().tolist())
            table = store.read_arrow(self.path, "samples", where=some)
        frame = table.select(["run_id", "vector_id", "time_raw", "time_exp", "value"]).to_pandas()
        time_s = frame["time_raw"].to_numpy() * 10.0 ** frame["time_exp"].to_numpy()
        frame = frame.assign(time_s=time_s)
        if start_s is not None:
            frame = frame[frame["time_s"] >= start_s]
        if end_s is not None:
            frame = frame[frame["time_s"] < end_s]
        for key, rows in frame.groupby(["run_id", "vector_id"], sort=False):
            yield key, (rows["time_s"].to_numpy(), rows["value"].to_numpy())


def _equal(column: Any, name: str, wanted: Any) -> Any:
    """Return a mask of the rows with the value, or with one of the values.

    Numbers are compared by value, and True matches `true`.
    """
    one = isinstance(wanted, str) or not isinstance(wanted, Iterable)
    values = [wanted] if one else list(wanted)
    if not pd.api.types.is_numeric_dtype(column):
        return column.astype(str).isin([text for value in values for text in _texts(value)])
    try:
        return column.isin([float(value) for value in values])
    except (TypeError, ValueError):
        raise UserError(
            f"{name} holds numbers, and {wanted!r} is not a number; write {name}=1 or {name}=[1, 2]"
        ) from None


def _texts(value: Any) -> tuple[str, ...]:
    """Return the texts by which the table of parameters may contain a value."""
    return (str(value).lower(), str(value)) if isinstance(value, bool | np.bool_) else (str(value),)
