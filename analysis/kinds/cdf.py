"""How values are distributed: for each value, the share of runs (or of samples) that are at most that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from causeway.analysis.figures.drawing import Drawing, dash, path
from causeway.analysis.figures.figure import Figure, Line, Point, in_order
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

MOST = 400
"""Points of a curve: more cannot be seen."""
NAN = float("nan")


def distributions(plot: Plot, data: Data, of: str) -> Iterator[tuple[str, str, Any]]:
    """(series, engine, sorted values): of each run its scalar, or all samples that they recorded under that name."""
    if of == "samples":
        found = data.samples(plot)
        if found is None:
            return
        frame = found.select("series", "engine", "value").toPandas() if hasattr(found, "toPandas") else found
    else:
        frame = data.values(plot)
    for (series, engine), rows in frame.groupby(["series", "engine"], sort=True):
        yield str(series), str(engine), np.sort(rows["value"].to_numpy(dtype=float))


class CdfKind(PlotKind):
    """One curve for each series and engine. `more={"of": "samples"}`: of a recorded series, else of a scalar's runs."""

    name = "cdf"
    own: ClassVar = {"of": "runs"}
    counts_from_zero = True

    def formulas(self, plot: Plot) -> tuple[str, ...]:
        return () if self.option(plot, "of") == "samples" else (plot.y,)

    def reduce(self, plot: Plot, data: Data) -> Figure:
        lines = []
        for series, engine, values in distributions(plot, data, self.option(plot, "of")):
            shares = np.arange(1, len(values) + 1) / len(values)
            kept = np.unique(np.linspace(0, len(values) - 1, min(MOST, len(values))).astype(int))
            points = [Point(float(values[i]), float(shares[i]), NAN, NAN, len(values)) for i in kept]
            lines.append(Line(series, engine, points))
        return Figure(plot, in_order(lines))

    def mark(self, line: Line, drawing: Drawing) -> str:
        places: list[tuple[float, float]] = []
        for point in line.points:
            x, y = drawing.axes.x(point.x), drawing.axes.y(point.y)
            if places:
                places.append((x, places[-1][1]))
            places.append((x, y))
        return path(places, dash(drawing.engine(line)))

    def x_label(self, plot: Plot) -> str:
        return plot.x_label or plot.y

    def y_label(self, plot: Plot) -> str:
        return plot.y_label or f"share of {self.option(plot, 'of')}"
