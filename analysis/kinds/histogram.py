"""How often values fall into each of some equally wide bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from causeway.analysis.figures.drawing import Drawing, dash, path
from causeway.analysis.figures.figure import Figure, Line, Point, in_order
from causeway.analysis.kinds.cdf import NAN, distributions
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data


class HistogramKind(PlotKind):
    """One outline for each series and engine, over the same bins. `of` as in a cdf; `bins`: how many."""

    name = "histogram"
    own: ClassVar = {"of": "runs", "bins": 20}
    counts_from_zero = True

    def formulas(self, plot: Plot) -> tuple[str, ...]:
        return () if self.option(plot, "of") == "samples" else (plot.y,)

    def reduce(self, plot: Plot, data: Data) -> Figure:
        found = [
            (series, engine, values[np.isfinite(values)])
            for series, engine, values in distributions(plot, data, self.option(plot, "of"))
        ]
        found = [one for one in found if len(one[2])]
        if not found:
            return Figure(plot, [])
        edges = np.histogram_bin_edges(np.concatenate([values for _, _, values in found]), self.option(plot, "bins"))
        lines = []
        for series, engine, values in found:
            shares = np.histogram(values, edges)[0] / len(values)
            points = [Point(float(x), float(y), NAN, NAN, len(values)) for x, y in zip(edges, shares, strict=False)]
            lines.append(Line(series, engine, [*points, Point(float(edges[-1]), 0.0, NAN, NAN, len(values))]))
        return Figure(plot, in_order(lines))

    def mark(self, line: Line, drawing: Drawing) -> str:
        axes, before = drawing.axes, drawing.axes.y(0.0)
        places = []
        for point in line.points:
            x, y = axes.x(point.x), axes.y(point.y)
            places += [(x, before), (x, y)]
            before = y
        return path(places, dash(drawing.engine(line)))

    def x_label(self, plot: Plot) -> str:
        return plot.x_label or plot.y

    def y_label(self, plot: Plot) -> str:
        return plot.y_label or f"share of {self.option(plot, 'of')}"
