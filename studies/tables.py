"""Tables of results in docs/papers, written from result folders.

A study's package may have a module `tables` with

    SCALARS = ("packets", "latency")                    the scalars that its tables read
    TABLES = {"table1": table1, "fig7 fig8": fig7}      what the page's marker says -> a function of `Measured`

A function gives lines of markdown. What the folders hold is first reduced to one line a run (`numbers/STUDY.csv`
beside the pages), so that the tables can be written again, and tested, without the folders.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from causeway.analysis import published, store, versions
from causeway.analysis.reduce import arithmetic, expression
from causeway.analysis.reduce.scalars import run_values
from causeway.bridge.errors import UserError
from causeway.studies.study import Study

KEYS = ("engine", "seed", "parameters")
MARKED = re.compile(r"(<!-- table: (\S+)([^>]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
Row = dict[str, Any]
Table = Callable[["Measured"], Sequence[str]]


class NotRun(UserError):
    """A table shows a point that no run is of."""


@dataclass(frozen=True)
class Measured:
    """Some runs of a study: what a table is made of."""

    study: Study
    rows: tuple[Row, ...]
    """engine, seed, parameters (all of them), and the scalars."""

    def at(self, engine: str = "", free: Collection[str] = (), **point: Any) -> Measured:
        """The runs of one point: parameters that are not given have their default values, but for those that are
        `free`. engine "": all."""
        wanted = self.study.Params(**point).model_dump(exclude=set(free))
        here = (row for row in self.rows if wanted.items() <= row["parameters"].items())
        return Measured(self.study, tuple(row for row in here if not engine or row["engine"] == engine))

    def values(self, formula: str) -> list[float]:
        """A scalar, or an expression over scalars, of every run that has it."""
        found = [float(expression.evaluate(formula, row.get, _divide)) for row in self._with(formula)]
        return [value for value in found if not math.isnan(value)]

    def _with(self, formula: str) -> list[Row]:
        names = expression.names(formula)
        return [row for row in self.rows if all(row.get(name) is not None for name in names)]

    def mean(self, formula: str) -> float:
        values = self.values(formula)
        if not values:
            raise NotRun(f"no run has {formula} at one of its points")
        return sum(values) / len(values)

    def interval(self, formula: str) -> tuple[float, float]:
        """Of the mean, 95 %."""
        return arithmetic.interval(self.values(formula))[3:]

    def paper(self, where: str, formula: str, **point: Any) -> float | None:
        """The number that the paper prints there for this scalar and point."""
        wanted = self.study.Params(**point).model_dump()
        for row in _published(type(self.study)):
            said = self.study.Params(**row["parameters"]).model_dump()
            if row["where"] == where and row["scalar"] == formula and said == wanted:
                return cast("float | None", row["published"])
        return None


@cache
def _published(study: type[Study]) -> list[dict[str, Any]]:
    path = study.published_file()
    return [row for row in published.read(path) if row["study"] == study.name] if path else []


def _divide(a: Any, b: Any) -> float:
    return float(a) / float(b) if b else math.nan


# ---- from folders to numbers ----------------------------------------------------------------------------------------


def reduced(study: Study, scalars: Sequence[str], folders: Iterable[Path]) -> tuple[Row, ...]:
    """One row for each finished run of the study in these folders."""
    found = [one for folder in folders for one in _of_folder(study, scalars, folder)]
    if not found:
        raise UserError(f"these folders hold no finished run of {study.name}")
    codes: dict[tuple[str, str], str] = {}
    for row, code in found:
        point, engine, _ = _key(row)
        if (first := codes.setdefault((point, engine), code)) != code:
            raise UserError(
                f"the folders hold runs by codes {versions.short(first)} and {versions.short(code)} of one point "
                f"({point}) on {engine}; a table is of one: name other folders"
            )
    return in_order({_key(row): row for row, _ in found}.values())


def _of_folder(study: Study, scalars: Sequence[str], folder: Path) -> list[tuple[Row, str]]:
    """Return each run of the study as a row, with its code."""
    runs = store.read_pandas(folder, "runs")
    runs = runs[runs["study"] == study.name].fillna({"code": ""})
    if versions.mixed_groups(runs):
        raise UserError(f"{folder}: {next(versions.told(folder, study.name))}; a table is of one: name other folders")
    given = store.read_pandas(folder, "parameters").groupby("run_id")
    texts = {run: dict(zip(rows["name"], rows["value"], strict=True)) for run, rows in given}
    values = run_values(store.read_pandas(folder, "scalars"), scalars).groupby("run_id")
    measured = {run: dict(zip(rows["name"], rows["value"], strict=True)) for run, rows in values}
    return [
        ({
            "engine": row["engine"], "seed": int(row["seed"]),
            "parameters": study.Params.model_validate(texts[row["run_id"]]).model_dump(),
            **{name: measured.get(row["run_id"], {}).get(name) for name in scalars},
        }, row["code"])
        for row in runs.to_dict("records")
    ]  # fmt: skip


def _key(row: Row) -> tuple[str, str, int]:
    return json.dumps(row["parameters"], sort_keys=True), row["engine"], row["seed"]


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=_key))


def text_of(study: Study, scalars: Sequence[str], rows: Iterable[Row]) -> str:
    """The file of numbers. Of the parameters it says those that are not as by default."""
    defaults = study.Params().model_dump()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*KEYS, *scalars])
    for row in rows:
        own = {name: value for name, value in row["parameters"].items() if value != defaults[name]}
        said = study.Params(**own).model_dump()  # the default of one may hang on another
        own |= {name: value for name, value in row["parameters"].items() if value != said[name]}
        cells = ["" if row.get(name) is None else f"{row[name]:.15g}" for name in scalars]
        writer.writerow([row["engine"], row["seed"], json.dumps(own), *cells])
    return out.getvalue()


def read(study: Study, text: str) -> tuple[Row, ...]:
    """The rows of a file of numbers."""
    rows = []
    for line in csv.DictReader(io.StringIO(text)):
        parameters = study.Params(**json.loads(line.pop("parameters"))).model_dump()
        engine, seed = line.pop("engine"), int(line.pop("seed"))
        values = {name: float(value) if value else None for name, value in line.items()}
        rows.append({"engine": engine, "seed": seed, "parameters": parameters, **values})
    return tuple(rows)


# ---- from numbers to the page ---------------------------------------------------------------------------------------


def module_of(study: Study) -> ModuleType:
    """The module `tables` beside the study."""
    package = type(study).__module__.rpartition(".")[0]
    name = f"{package}.tables"
    if not package or importlib.util.find_spec(name) is None:
        raise UserError(f"study {study.name} has no module 'tables' beside it: nothing says what its tables show")
    return importlib.import_module(name)


def written(page: str, study: Study, tables: Mapping[str, Table], rows: tuple[Row, ...]) -> tuple[str, list[str]]:
    """The page with its tables written anew; the names of those that were left, because no function writes them or a
    point of theirs was not run, and why."""
    measured, left = Measured(study, rows), []

    def replace(found: re.Match[str]) -> str:
        begin, name, table, _, end = found.groups()
        if name != study.name:
            return found[0]
        what = table.strip()
        if what not in tables:
            left.append(f"{what} (typed)")
            return found[0]
        try:
            return begin + "\n".join(tables[what](measured)) + "\n" + end
        except NotRun as error:
            left.append(f"{what} ({error})")
            return found[0]

    return MARKED.sub(replace, page), left


def update(study: Study, folders: Sequence[Path], page: Path, add: bool = False) -> list[str]:
    """Reduces the folders into the file of numbers (`add`: runs that are there and not in the folders stay), writes the
    page's tables. What was done, in words."""
    module, path = module_of(study), page.parent / "numbers" / f"{study.name}.csv"
    before = read(study, path.read_text()) if path.is_file() else ()
    told = []
    if folders:
        fresh = reduced(study, module.SCALARS, folders)
        rows = in_order({_key(row): row for row in (*(before if add else ()), *fresh)}.values())
        _land(path, text_of(study, module.SCALARS, rows))
        told.append(f"{path}: {len(rows)} runs")
    elif not before:
        raise UserError(f"there is no {path} yet: name the result folders that hold the runs")
    rows = read(study, path.read_text())
    text, left = written(page.read_text(), study, module.TABLES, rows)
    _land(page, text)
    told.append(f"{page}: tables written" + (f"; left as they are: {', '.join(left)}" if left else ""))
    return told


def _land(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with store.landing(path) as temporary:
        temporary.write_text(text)


# ---- words of tables ------------------------------------------------------------------------------------------------


def lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of markdown."""
    return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in (head,)] + [
        "|" + "---|" * len(head),
        *(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows),
    ]


def number(value: float, decimals: int = 0) -> str:
    return f"{value:,.{decimals}f}"


def percent(ratio: float, decimals: int = 1) -> str:
    """How far a ratio is from 1."""
    return f"{100 * (ratio - 1):+.{decimals}f} %"


def short(value: float) -> str:
    """Three digits that count."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def with_interval(values: Sequence[float], show: Callable[[float], str] = short) -> str:
    """Mean and 95 % interval; nothing where there is no run."""
    if not values:
        return ""
    _, mean, sd, low, high = arithmetic.interval(list(values))
    return show(mean) + (f" ± {show((high - low) / 2)}" if len(values) > 1 and sd > 0 else "")


def beside(measured: float, paper: float | None, decimals: int = 0) -> str:
    """A measured number, with the paper's in parentheses; "=" if it is the same to the last digit printed."""
    text = number(measured, decimals)
    if paper is None:
        return text
    return f"{text} (=)" if number(paper, decimals) == text else f"{text} ({number(paper, decimals)})"
