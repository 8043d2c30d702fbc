"""The sections of a report, in their order: `SECTIONS`.

Each entry is a function that takes a `Result` and yields sections, or nothing if there is nothing to show. To add a
section, write a function here, add it to the list, and add its template to analysis/templates/report.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from causeway.analysis import pages, schema, store, versions
from causeway.analysis.figures.data import Data
from causeway.analysis.plots import Plot
from causeway.analysis.remote import is_remote
from causeway.analysis.report import page, wrong
from causeway.analysis.report.page import DrawnFigure, Section
from causeway.analysis.report.result import Result
from causeway.analysis.report.tally import Tally

_SHOWN_SCALARS = 400


def summary(result: Result) -> Iterator[Section]:
    """Yield a line for each study and engine with the number of published numbers that were reproduced."""
    lines = [
        (study, _anchor(study), _runs_of(result, study), _tallies(result, study)) for study in _with_section(result)
    ]
    if lines:
        yield Section("summary", "", "summary.html", lines)


def _anchor(study: str) -> str:
    return "study-" + "".join(c if c.isalnum() else "-" for c in study)


def _runs_of(result: Result, study: str) -> str:
    """Return the number of runs and points and the engines of a study, as text."""
    runs = result.runs[result.runs["study"] == study]
    points, engines = runs["point"].nunique(), ", ".join(sorted(runs["engine"].unique()))
    return f"{len(runs)} run{'s' * (len(runs) != 1)} of {points} point{'s' * (points != 1)} on {engines}"


def _tallies(result: Result, study: str) -> list[Tally]:
    return [one for one in result.tallies if one.study == study]


def of_several_codes(result: Result) -> Iterator[Section]:
    """Yield a list of the studies and engines with runs of several versions of the code."""
    if lines := list(versions.mixed_versions(result.folder)):
        yield Section("codes", "Runs of several versions of the code", "codes.html", lines)


def unexpected(result: Result) -> Iterator[Section]:
    """Yield the wrong runs that the study does not declare as expected."""
    if groups := [one for one in result.wrong_runs if not one.why]:
        content = wrong.section(groups, result.known, result.examples, result.notes)
        yield Section("wrong", "Unexpected violations and duplicates", "wrong.html", content)


def animations(result: Result) -> Iterator[Section]:
    """Yield the links to the animations."""
    moving_pages, refused = result.animations
    if moving_pages or refused:
        yield Section("moving", "Animations", "moving.html", {"pages": moving_pages, "refused": refused})


# ---- a section for each study ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawings:
    """Figures of one section, and the plots that are not drawn."""

    drawn: Sequence[DrawnFigure]
    """The figures; those with published numbers come first."""
    absent: Sequence[Plot]
    """Plots without runs."""
    nameless: Sequence[Plot]
    """Plots whose runs do not contain the scalar or series y."""


@dataclass(frozen=True)
class OfStudy:
    """The content of a study's section."""

    tallies: Sequence[Tally]
    figures: Drawings
    published: page.Published | None
    expected: dict[str, Any] | None
    scalars: "Scalars"
    runs: dict[str, pages.Table]


@dataclass(frozen=True)
class Scalars:
    """Means of scalars, cut to the number that a page can show."""

    table: pages.Table
    total: int


def studies(result: Result) -> Iterator[Section]:
    """Yield a section for each study that describes itself or has figures of its own."""
    titles = {one.study: one.title for one in result.described}
    for study in _with_section(result):
        title = f"{study}: {titles[study]}" if titles.get(study) else study
        yield Section(_anchor(study), title, "study.html", _of_study(result, study))


def _of_study(result: Result, study: str) -> OfStudy:
    compared = result.compared[result.compared["study"] == study]
    there = result.published[result.published["study"] == study]
    figures = [figure for figure in result.figures if figure.plot.study == study]
    return OfStudy(
        _tallies(result, study), _drawings(result, figures),
        page.published_of(compared, there) if len(compared) else None, _expected(result, study),
        _scalars(result, [study]), _runs(result, [study]),
    )  # fmt: skip


def _with_section(result: Result) -> list[str]:
    there = set(result.runs["study"])
    return sorted(there & {one.study for one in result.described} | there & {one.plot.study for one in result.drawn})


def _drawings(result: Result, figures: Sequence[Data]) -> Drawings:
    plots = [figure.plot for figure in figures]
    drawn = [one for one in result.drawn if any(one.plot is plot for plot in plots)]
    left = [data for data in figures if not any(data.plot is one.plot for one in drawn)]
    return Drawings(
        sorted(drawn, key=lambda one: not one.has_published),
        [data.plot for data in left if not len(data.there)],
        [data.plot for data in left if len(data.there)],
    )


def _expected(result: Result, study: str) -> dict[str, Any] | None:
    """Return the wrong runs that the study expects. Notes are added here if there is no section of unexpected ones."""
    groups = [one for one in result.wrong_runs if one.why and one.study == study]
    notes = () if any(not one.why for one in result.wrong_runs) else result.notes
    return wrong.section(groups, result.known, result.examples, notes) if groups else None


def _scalars(result: Result, studies: Sequence[str]) -> Scalars:
    head = ("study", "point", "engine", "module", "scalar", "runs", "mean", "low", "high")
    columns = ["study", "point", "engine", "module", "name", "runs", "mean", "ci_low", "ci_high"]
    means = result.means[result.means["study"].isin(studies)]
    shown = means.head(_SHOWN_SCALARS)[columns].itertuples(index=False, name=None)
    return Scalars(pages.Table(head, shown), len(means))


def _runs(result: Result, studies: Sequence[str]) -> dict[str, pages.Table]:
    return page.run_tables(result.runs[result.runs["study"].isin(studies)], result.parameters)


# ---- results of studies that have no section -------------------------------------------------------------------------


def other_figures(result: Result) -> Iterator[Section]:
    """Yield figures of several studies together, and plots of studies without runs."""
    own = _with_section(result)
    figures = [figure for figure in result.figures if figure.plot.study not in own]
    if figures:
        yield Section("figures", "Figures", "figures.html", _drawings(result, figures))


def undescribed(result: Result) -> Iterator[Section]:
    """Yield the studies that have neither a description nor a figure."""
    known_studies = {one.study for one in result.described} | {figure.plot.study for figure in result.drawn}
    unknown = sorted(set(result.runs["study"]) - known_studies)
    if unknown and "" not in known_studies:
        yield Section("undescribed", "Not described", "undescribed.html", unknown)


def of_unknown_kinds(result: Result) -> Iterator[Section]:
    """Yield the plots of kinds that are not known here."""
    if plots := [plot for plot in result.requested if plot not in result.plots]:
        yield Section("strange", "Kinds of plots that are not known here", "strange.html", plots)


def other_scalars(result: Result) -> Iterator[Section]:
    """Yield mean and interval of every scalar of studies without a section."""
    if rest := _without_section(result):
        yield Section("scalars", "All scalars", "scalars.html", _scalars(result, rest))


def other_runs(result: Result) -> Iterator[Section]:
    """Yield engines, versions and parameters of the runs of studies without a section."""
    if rest := _without_section(result):
        yield Section("run", "What was run", "run.html", _runs(result, rest))


def _without_section(result: Result) -> list[str]:
    return sorted(set(result.runs["study"]) - set(_with_section(result)))


def tables(result: Result) -> Iterator[Section]:
    """Yield name, number of rows and link of each table. There is no link if a browser cannot follow it."""
    found: list[tuple[str, int, Any]] = []
    for name in schema.TABLES:
        where, rows = store.table_dir(result.folder, name), store.count_rows(result.folder, name)
        if is_remote(where) or is_remote(result.out):
            found.append((name, rows, ""))
        elif where.is_dir():
            found.append((name, rows, os.path.relpath(where, result.out).replace(os.sep, "/")))
    yield Section("tables", "Files", "tables.html", found)


SECTIONS: tuple[Callable[[Result], Iterator[Section]], ...] = (
    summary,
    of_several_codes,
    unexpected,
    animations,
    studies,
    other_figures,
    undescribed,
    of_unknown_kinds,
    other_scalars,
    other_runs,
    tables,
)
"""The sections of the page, from top to bottom."""
