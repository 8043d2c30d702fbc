"""Make the content of the page's sections. The templates in analysis/templates/report turn it into HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from causeway.analysis.figures.data import NUMBERS
from causeway.analysis.figures.look import PUBLISHED
from causeway.analysis.pages import Table
from causeway.analysis.plots import Plot
from causeway.analysis.published import NOT_COMPARED
from causeway.analysis.report.verdict import explained

NOT_RUN = "not run here"


@dataclass(frozen=True)
class Section:
    """A section of the page: an anchor, a heading, a template, and the content that the template shows."""

    anchor: str
    heading: str
    template: str
    content: Any


@dataclass(frozen=True)
class DrawnFigure:
    """A figure of the page, with its numbers."""

    plot: Plot
    svg: str
    numbers: pd.DataFrame
    x_label: str
    y_label: str
    pooled: str = ""
    """The parameters in which the runs behind one of its marks differ."""

    @property
    def fixed(self) -> str:
        """The parameter values that all of its runs have."""
        return ", ".join(f"{name} = {value}" for name, value in self.plot.where.items())

    @property
    def has_published(self) -> bool:
        """True if published numbers are drawn in it."""
        return bool((self.numbers["engine"] == PUBLISHED).any())

    @property
    def table(self) -> Table:
        """The numbers of the figure as a table."""
        return Table(NUMBERS, self.numbers[list(NUMBERS)].itertuples(index=False, name=None))


# --- what was run ---


def run_tables(runs: pd.DataFrame, parameters: pd.DataFrame) -> dict[str, Table]:
    """Return a table of runs (study, engine, version, commit and code), and a table of parameters."""
    head = (
        "study",
        "engine",
        "version",
        "causeway",
        "commit",
        "code",
        "points",
        "runs",
        "seeds",
        "events",
        "wall time [s]",
        "first",
    )
    keys = ["study", "engine", "engine_version", "causeway_version", "commit", "code"]
    runs = runs.assign(code=runs["code"].fillna("") if "code" in runs else "")
    rows = [
        (*key, group["point"].nunique(), len(group), _range(group["seed"]), _sum(group["events"]),
         _sum(group["wall_s"]), str(group["started_at"].min())[:19])
        for key, group in runs.groupby(keys, sort=True)
    ]  # fmt: skip
    return {"runs": Table(head, rows, stack=True), "parameters": _parameters(runs, parameters)}


def _sum(column: pd.Series) -> float | str:
    """Return the sum of the known values; an empty text if none is known, as in converted files."""
    total = column.sum(min_count=1)
    return "" if pd.isna(total) else float(total)


def _range(seeds: pd.Series) -> str:
    if seeds.isna().all():  # converted files do not contain it
        return ""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low}" if low == high else f"{low} to {high}"


def _parameters(runs: pd.DataFrame, parameters: pd.DataFrame) -> Table:
    rows = []
    joined = parameters.merge(runs[["run_id", "study"]], on="run_id")
    for (study, name), group in joined.groupby(["study", "name"]):
        values = sorted(group["value"].unique(), key=_as_number)
        shown = ", ".join(map(str, values[:12])) + (f", … ({len(values)} values)" if len(values) > 12 else "")
        rows.append((study, name, shown))
    return Table(("study", "parameter", "values"), rows)


def _as_number(text: str) -> tuple[Any, ...]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


# --- published against measured ---


@dataclass(frozen=True)
class Published:
    """The published numbers of a study: the measured ones, in a table with the results, and the others."""

    table: Table
    rows: list[tuple[Sequence[Any], list[tuple[str, Mapping[Any, Any] | None]]]]
    """For each row of the table its cells, and the number that each engine measured."""
    without: Table


def published_of(compared: pd.DataFrame, published: pd.DataFrame) -> Published:
    """Return the published numbers of a study beside the measured ones."""
    table, measured = _measured(compared)
    return Published(table, list(zip(table.rows, measured, strict=True)), _without(published, compared))


def _measured(judged: pd.DataFrame) -> tuple[Table, list[list[tuple[str, Mapping[Any, Any] | None]]]]:
    """Return the table of published numbers, and for each row the number that each engine measured."""
    engines = sorted(judged["engine"].unique())
    keys = ["where", "quantity", "condition", "published"]
    said = ["relation", "published", "low", "high"]
    judged = judged.assign(published=[_published_text(*row) for row in judged[said].itertuples(index=False)])
    rows: list[Sequence[Any]] = []
    measured: list[list[tuple[str, Mapping[Any, Any] | None]]] = []
    for key, group in judged.groupby(keys, sort=False):
        found = {row["engine"]: row for row in group.to_dict("records")}
        rows.append(key)
        measured.append([(engine, found.get(engine)) for engine in engines])
    table = Table(keys, rows, stack=True)
    table.head += [(engine, False) for engine in engines]
    return table, measured


def _without(published: pd.DataFrame, compared: pd.DataFrame) -> Table:
    """Return the published numbers without a measured one and the reasons. Those that no run can measure come first."""
    keys = ["where", "quantity", "condition", "relation", "published", "low", "high"]
    measured = set(compared[keys].fillna("").itertuples(index=False, name=None))
    rows = []
    for row in published.to_dict("records"):
        if tuple("" if pd.isna(row[key]) else row[key] for key in keys) in measured:
            continue
        why = row["note"] if row["scalar"] == NOT_COMPARED else NOT_RUN
        rows.append((*(row[key] for key in keys[:3]), explained(*(row[key] for key in keys[3:])), why))
    rows.sort(key=lambda row: row[-1] == NOT_RUN)
    return Table(("where", "quantity", "condition", "published", "why"), rows, stack=True)


def _published_text(relation: str, published: float, low: float, high: float) -> str | float:
    """Return a published value. A plain number stays a number, so that its column is aligned to the right."""
    return published if relation == "=" else explained(relation, published, low, high)
