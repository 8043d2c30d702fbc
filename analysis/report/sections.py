"""The sections of a report, in their order: `SECTIONS`.

Each is a function of a `Result` that returns its section, or None if there is nothing to show in it. A new section is a
function here, its place in the list, and its template in analysis/templates/report.
"""

import os
from collections.abc import Callable
from typing import Any

from causeway.analysis import pages, schema, store, versions
from causeway.analysis.figures.data import Data
from causeway.analysis.pooled import pooled
from causeway.analysis.remote import is_remote
from causeway.analysis.report import page, wrong
from causeway.analysis.report.page import Section
from causeway.analysis.report.result import Result

_SHOWN_SCALARS = 400


def of_several_codes(result: Result) -> Section | None:
    """Return the runs of one study that were made by several versions of the code."""
    lines = list(versions.mixed_versions(result.folder))
    return Section("codes", "Runs of several codes", "codes.html", lines) if lines else None


def unexpected(result: Result) -> Section | None:
    """Return the wrong runs that the study does not expect."""
    groups = [one for one in result.wrong_runs if not one.why]
    content = wrong.section(groups, result.known, result.examples, result.notes)
    return Section("wrong", "Wrong, and nobody expected it", "wrong.html", content) if groups else None


def animations(result: Result) -> Section | None:
    """Return the links to the animations."""
    moving_pages, refused = result.animations
    content = {"pages": moving_pages, "refused": refused}
    return Section("moving", "Animations", "moving.html", content) if moving_pages or refused else None


def published(result: Result) -> Section | None:
    """Return the published numbers beside the measured ones."""
    if not len(result.compared):
        return None
    content = page.verdicts(result.compared, result.published, set(result.runs["study"]))
    return Section("published", "Published against measured", "published.html", content)


def expected(result: Result) -> Section | None:
    """Return the wrong runs that the study expects; notes are here if the section `unexpected` is missing."""
    groups = [one for one in result.wrong_runs if one.why]
    notes = () if len(groups) < len(result.wrong_runs) else result.notes
    content = wrong.section(groups, result.known, result.examples, notes)
    return Section("expected", "Wrong, as expected", "wrong.html", content) if groups else None


def figures(result: Result) -> Section | None:
    """Return the drawn figures, and those not drawn: without runs, or with runs that lack the scalar or series y."""
    shown = [one.plot for one in result.drawn]
    left = [data for data in result.figures if not any(data.plot is plot for plot in shown)]
    content = {
        "drawn": result.drawn, "pooled": [one for one in map(_pooled, result.figures) if one[1]],
        "absent": [data.plot for data in left if not len(data.there)],
        "nameless": [data.plot for data in left if len(data.there)],
    }  # fmt: skip
    return Section("figures", "Figures", "figures.html", content) if result.figures else None


def _pooled(data: Data) -> tuple[str, str]:
    """Return a figure's title, and in which parameters it does not show its runs differ."""
    return data.plot.title, ", ".join(pooled(data))


def undescribed(result: Result) -> Section | None:
    """Return the studies without a description and without a figure."""
    known_studies = {one.study for one in result.described} | {figure.plot.study for figure in result.drawn}
    unknown = sorted(set(result.runs["study"]) - known_studies)
    shown = unknown and "" not in known_studies
    return Section("undescribed", "Not described", "undescribed.html", unknown) if shown else None


def of_unknown_kinds(result: Result) -> Section | None:
    """Return the plots whose kind is not known here."""
    plots = [plot for plot in result.requested if plot not in result.plots]
    return Section("strange", "Kinds of plots that are not known here", "strange.html", plots) if plots else None


def scalars(result: Result) -> Section:
    """Return mean and interval of every scalar, as many as a page can show."""
    head = ("study", "point", "engine", "module", "scalar", "runs", "mean", "low", "high")
    columns = ["study", "point", "engine", "module", "name", "runs", "mean", "ci_low", "ci_high"]
    shown = result.means.head(_SHOWN_SCALARS)[columns].itertuples(index=False, name=None)
    content = {"table": pages.Table(head, shown), "all": len(result.means)}
    return Section("scalars", "All scalars", "scalars.html", content)


def runs(result: Result) -> Section:
    """Return the studies, engines, versions and parameters of the runs."""
    return Section("run", "What was run", "run.html", page.run_tables(result.runs, result.parameters))


def tables(result: Result) -> Section:
    """Return name, number of rows and link of each table; no link where a browser cannot follow it."""
    found: list[tuple[str, int, Any]] = []
    for name in schema.TABLES:
        where, rows = store.table_dir(result.folder, name), store.count_rows(result.folder, name)
        if is_remote(where) or is_remote(result.out):
            found.append((name, rows, ""))
        elif where.is_dir():
            found.append((name, rows, os.path.relpath(where, result.out).replace(os.sep, "/")))
    return Section("tables", "Tables", "tables.html", found)


SECTIONS: tuple[Callable[[Result], Section | None], ...] = (
    of_several_codes,
    unexpected,
    animations,
    published,
    expected,
    figures,
    undescribed,
    of_unknown_kinds,
    scalars,
    runs,
    tables,
)
"""The sections of the page, from its head to its end."""
