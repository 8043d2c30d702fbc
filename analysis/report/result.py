"""Read, compare and draw a result folder for its report. Start here: `read`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from causeway.analysis import animation, kinds, store, versions
from causeway.analysis import study_description as description
from causeway.analysis.export.write import Export
from causeway.analysis.figures.data import Data, Recorded
from causeway.analysis.figures.sheet import Sheet
from causeway.analysis.plots import Plot
from causeway.analysis.pooled import pooled
from causeway.analysis.reduce import comparison, expression, scalars
from causeway.analysis.reduce.means import mean_ci
from causeway.analysis.reduce.spread import Frame, in_memory, join, stack
from causeway.analysis.report import wrong
from causeway.analysis.report.page import DrawnFigure
from causeway.analysis.report.tally import Tally, judged, tallies
from causeway.analysis.spark import read_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Look = Callable[[Sequence[wrong.Wrong]], tuple[Sequence[wrong.Example], Sequence[str]]]
"""A function from wrong runs to drawn examples, and to notes on the runs without an example."""


@dataclass(frozen=True)
class Result:
    """A result folder, reduced, compared and drawn."""

    folder: Path
    out: Path
    """The folder of the report."""
    described: Sequence[description.Description]
    requested: Sequence[Plot]
    """All plots, including plots of kinds that are not known here."""
    published: pd.DataFrame
    runs: pd.DataFrame
    parameters: pd.DataFrame
    known: comparison.Runs
    compared: pd.DataFrame
    """The published numbers beside the measured ones, with verdicts."""
    tallies: Sequence[Tally]
    figures: Sequence[Data]
    drawn: Sequence[DrawnFigure]
    """The figures with at least one number."""
    means: pd.DataFrame
    """Mean and interval of every scalar of every point."""
    wrong_runs: Sequence[wrong.Wrong]
    examples: Sequence[wrong.Example]
    notes: Sequence[str]
    """Notes on wrong runs without an example."""
    animations: Any
    """Pages of animations, and error messages for runs without one."""

    @property
    def plots(self) -> list[Plot]:
        """Return the plots of known kinds."""
        return [figure.plot for figure in self.figures]


def read(
    folder: Path, out: Path, master: str | SparkSession | None, formats: Sequence[str], plots: Sequence[Plot],
    look: Look | None,
) -> Result:  # fmt: skip
    """Read, reduce and compare a result folder, and draw its figures, animations and examples of wrong runs."""
    source = _Source(folder, master)
    described = description.read(folder)
    requested = [plot for one in described for plot in one.plots] + list(plots)
    plots = [plot for plot in requested if plot.kind in kinds.known()]
    published = comparison.frame_of([row for one in described for row in one.published])
    runs = versions.distinguished(store.read_pandas(folder, "runs"))
    parameters = store.read_pandas(folder, "parameters")
    wanted = {name for formula in (*published["scalar"], *_formulas(plots)) for name in expression.names(formula)}
    known = comparison.Runs(runs, parameters, source.run_values(wanted | set(wrong.SCALARS)))
    compared = judged(comparison.compare(published, known))
    recorded, bins = cache(source.recorded), cache(source.bins)
    figures = [Data(plot, known, published, recorded, bins) for plot in plots]
    out.mkdir(parents=True, exist_ok=True)
    drawn = _draw(figures, compared, out, formats)
    groups = wrong.found(known, described)
    examples, notes = look(groups) if look is not None and groups else ((), ())
    wrong.write_pages(examples, out)
    return Result(
        folder, out, described, requested, published, runs, parameters, known, compared,
        tallies(compared, published), figures, drawn,
        source.scalar_means(runs), groups, examples, notes, animation.write_all(folder, described, out),
    )  # fmt: skip


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
                drawn.append(DrawnFigure(data.plot, sheet.svg(), numbers, *labels, ", ".join(pooled(data))))
                export.figure(sheet)
    export.finish(compared)
    return drawn


class _Source:
    """The fact tables of a result folder: read by Spark at a master, or without one by pandas."""

    def __init__(self, folder: Path, master: str | SparkSession | None) -> None:
        self.folder, self.master = folder, master

    def _read(self, table: str) -> Frame:
        if self.master is None:
            return store.read_pandas(self.folder, table)
        from causeway.analysis.spark import session

        return read_spark(session(self.master), self.folder, table)

    def run_values(self, names: set[str]) -> pd.DataFrame:
        """Return one value per run and scalar of these names. Fields of recorded statistics count as scalars, too."""
        columns = ["run_id", "module", "name", "value"]
        there = stack(self._read("scalars")[columns], self._fields()[columns])
        return in_memory(scalars.run_values(there, names))

    def _fields(self) -> pd.DataFrame:
        """Return the fields of recorded statistics as scalars with the names of OMNeT++'s tools: `name:mean`."""
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
