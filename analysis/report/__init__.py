"""The report of a result folder: one page that needs no network, and comparison.csv beside it. Start here: `write`.

The result folder contains descriptions of its studies (`causeway.analysis.study_description`) with their plots, so a
report needs no study. Kinds of plots (`causeway.analysis.kinds`) draw the figures, `page` and `wrong` make the content
of the sections, and the templates (analysis/templates/report) their HTML.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from causeway.analysis import animation, kinds, pages, schema, store, versions
from causeway.analysis import study_description as description
from causeway.analysis.export.write import Export
from causeway.analysis.figures.data import Data, Recorded
from causeway.analysis.figures.numbers import name_and_unit
from causeway.analysis.figures.sheet import Sheet
from causeway.analysis.files import refuse_links
from causeway.analysis.plots import Plot
from causeway.analysis.pooled import pooled
from causeway.analysis.reduce import comparison, expression, scalars
from causeway.analysis.reduce.means import mean_ci
from causeway.analysis.reduce.spread import Frame, in_memory, join, stack
from causeway.analysis.remote import is_remote, place
from causeway.analysis.report import page, wrong
from causeway.analysis.report.page import DrawnFigure, Section
from causeway.analysis.spark import read_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SMALL_ROWS = 200_000  # what pandas reduces while Spark starts
_SHOWN_SCALARS = 400
Look = Callable[[Sequence[wrong.Wrong]], tuple[Sequence[wrong.Example], Sequence[str]]]
"""Maps the wrong runs to examples that were drawn, and to notes on those without an example."""
COLUMNS = (
    "title", "series", "engine", "x", "mean", "ci95_low", "ci95_high", "runs", "study", "kind", "series_name",
    "x_name", "x_unit", "x_scale", "y_name", "y_unit", "y_scale",
)  # fmt: skip
"""The columns of figures.csv."""


@store.in_one_state
def write(
    result_dir: str | Path,
    out_dir: str | Path | None = None,
    master: "str | SparkSession | None" = None,
    formats: Sequence[str] = (),
    plots: Sequence[Plot] = (),
    look: Look | None = None,
) -> Path:
    """Write the report of a result folder; return the path of the page.

    Args:
        result_dir: The result folder.
        out_dir: The folder of the page; without it, the folder `report` of `result_dir`.
        master: Reduce on Spark at this master URL, or in a session of yours, which keeps its settings. Without it, see
            `reduces_on`. The numbers are the same.
        formats: svg, pdf, pgf, tex: write figures and tables into files of their own, too, in `out_dir/export`.
        plots: Plots besides those of the folder's studies.
        look: Draws examples of wrong runs.
    """
    source = _Source(place(result_dir), master or reduces_on(place(result_dir)))
    out = place(out_dir) if out_dir else source.folder / "report"
    refuse_links(out.parent, out.name, f"{out.name}/export")
    described = description.read(source.folder)
    requested = [plot for one in described for plot in one.plots] + list(plots)
    plots = [plot for plot in requested if plot.kind in kinds.known()]
    published = comparison.frame_of([row for one in described for row in one.published])
    runs = versions.distinguished(store.read_pandas(source.folder, "runs"))
    parameters = store.read_pandas(source.folder, "parameters")
    wanted = {name for formula in (*published["scalar"], *_formulas(plots)) for name in expression.names(formula)}
    wanted |= set(wrong.SCALARS)
    known = comparison.Runs(runs, parameters, source.run_values(wanted))
    compared = comparison.compare(published, known)
    recorded, bins = cache(source.recorded), cache(source.bins)
    figures = [Data(plot, known, published, recorded, bins) for plot in plots]
    out.mkdir(parents=True, exist_ok=True)
    drawn = _draw(figures, compared, out, formats)
    means = source.scalar_means(runs)
    _write_csv(out / "comparison.csv", compared)
    _write_csv(out / "scalars.csv", _with_parameters(means, known))
    _write_csv(out / "figures.csv", _rows(drawn))
    unexpected, expected = _wrong_sections(known, described, look, out)
    sections = [*_mixed(source.folder), *unexpected]
    moving_pages, refused = animation.write_all(source.folder, described, out)
    if moving_pages or refused:
        content: Any = {"pages": moving_pages, "refused": refused}
        sections.append(Section("moving", "Animations", "moving.html", content))
    if len(compared):
        content = page.verdicts(compared, published, set(runs["study"]))
        sections.append(Section("published", "Published against measured", "published.html", content))
    sections += expected
    if figures:
        sections.append(Section("figures", "Figures", "figures.html", _figures(drawn, figures)))
    known_studies = {one.study for one in described} | {figure.plot.study for figure in drawn}
    if (unknown := sorted(set(runs["study"]) - known_studies)) and "" not in known_studies:
        sections.append(Section("undescribed", "Not described", "undescribed.html", unknown))
    if strange := [plot for plot in requested if plot not in plots]:
        sections.append(Section("strange", "Kinds of plots that are not known here", "strange.html", strange))
    sections.append(Section("scalars", "All scalars", "scalars.html", _scalar_table(means)))
    sections.append(Section("run", "What was run", "run.html", page.what_was_run(runs, parameters)))
    sections.append(Section("tables", "Tables", "tables.html", _tables(source.folder, out)))
    path = out / "index.html"
    title = f"Results: {', '.join(sorted(set(runs['study'])))}"
    pages.write(path, "report/index.html", title=title, sections=sections)
    return path


def reduces_on(folder: Path) -> str | None:
    """Return the Spark master on which to reduce a folder; None (pandas) if it is small or Java is missing."""
    rows = sum(store.count_rows(folder, table) for table in ("scalars", "samples"))
    return "local[*]" if rows > _SMALL_ROWS and (shutil.which("java") or os.environ.get("JAVA_HOME")) else None


class _Source:
    """The fact tables of a result folder: read by Spark at a master, or without one by pandas."""

    def __init__(self, folder: Path, master: "str | SparkSession | None") -> None:
        self.folder, self.master = folder, master

    def _read(self, table: str) -> Frame:
        if self.master is None:
            return store.read_pandas(self.folder, table)
        from causeway.analysis.spark import session

        return read_spark(session(self.master), self.folder, table)

    def run_values(self, names: set[str]) -> pd.DataFrame:
        """Return one value per run and scalar of these names; fields of recorded statistics are scalars, too."""
        columns = ["run_id", "module", "name", "value"]
        there = stack(self._read("scalars")[columns], self._fields()[columns])
        return in_memory(scalars.run_values(there, names))

    def _fields(self) -> pd.DataFrame:
        """Return the fields of recorded statistics as scalars, named as OMNeT++'s tools name them: `name:mean`."""
        found = store.read_pandas(self.folder, "statistics", ["run_id", "module", "name", "field", "value"])
        found = found[found["field"] != ""]
        return found.assign(name=found["name"] + ":" + found["field"])

    def bins(self) -> pd.DataFrame:
        """Return the bins of recorded histograms."""
        return store.read_pandas(self.folder, "bins")

    def scalar_means(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return mean and interval of every scalar of every point."""
        by = ["study", "point", "engine", "module", "name"]
        joined = join(scalars.numbered(self._read("scalars")), runs[["run_id", *by[:3]]], ["run_id"])
        return in_memory(mean_ci(joined, by)).sort_values(by, ignore_index=True)

    def recorded(self) -> Recorded:
        """Return vectors and samples."""
        return Recorded(store.read_pandas(self.folder, "vectors"), self._read("samples"))


def _wrong_sections(
    known: comparison.Runs, described: Sequence[description.Description], look: Look | None, out: Path
) -> tuple[list[Section], list[Section]]:
    """Return the sections of unexpected wrong runs, for the head of the page, and of expected ones."""
    groups = wrong.found(known, described)
    examples, notes = look(groups) if look is not None and groups else ((), ())
    wrong.write_pages(examples, out)
    unexpected, expected = [one for one in groups if not one.why], [one for one in groups if one.why]
    head = wrong.section(unexpected, known, examples, notes)
    body = wrong.section(expected, known, examples, () if unexpected else notes)
    return (
        [Section("wrong", "Wrong, and nobody expected it", "wrong.html", head)] if unexpected else [],
        [Section("expected", "Wrong, as expected", "wrong.html", body)] if expected else [],
    )


def _mixed(folder: Path) -> list[Section]:
    """Return a section if runs of one study were made by several versions of the code."""
    lines = list(versions.mixed_versions(folder))
    return [Section("codes", "Runs of several codes", "codes.html", lines)] if lines else []


def _formulas(plots: Sequence[Plot]) -> list[str]:
    return [formula for plot in plots for formula in kinds.kind_of(plot.kind).formulas(plot)]


def _draw(figures: Sequence[Data], compared: pd.DataFrame, out: Path, formats: Sequence[str]) -> list[DrawnFigure]:
    """Draw the figures that have numbers, for the page and for papers."""
    export, drawn = Export(out / "export", formats), []
    with Sheet() as sheet:
        for data in figures:
            numbers = sheet.draw(data)
            if len(numbers):
                labels = sheet.axes.get_xlabel(), sheet.axes.get_ylabel()
                drawn.append(DrawnFigure(data.plot, sheet.svg(), numbers, *labels))
                export.figure(sheet)
    export.finish(compared)
    return drawn


def _rows(drawn: Sequence[DrawnFigure]) -> pd.DataFrame:
    """Return the numbers of all figures, each row with the names, units and scales of its axes."""
    frames = []
    for one in drawn:
        plot = one.plot
        (x_name, x_unit), (y_name, y_unit) = name_and_unit(one.x_label), name_and_unit(one.y_label)
        frames.append(pd.DataFrame({
            "title": plot.title, **one.numbers.rename(columns={"low": "ci95_low", "high": "ci95_high"}),
            "study": plot.study, "kind": plot.kind, "series_name": plot.series, "x_name": x_name, "x_unit": x_unit,
            "x_scale": "log" if plot.log_x else "linear", "y_name": y_name, "y_unit": y_unit,
            "y_scale": "log" if plot.log_y else "linear",
        }))  # fmt: skip
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))


def _figures(drawn: Sequence[DrawnFigure], figures: Sequence[Data]) -> dict[str, Any]:
    """Return the drawn figures, and those not drawn: without runs, or with runs that lack the scalar or series y."""
    shown = [one.plot for one in drawn]
    left = [data for data in figures if not any(data.plot is plot for plot in shown)]
    return {
        "drawn": drawn, "pooled": [one for one in map(_pooled, figures) if one[1]],
        "absent": [data.plot for data in left if not len(data.there)],
        "nameless": [data.plot for data in left if len(data.there)],
    }  # fmt: skip


def _pooled(data: Data) -> tuple[str, str]:
    """Return a figure's title, and in which parameters it does not show its runs differ."""
    return data.plot.title, ", ".join(pooled(data))


def _with_parameters(means: pd.DataFrame, known: comparison.Runs) -> pd.DataFrame:
    """Add each point's parameters to its scalars; empty if its runs differ in one, as converted ones in seeds."""
    keys = ["study", "point", "engine"]
    grouped = known.texts.join(known.runs[keys]).groupby(keys, dropna=False)
    explained = grouped.first().where(grouped.nunique() == 1)
    taken = {name: f"parameter {name}" for name in explained.columns if name in means.columns}
    return means.merge(explained.rename(columns=taken).reset_index(), on=keys, how="left")


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a table for people's spreadsheets: texts that these would compute as formulas stay texts."""
    texts = frame.select_dtypes(["object", "string", "category"]).columns
    plain = frame.assign(**{name: frame[name].map(_no_formula) for name in texts})
    with store.replacing(path) as temporary:
        plain.to_csv(temporary, index=False)


def _no_formula(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _scalar_table(means: pd.DataFrame) -> dict[str, Any]:
    head = ("study", "point", "engine", "module", "scalar", "runs", "mean", "low", "high")
    columns = ["study", "point", "engine", "module", "name", "runs", "mean", "ci_low", "ci_high"]
    shown = means.head(_SHOWN_SCALARS)[columns].itertuples(index=False, name=None)
    return {"table": pages.Table(head, shown), "all": len(means)}


def _tables(folder: Path, out: Path) -> list[tuple[str, int, str]]:
    """Return name, number of rows and link of each table; no link where a browser cannot follow it."""
    found = []
    for name in schema.TABLES:
        where, rows = store.table_dir(folder, name), store.count_rows(folder, name)
        if is_remote(where) or is_remote(out):
            found.append((name, rows, ""))
        elif where.is_dir():
            found.append((name, rows, os.path.relpath(where, out).replace(os.sep, "/")))
    return found
