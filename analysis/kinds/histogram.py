"""How often values fall into each of some equally wide bins."""

from __future__ import annotations

from collections.abc import Iterator
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
    """One outline for each series and engine, over the same bins. `of` as in a cdf; `bins`: how many.

    `more={"of": "recorded"}`: y names histograms that the runs recorded; those of one series are added up.
    """

    name = "histogram"
    own: ClassVar = {"of": "runs", "bins": 20}
    counts_from_zero = True

    def formulas(self, plot: Plot) -> tuple[str, ...]:
        return (plot.y,) if self.option(plot, "of") == "runs" else ()

    def reduce(self, plot: Plot, data: Data) -> Figure:
        if self.option(plot, "of") == "recorded":
            return Figure(plot, in_order(list(_recorded(plot, data))))
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
        of = self.option(plot, "of")
        return plot.y_label or f"share of {'what was recorded' if of == 'recorded' else of}"


def _recorded(plot: Plot, data: Data) -> Iterator[Line]:
    """What runs counted themselves: bins of the same edges are added up. What lies below the first edge or beyond the
    last one counts for the shares, and is not drawn."""
    for (series, engine), rows in data.bins(plot).groupby(["series", "engine"], sort=True):
        counted = rows.groupby("edge")["value"].sum().sort_index()
        whole, runs = float(counted.sum()), rows["run_id"].nunique()
        edges, values = counted.index.to_numpy(float), counted.to_numpy(float)
        inside = np.isfinite(edges)
        if whole > 0 and inside.sum() > 1:
            points = [
                Point(float(x), float(y), NAN, NAN, runs)
                for x, y in zip(edges[inside], values[inside] / whole, strict=True)
            ]
            points[-1] = Point(points[-1].x, 0.0, NAN, NAN, runs)  # where the last bin ends
            yield Line(str(series), str(engine), points)
