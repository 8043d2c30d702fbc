"""Compare every number that a paper prints with runs of each of our readings of the paper (`scores`, `overview`).

A reading is an interpretation of what the paper leaves open.

A study's module `tables` has

    READINGS = (Reading("the printed text", ...), Reading("the authors' program", ...), Reading("ours", ...))
    is_number(row)              True if a row of the published numbers counts, so that each number counts once
    PAIRED = {"fewer ...": f}   numbers from runs of several points, or from all runs of one: quantity -> a function of
                                `Measured` and the row that returns values, or a `Score`
    IMPOSSIBLE = {...}          numbers that the paper's own model cannot give: (where, quantity, condition) -> reason
    is_fitted(row, point)       True if a parameter of this point was chosen by this number
    is_drawn(parameters)        True if random numbers are drawn at this point; otherwise all its runs are equal
    TRIED = (Tried("Table 1", ("readings",), across=("processes",)), ...)

The last of READINGS is the one that the overview shows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from causeway.analysis import published
from causeway.analysis.reduce import arithmetic
from causeway.analysis.reduce.comparison import nearest_published
from causeway.analysis.report import verdict
from causeway.analysis.report.verdict import explained
from causeway.studies import registry, tables
from causeway.studies.tables import Measured, Row, lines, short, with_interval

Change = Callable[[dict[str, Any]], dict[str, Any] | None]
KINDS = (*verdict.KINDS, "missing")
"""The classes of the overview: those of the report (`causeway.analysis.report.verdict`), and `missing`: not run, or not
measured by any run."""
ALL = "all"
"""The name in the markers of tables of all papers."""


@dataclass(frozen=True)
class Reading:
    """An interpretation of a paper: for each number that it prints, the point that was run."""

    name: str
    change: Change
    """Maps the parameters of a published number to those of this reading, or to None if it has no such point."""
    engine: str = ""


@dataclass(frozen=True)
class Score:
    """A published number under one reading."""

    kind: str
    """One of KINDS."""
    text: str
    factor: float
    """Our mean divided by the published number or by its nearest bound; NaN if there is none."""
    seeds: int = 0
    """The number of runs."""


@dataclass(frozen=True)
class Tried:
    """A headline, and the sweeps with the readings that were tried for it."""

    headline: str
    sweeps: tuple[str, ...]
    across: tuple[str, ...] = ()
    """Parameters that distinguish points of one reading: sizes, experiments."""
    elsewhere: int = 0
    """The number of readings that were tried with code outside this project. They cannot be run again."""


def numbers(measured: Measured, module: ModuleType) -> list[dict[str, Any]]:
    """Return the rows of all numbers that a paper prints, each number once."""
    path = measured.study.published_file()
    assert path is not None
    return [row for row in published.read(path) if row["study"] == measured.study.name and module.is_number(row)]


def remark(module: ModuleType, row: Mapping[str, Any], point: Mapping[str, Any]) -> str:
    """Return the reason why a number under the reading of this point is not judged or not counted; "" if it is."""
    if (row["where"], row["quantity"], row["condition"]) in module.IMPOSSIBLE:
        return "impossible"
    if not module.is_number(row):
        return published.ANOTHER_READING
    return "fitted" if module.is_fitted(row, point) else ""


def score(measured: Measured, module: ModuleType, row: Mapping[str, Any], reading: Reading) -> Score:
    """Judge the runs of one reading against a published number."""
    if (row["where"], row["quantity"], row["condition"]) in module.IMPOSSIBLE:
        return Score("impossible", "impossible", math.nan)
    point = reading.change(dict(row["parameters"]))
    if point is None:
        return Score("missing", "", math.nan)
    values = values_of(measured, module, {**row, "parameters": point}, reading.engine)
    if isinstance(values, Score):
        return values
    if not values:
        return Score("missing", "not run" if row["scalar"] != published.NOT_COMPARED else "not measured", math.nan)
    found = judge({**row, "drawn": module.is_drawn(point)}, values)
    fitted = remark(module, row, point) == "fitted"
    return replace(found, kind="fitted", text=f"{found.text} (fitted to it)") if fitted else found


def values_of(measured: Measured, module: ModuleType, row: Mapping[str, Any], engine: str) -> list[float] | Score:
    """Return the number of a row in each run of its point."""
    if row["quantity"] in module.PAIRED:
        found: list[float] | Score = module.PAIRED[row["quantity"]](measured, row)
        return found
    if row["scalar"] == published.NOT_COMPARED:
        return []
    formula = getattr(module, "FORMULAS", {}).get(row["scalar"], row["scalar"])
    return measured.at(engine=engine, **row["parameters"]).values(formula)


def judge(row: Mapping[str, Any], values: Sequence[float]) -> Score:
    """Judge the values of some runs against a published number or bounds."""
    _, mean, _, low, high = arithmetic.interval(list(values))
    half = with_interval(values)
    shown = short(mean) if half.startswith("too few") else half
    return judge_mean(row, shown, mean, (low, high), len(values))


def judge_mean(row: Mapping[str, Any], shown: str, mean: float, interval: tuple[float, float], count: int) -> Score:
    """Judge a mean with its interval and number of runs, formatted as `shown`, against a published number or bounds."""
    said, least, most = (_nan(row[name]) for name in ("published", "low", "high"))
    kind = verdict.judge({**row, "published": said, "low": least, "high": most}, mean, *interval, count).kind
    if kind == "exact":
        return Score(kind, short(mean) + " =", 1.0, count)
    nearest = nearest_published(mean, said, least, most)
    factor = mean / nearest if nearest else (1.0 if mean == nearest else math.inf)
    return Score(kind, f"{shown}, {_word(kind, factor, count)}", factor, count)


def _word(kind: str, factor: float, count: int) -> str:
    if kind == "too few seeds":
        return f"too few seeds ({count})"
    if kind == "inside":
        return "inside"
    if math.isinf(factor):
        return "not 0"
    return f"{100 * (factor - 1):+.0f} %" if factor < 2 else f"×{factor:.3g}"


# ---- tables of a page -----------------------------------------------------------------------------------------------


def scores(module: ModuleType) -> Callable[[Measured], list[str]]:
    """Return the table of all printed numbers of a paper: a column for each reading."""

    def table(measured: Measured) -> list[str]:
        rows = []
        for row in numbers(measured, module):
            printed = explained(row["relation"], *(_nan(row[name]) for name in ("published", "low", "high")))
            cells = (score(measured, module, row, reading).text for reading in module.READINGS)
            rows.append((row["where"], f"{row['quantity']}; {row['condition']}", printed, *cells))
        return lines(("where", "quantity", "paper", *(reading.name for reading in module.READINGS)), rows)

    return table


def grouped(module: ModuleType) -> Callable[[Measured], list[str]]:
    """Return a short table for a paper with many numbers: a line with the classes for each table of the paper."""

    def table(measured: Measured) -> list[str]:
        rows = []
        for title, group in module.groups(numbers(measured, module)).items():
            cells = (_classes([score(measured, module, row, reading) for row in group]) for reading in module.READINGS)
            rows.append((title, str(len(group)), *cells))
        return lines(("where", "numbers", *(reading.name for reading in module.READINGS)), rows)

    return table


def _classes(found: Sequence[Score]) -> str:
    counts = {kind: sum(one.kind == kind for one in found) for kind in KINDS}
    text = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return text + (f"; worst {worst(found)}" if worst(found) else "")


def worst(found: Iterable[Score]) -> str:
    """Return the factor that is furthest from 1, and how many numbers are 0 only in the paper; "" if none is off."""
    factors = [one.factor for one in found if one.kind == "off"]
    not_zero = sum(math.isinf(factor) for factor in factors)
    return ", ".join(filter(None, (verdict.worst(factors), f"{not_zero} not 0" if not_zero else "")))


TRIED_HEAD = (
    "headline", "readings in the sweeps", "run and stored", "seeds of a point", "tried outside of the tree"
)  # fmt: skip


def tried(module: ModuleType) -> Callable[[Measured], list[str]]:
    """Return the table of the readings that were tried for each headline, by sweep."""

    def table(measured: Measured) -> list[str]:
        rows = [
            (*_counts(measured, one), ", ".join(f"`--sweep {sweep}`" for sweep in one.sweeps)) for one in module.TRIED
        ]
        return lines((*TRIED_HEAD, "sweep"), rows)

    return table


def _counts(measured: Measured, one: Tried) -> tuple[str, ...]:
    """Return the cells of a headline: its name, and the numbers of its readings and seeds."""
    points = [
        measured.study.Params(**point).model_dump() for sweep in one.sweeps for point in measured.study.sweeps[sweep]
    ]
    seeds = [len(measured.by_point.get(frozenset(point.items()), [])) for point in points]
    readings = {_reading(point, one.across) for point in points}
    stored = {_reading(point, one.across) for point, count in zip(points, seeds, strict=True) if count}
    return one.headline, str(len(readings)), str(len(stored)), _range(seeds), str(one.elsewhere or "")


def _range(counts: Iterable[int]) -> str:
    """Return the smallest and the largest of some numbers of runs; zeros are left out."""
    run = sorted(count for count in counts if count)
    return f"{run[0]} to {run[-1]}" if run and run[0] != run[-1] else str(run[0]) if run else "–"


def _reading(point: Mapping[str, Any], across: Sequence[str]) -> str:
    return json.dumps({name: value for name, value in point.items() if name not in across}, sort_keys=True)


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


# ---- the page of all papers -----------------------------------------------------------------------------------------


def overview(papers: Iterable[tuple[Measured, ModuleType]]) -> list[str]:
    """Return the table of all papers: the number of numbers in each class, for each table or figure."""
    rows = []
    for measured, module in papers:
        name, reading = measured.study.name, module.READINGS[-1]
        places: dict[str, list[tuple[Row, Score]]] = {}
        for row in numbers(measured, module):
            found = score(measured, module, row, reading)
            places.setdefault(row["where"].partition(" (")[0], []).append((row, found))
        for where, pairs in places.items():
            counts = _by_kind(pairs)
            rows.append((
                f"[{name}]({name}.md)", where, *counts[:4], _named_worst(pairs), *counts[4:],
                _range(one.seeds for _, one in pairs),
            ))  # fmt: skip
    return lines(("paper", "where", *KINDS[:4], "worst", *KINDS[4:], "seeds"), rows)


def short_overview(papers: Iterable[tuple[Measured, ModuleType]]) -> list[str]:
    """Return a line for each paper: the number of its numbers in each class, of runs and of readings."""
    rows = []
    for measured, module in papers:
        found = [(row, score(measured, module, row, module.READINGS[-1])) for row in numbers(measured, module)]
        readings = sum(int(_counts(measured, one)[1]) for one in module.TRIED)
        elsewhere = sum(one.elsewhere for one in module.TRIED)
        rows.append((
            measured.study.name, str(len(found)), *_by_kind(found), _range(one.seeds for _, one in found),
            f"{readings} + {elsewhere}" if elsewhere else str(readings),
        ))  # fmt: skip
    return lines(("paper", "numbers", *KINDS, "seeds", "readings"), rows)


def all_readings(papers: Iterable[tuple[Measured, ModuleType]]) -> list[str]:
    """Return the table of all papers: the number of numbers in each class, for each of the three readings."""
    rows = []
    for measured, module in papers:
        for reading in module.READINGS:
            found = [(row, score(measured, module, row, reading)) for row in numbers(measured, module)]
            name = f"[{measured.study.name}]({measured.study.name}.md)"
            rows.append((name, reading.name, *_by_kind(found), _range(one.seeds for _, one in found)))
    return lines(("paper", "reading", *KINDS, "seeds"), rows)


def all_tried(papers: Iterable[tuple[Measured, ModuleType]]) -> list[str]:
    """Return the table of all papers: the number of readings that were tried for each headline."""
    rows = [
        (f"[{measured.study.name}]({measured.study.name}.md)", *_counts(measured, one))
        for measured, module in papers
        for one in module.TRIED
    ]
    return lines(("paper", *TRIED_HEAD), rows)


def _by_kind(found: Sequence[tuple[Row, Score]]) -> list[str]:
    """Return the number of numbers in each class; for those inside, also how many of them are only bounds."""
    cells = {kind: str(count or "") for kind in KINDS for count in (sum(one.kind == kind for _, one in found),)}
    bounds = sum(one.kind == "inside" and row["relation"] in ("<", ">", "to") for row, one in found)
    cells["inside"] += f" ({bounds} bounds)" if bounds > 1 else " (a bound)" if bounds else ""
    return list(cells.values())


def _named_worst(found: Sequence[tuple[Row, Score]]) -> str:
    """Return the worst factor with its quantity and condition."""
    text = worst(one for _, one in found)
    names = [f": {row['quantity']}; {row['condition']}" for row, one in found if worst([one]) == text]
    return text + (names[0] if text and names else "")


def papers(numbers_folder: Path) -> list[tuple[Measured, ModuleType]]:
    """Return the stored runs of every study that has a file of numbers in this folder, by name of the study."""
    found = []
    for path in sorted(path for path in numbers_folder.glob("*.csv") if path.stem in registry.STUDIES):
        study = registry.get(path.stem)
        found.append((Measured(study, tables.read(study, path.read_text())), tables.module_of(study)))
    return found


def written(page: str, runs: Sequence[tuple[Measured, ModuleType]]) -> str:
    """Write the tables of all papers (`<!-- table: all overview -->`) of a page again."""
    made = {"overview": overview, "short": short_overview, "tried": all_tried, "readings": all_readings}

    def replace(found: re.Match[str]) -> str:
        begin, name, title, _, end = found.groups()
        return begin + "\n".join(made[title.strip()](runs)) + "\n" + end if name == ALL else found[0]

    return tables.MARKED.sub(replace, page)
