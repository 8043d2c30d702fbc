"""Quartiles of the runs at each x as a box, the median in it, and whiskers to the smallest and the largest value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from causeway.analysis.figures.drawing import INNER_WIDTH, Drawing, told
from causeway.analysis.figures.figure import Figure, Line, Point, in_order
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

GROUP = 0.7
"""How much of the room for one x its boxes take."""


@dataclass(frozen=True)
class Box(Point):
    """y is the median; low and high are the ends of the whiskers."""

    first: float
    third: float


class BoxKind(PlotKind):
    """One box for each x, series and engine; x is a parameter, its values are names."""

    name = "box"

    def reduce(self, plot: Plot, data: Data) -> Figure:
        lines = []
        for (series, engine), rows in data.values(plot).groupby(["series", "engine"], sort=True):
            line = Line(str(series), str(engine))
            for x, values in rows.groupby("x")["value"]:
                low, first, middle, third, high = np.percentile(values, (0, 25, 50, 75, 100)).tolist()
                at = x if isinstance(x, str) else float(str(x))
                line.points.append(Box(at, middle, low, high, len(values), first, third))
            lines.append(line)
        return Figure(plot, in_order(lines), data.published(plot))

    def is_categorical(self, figure: Figure) -> bool:
        return True

    def mark(self, line: Line, drawing: Drawing) -> str:
        axes, lines = drawing.axes, drawing.figure.lines
        room = INNER_WIDTH / max(1, len(axes.x_ticks)) * GROUP / max(1, len(lines))
        wide, beside = round(room * 0.8, 2), (lines.index(line) - (len(lines) - 1) / 2) * room
        drawn = []
        for point in line.points:
            assert isinstance(point, Box)
            left = round(axes.x(point.x) + beside - wide / 2, 2)
            middle = round(left + wide / 2, 2)
            top, bottom, median = axes.y(point.third), axes.y(point.first), axes.y(point.y)
            outline = (
                f"M{left} {top}h{wide}V{bottom}h-{wide}ZM{left} {median}h{wide}"
                f"M{middle} {top}V{axes.y(point.high)}M{middle} {bottom}V{axes.y(point.low)}"
            )
            drawn.append(f'<path class="whisker" d="{outline}">{told(point)}</path>')
        return "".join(drawn)
