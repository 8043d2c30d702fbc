"""Means with intervals over a parameter, joined by a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from causeway.analysis.figures.drawing import Drawing, dash, path, told, whisker
from causeway.analysis.figures.figure import Figure, Line
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

BESIDE = 5
"""How far intervals of two engines are apart, so that they do not hide each other."""


class LineKind(PlotKind):
    """One line for each series and engine; x is a parameter."""

    name = "line"

    def reduce(self, plot: Plot, data: Data) -> Figure:
        return Figure(plot, data.means(plot), data.published(plot))

    def mark(self, line: Line, drawing: Drawing) -> str:
        engine, axes = drawing.engine(line), drawing.axes
        beside = (engine - (len(drawing.figure.engines) - 1) / 2) * BESIDE
        points = [point for point in line.points if math.isfinite(point.y)]
        places = [(axes.x(point.x) + beside, axes.y(point.y)) for point in points]
        dots = "".join(
            f'{whisker(point, x, axes)}<circle cx="{x}" cy="{y}" r="3.4">{told(point)}</circle>'
            for point, (x, y) in zip(points, places, strict=True)
        )
        return path(places, dash(engine)) + dots
