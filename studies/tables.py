"""Write the tables of results in docs/papers from result folders (`causeway tables`). Start here: `update`.

A study's package may have a module `tables` with

    SCALARS = ("packets", "latency")                    the scalars that its tables read
    TABLES = {"table1": table1, "fig7 fig8": fig7}      text of the page's marker -> a function of `Measured`

A function returns lines of markdown. Result folders are first reduced to one line per run (`numbers/PAGE.csv` beside
the page), so that the tables can be written again, and tested, without the folders.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from causeway.analysis import published, store, versions
from causeway.analysis.reduce import arithmetic, expression
from causeway.analysis.reduce.scalars import run_values
from causeway.errors import UserError
from causeway.studies.study import Study

KEYS = ("engine", "seed", "parameters")
MARKED = re.compile(r"(<!-- table: (\S+)([^>]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
Row = dict[str, Any]
Table = Callable[["Measured"], Sequence[str]]


class NotRun(UserError):
    """Raised if a table shows a point for which there is no run."""


@dataclass(frozen=True)
class Measured:
    """Some runs of a study, from which a table is computed."""

    study: Study
    rows: tuple[Row, ...]
    """One mapping per run: engine, seed, parameters (all of them), and the scalars."""

    def at(self, engine: str = "", free: Collection[str] = (), **point: Any) -> Measured:
        """Select the runs of one point.

        Args:
            engine: The engine; "": all.
            free: Parameters that may have any value.
            point: Values of parameters; all others have their defaults.
        """
        wanted = self.study.Params(**point).model_dump(exclude=set(free))
        if free:
            here = [row for row in self.rows if wanted.items() <= row["parameters"].items()]
        else:
            here = self.by_point.get(frozenset(wanted.items()), [])
        return Measured(self.study, tuple(row for row in here if not engine or row["engine"] == engine))

    @cached_property
    def by_point(self) -> dict[frozenset[tuple[str, Any]], list[Row]]:
        """The runs of each point."""
        found: dict[frozenset[tuple[str, Any]], list[Row]] = {}
        for row in self.rows:
            found.setdefault(frozenset(row["parameters"].items()), []).append(row)
        return found

    def values(self, formula: str) -> list[float]:
        """Return a scalar, or an expression over scalars and parameters, of every run that has it."""
        names = expression.names(formula)
        rows = [{name: _of(row, name) for name in names} for row in self.rows]
        whole = [row for row in rows if None not in row.values()]
        found = [float(expression.evaluate(formula, row.__getitem__, _divide)) for row in whole]
        return [value for value in found if not math.isnan(value)]

    def mean(self, formula: str) -> float:
        """Return the mean of a scalar, or of an expression over scalars; raise NotRun if no run has it."""
        values = self.values(formula)
        if not values:
            raise NotRun(f"no run of one of its points has {formula}")
        return sum(values) / len(values)

    def interval(self, formula: str) -> tuple[float, float]:
        """Return the 95 % confidence interval of the mean."""
        return arithmetic.interval(self.values(formula))[3:]

    def paper(self, where: str, formula: str, **point: Any) -> float | None:
        """Return the number that the paper prints for this scalar and point, None if none.

        Args:
            where: The table or figure of the paper, as in the published numbers.
            formula: The scalar, as in the published numbers.
            point: Values of parameters; all others have their defaults.
        """
        wanted = self.study.Params(**point).model_dump()
        for row in _published(type(self.study)):
            resolved = self.study.Params(**row["parameters"]).model_dump()
            if row["where"] == where and row["scalar"] == formula and resolved == wanted:
                return cast("float | None", row["published"])
        return None


@cache
def _published(study: type[Study]) -> list[dict[str, Any]]:
    path = study.published_file()
    return [row for row in published.read(path) if row["study"] == study.name] if path else []


def _of(row: Row, name: str) -> Any:
    """Return a scalar of a run, or a parameter if no scalar has this name."""
    return row[name] if row.get(name) is not None else row["parameters"].get(name)


def _divide(a: Any, b: Any) -> float:
    return float(a) / float(b) if b else math.nan


# ---- from folders to numbers ----------------------------------------------------------------------------------------


def reduced(study: Study, scalars: Sequence[str], folders: Iterable[Path], by_version: bool = False) -> tuple[Row, ...]:
    """Return one row for each finished run of a study in these folders.

    Args:
        study: The study.
        scalars: The scalars of a row.
        folders: Result folders.
        by_version: Take the version of the engine, ns-3.48, for the engine.

    Raises:
        UserError: There is none, or runs of one point have different code.
    """
    found = [one for folder in folders for one in _of_folder(study, scalars, folder, by_version)]
    if not found:
        raise UserError(f"these folders contain no finished run of {study.name}; `causeway run` makes runs")
    codes: dict[tuple[str, str], str] = {}
    for row, code in found:
        point, engine, _ = _key(row)
        if (first := codes.setdefault((point, engine), code)) != code:
            raise UserError(
                f"the folders contain runs of one point ({point}) on {engine} by two versions of the code, "
                f"{versions.short(first)} and {versions.short(code)}; a table shows one version: choose other folders"
            )
    return in_order({_key(row): row for row, _ in found}.values())


def _of_folder(study: Study, scalars: Sequence[str], folder: Path, by_version: bool) -> list[tuple[Row, str]]:
    """Return each run of the study as a row, with its code."""
    runs = store.read_pandas(folder, "runs")
    runs = runs[runs["study"] == study.name].fillna({"code": ""})
    if versions.mixed_groups(runs):
        mixed = next(versions.mixed_versions(folder, study.name))
        raise UserError(f"{folder}: {mixed}; a table shows one version: choose other folders")
    given = store.read_pandas(folder, "parameters").groupby("run_id")
    texts = {run: dict(zip(rows["name"], rows["value"], strict=True)) for run, rows in given}
    values = run_values(store.read_pandas(folder, "scalars"), scalars).groupby("run_id")
    measured = {run: dict(zip(rows["name"], rows["value"], strict=True)) for run, rows in values}
    return [
        ({
            "engine": row["engine_version" if by_version else "engine"], "seed": int(row["seed"]),
            "parameters": study.Params.model_validate(texts[row["run_id"]]).model_dump(),
            **{name: measured.get(row["run_id"], {}).get(name) for name in scalars},
        }, row["code"])
        for row in runs.to_dict("records")
    ]  # fmt: skip


def _key(row: Row) -> tuple[str, str, int]:
    return json.dumps(row["parameters"], sort_keys=True), row["engine"], row["seed"]


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Sort rows by parameters, engine and seed."""
    return tuple(sorted(rows, key=_key))


def text_of(study: Study, scalars: Sequence[str], rows: Iterable[Row]) -> str:
    """Return the text of a file of numbers. It contains only parameters that differ from their defaults."""
    defaults = study.Params().model_dump()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*KEYS, *scalars])
    for row in rows:
        own = {name: value for name, value in row["parameters"].items() if value != defaults[name]}
        reread = study.Params(**own).model_dump()  # the default of one parameter may depend on another
        own |= {name: value for name, value in row["parameters"].items() if value != reread[name]}
        cells = ["" if row.get(name) is None else f"{row[name]:.15g}" for name in scalars]
        writer.writerow([row["engine"], row["seed"], json.dumps(own), *cells])
    return out.getvalue()


def read(study: Study, text: str) -> tuple[Row, ...]:
    """Return the rows of a file of numbers."""
    rows = []
    for line in csv.DictReader(io.StringIO(text)):
        parameters = study.Params(**json.loads(line.pop("parameters"))).model_dump()
        engine, seed = line.pop("engine"), int(line.pop("seed"))
        values = {name: float(value) if value else None for name, value in line.items()}
        rows.append({"engine": engine, "seed": seed, "parameters": parameters, **values})
    return tuple(rows)


# ---- from numbers to the page ---------------------------------------------------------------------------------------


def module_of(study: Study) -> ModuleType:
    """Return the module `tables` beside the study; raise UserError if there is none."""
    found = tables_of(type(study))
    if found is None:
        raise UserError(f"study {study.name} has no module 'tables' beside it to define the tables of its page")
    return found


def tables_of(study: type[Study]) -> ModuleType | None:
    """Return the module `tables` beside the study, or None."""
    package = study.__module__.rpartition(".")[0]
    if not package or package not in sys.modules or importlib.util.find_spec(f"{package}.tables") is None:
        return None
    return importlib.import_module(f"{package}.tables")


def written(page: str, study: Study, tables: Mapping[str, Table], rows: tuple[Row, ...]) -> tuple[str, list[str]]:
    """Write the tables of a page again.

    Returns:
        The text of the page, and the names of unchanged tables, each with the reason: no function writes it, or a point
        of it was not run. Instead of a table that was never written, the page contains a note.
    """
    measured, left = Measured(study, rows), []

    def replace(found: re.Match[str]) -> str:
        begin, name, table, before, end = found.groups()
        if name != study.name:
            return found[0]
        title = table.strip()
        if title not in tables:
            left.append(f"{title} (typed)")
            return found[0]
        try:
            return begin + "\n".join(tables[title](measured)) + "\n" + end
        except NotRun as error:
            if "|" not in before:
                return begin + f"Not run: {error}.\n" + end
            left.append(f"{title} ({error})")
            return found[0]

    return MARKED.sub(replace, page), left


def update(study: Study, folders: Sequence[Path], page: Path, add: bool = False, by_version: bool = False) -> list[str]:
    """Reduce result folders into the file of numbers that belongs to a page, and write the page's tables.

    Args:
        study: The study.
        folders: Its result folders. Without folders, the file of numbers is not changed.
        page: The page.
        add: Keep runs of the file of numbers that are in none of the folders.
        by_version: Distinguish runs on several versions of an engine.

    Returns:
        One line for each file that was written.
    """
    module, path = module_of(study), page.parent / "numbers" / f"{page.stem}.csv"
    before = read(study, path.read_text()) if path.is_file() else ()
    written_files = []
    if folders:
        fresh = reduced(study, module.SCALARS, folders, by_version)
        rows = in_order({_key(row): row for row in (*(before if add else ()), *fresh)}.values())
        _write_atomically(path, text_of(study, module.SCALARS, rows))
        written_files.append(f"{path}: {len(rows)} runs")
    elif not before:
        raise UserError(f"there is no {path} yet: add the result folders that contain the runs")
    rows = read(study, path.read_text())
    text, left = written(page.read_text(), study, module.TABLES, rows)
    _write_atomically(page, text)
    written_files.append(f"{page}: tables written" + (f"; not changed: {', '.join(left)}" if left else ""))
    return written_files + _of_all(page.parent)


def _of_all(papers: Path) -> list[str]:
    """Write the tables of all papers: in the README beside the page, and in the README of the checkout."""
    from causeway.studies import scores

    candidates = (papers / "README.md", papers.parent.parent / "README.md")
    pages = [page for page in candidates if page.is_file() and f"<!-- table: {scores.ALL} " in page.read_text()]
    runs = scores.papers(papers / "numbers") if pages else []
    for page in pages:
        _write_atomically(page, scores.written(page.read_text(), runs))
    return [f"{page}: tables of all papers written" for page in pages]


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with store.replacing(path) as temporary:
        temporary.write_text(text)


# ---- cells of tables ------------------------------------------------------------------------------------------------


def lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table as lines of markdown."""
    return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in (head,)] + [
        "|" + "---|" * len(head),
        *(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows),
    ]


def number(value: float, decimals: int = 0) -> str:
    """Format a number with thousands separators."""
    return f"{value:,.{decimals}f}"


def percent(ratio: float, decimals: int = 1) -> str:
    """Format the difference of a ratio from 1 in percent."""
    return f"{100 * (ratio - 1):+.{decimals}f} %"


def short(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def with_interval(values: Sequence[float], show: Callable[[float], str] = short) -> str:
    """Format the mean and its 95 % interval; "" if there are no values.

    If one side of the interval is wider than the mean, the text is "too few seeds".
    """
    if not values:
        return ""
    _, mean, sd, low, high = arithmetic.interval(list(values))
    if (high - low) / 2 > abs(mean):
        return "too few seeds"
    return show(mean) + (f" ± {show((high - low) / 2)}" if len(values) > 1 and sd > 0 else "")


def of_points(
    measured: Measured, points: Mapping[str, Mapping[str, Any]], quantities: Mapping[str, str], first: str = "runs of"
) -> list[str]:
    """Return a table with a row for each point that was run, and a column for each quantity.

    Args:
        measured: All runs of the study.
        points: Maps the name of a row to the parameters of a point, perhaps with `engine`.
        quantities: Maps the head of a column to a scalar, or to an expression over scalars and parameters.
        first: The head of the first column.

    Raises:
        NotRun: None of the points was run.
    """
    found = [(words, measured.at(**point)) for words, point in points.items()]
    rows = [
        (words, *(with_interval(runs.values(quantity)) for quantity in quantities.values()), str(len(runs.rows)))
        for words, runs in found
        if runs.rows
    ]
    if not rows:
        raise NotRun("none of its points")
    return lines((first, *quantities, "seeds"), rows)


def beside(measured: float, paper: float | None, decimals: int = 0) -> str:
    """Format a measured number with the paper's in parentheses, or "=" if all printed digits are the same."""
    text = number(measured, decimals)
    if paper is None:
        return text
    return f"{text} (=)" if number(paper, decimals) == text else f"{text} ({number(paper, decimals)})"
