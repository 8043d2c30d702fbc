"""The sections of wrong runs: unexpected or expected violations and duplicates, with examples.

A report runs no simulation. It finds the wrong runs (`found`); the command repeats one run of each group and passes a
drawing of it (`Example`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from causeway.analysis import store
from causeway.analysis.pages import Table
from causeway.analysis.reduce.comparison import Runs
from causeway.analysis.study_description import Description

SCALARS = ("violations", "duplicates")
_HEAD = ("study", "point", "engine", "what", "runs", "of them wrong", "in all")


@dataclass(frozen=True)
class Wrong:
    """The runs of a study in which one scalar (violations or duplicates) is wrong. All are expected, or none is."""

    study: str
    scalar: str
    why: str
    """The reason why it is expected; '' if it is not."""
    run_ids: tuple[str, ...]
    """Ids of runs, the shortest run first."""


@dataclass(frozen=True)
class Example:
    """One violation, described and drawn."""

    run_id: str
    what: str
    svg: str
    page: str
    """A self-contained HTML page."""


def found(known: Runs, described: Iterable[Description]) -> list[Wrong]:
    """Return all groups of wrong runs, the unexpected ones first."""
    expected = {one.study: one.expected for one in described}
    groups: list[Wrong] = []
    for study in sorted(set(known.runs["study"])):
        for scalar in SCALARS:
            runs = known.at(study, {})
            values = known.quantity(scalar, runs)
            left = runs[(values > 0).to_numpy()]
            for one in expected.get(study, ()):
                if one.scalar == scalar:
                    chosen = left.intersection(known.at(study, dict(one.where)))
                    groups.append(_group(known, study, scalar, one.why, chosen))
                    left = left.difference(chosen)
            groups.append(_group(known, study, scalar, "", left))
    return sorted((one for one in groups if one.run_ids), key=lambda one: bool(one.why))


def _group(known: Runs, study: str, scalar: str, why: str, chosen: pd.Index) -> Wrong:
    shortest = known.runs.loc[chosen].sort_values("wall_s", kind="stable").index
    return Wrong(study, scalar, why, tuple(shortest))


def section(groups: Sequence[Wrong], known: Runs, examples: Sequence[Example], notes: Sequence[str]) -> dict[str, Any]:
    """Return the content of a section: the wrong points, and the examples of these runs with their pages."""
    shown = {run_id for one in groups for run_id in one.run_ids}
    return {
        "groups": groups, "points": Table(_HEAD, [row for one in groups for row in _rows(one, known)]), "notes": notes,
        "examples": [(one, link_to(i)) for i, one in enumerate(examples) if one.run_id in shown],
    }  # fmt: skip


def _rows(one: Wrong, known: Runs) -> list[tuple[object, ...]]:
    runs = known.runs.loc[list(one.run_ids)].assign(value=known.quantity(one.scalar, pd.Index(one.run_ids)))
    of_point = {key: len(group) for key, group in known.runs.groupby(["study", "point", "engine"])}
    return [
        (one.study, point, engine, one.scalar, of_point[one.study, point, engine], len(group),
         float(group["value"].sum()))
        for (point, engine), group in runs.groupby(["point", "engine"])
    ]  # fmt: skip


def write_pages(examples: Sequence[Example], out: Path) -> None:
    """Write the pages that the sections point to."""
    for number, one in enumerate(examples):
        with store.replacing(out / link_to(number)) as temporary:
            temporary.write_text(one.page, encoding="utf-8")


def link_to(number: int) -> str:
    """Return the file name of an example's page."""
    return f"wrong-{number + 1}.html"
