"""A recorded series over simulated time: its mean over runs, and the interval as a band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from causeway.analysis.figures.drawing import Axes, Drawing, dash, path
from causeway.analysis.figures.figure import Figure, Line, Point
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data


class TimeKind(PlotKind):
    """One curve for each series and engine."""

    name = "time"
    own: ClassVar = {"bins": 60}
    recorded = True
    x_name = "simulated time [s]"

    def reduce(self, plot: Plot, data: Data) -> Figure:
        return Figure(plot, data.over_time(plot, int(self.option(plot, "bins"))))

    def mark(self, line: Line, drawing: Drawing) -> str:
        points = [point for point in line.points if math.isfinite(point.y)]
        places = [(drawing.axes.x(point.x), drawing.axes.y(point.y)) for point in points]
        return _band(points, drawing.axes) + path(places, dash(drawing.engine(line)))


def _band(points: list[Point], axes: Axes) -> str:
    known = [point for point in points if math.isfinite(point.low) and math.isfinite(point.high)]
    if len(known) < 2:
        return ""
    upper = [f"{axes.x(point.x)} {axes.y(point.high)}" for point in known]
    lower = [f"{axes.x(point.x)} {axes.y(point.low)}" for point in reversed(known)]
    return f'<path class="band" d="M{"L".join(upper + lower)}Z"/>'
