"""Means with intervals as bars, those of one x side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causeway.analysis.figures.drawing import INNER_WIDTH, Drawing, told, whisker
from causeway.analysis.figures.figure import Figure, Line
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

SHADES = (0.85, 0.5, 0.3, 0.15)
GROUP = 0.8
"""How much of the room for one x its bars take."""


class BarKind(PlotKind):
    """One bar for each x, series and engine; x is a parameter, its values are names."""

    name = "bar"
    counts_from_zero = True

    def reduce(self, plot: Plot, data: Data) -> Figure:
        return Figure(plot, data.means(plot), data.published(plot))

    def is_categorical(self, figure: Figure) -> bool:
        return True

    def mark(self, line: Line, drawing: Drawing) -> str:
        drawn = []
        width, beside = _width(drawing), _beside(drawing, [drawing.figure.lines.index(line)])
        shade = SHADES[drawing.engine(line) % len(SHADES)]
        base = drawing.axes.y(0.0)
        for point in line.points:
            x, y = round(drawing.axes.x(point.x) + beside, 2), drawing.axes.y(point.y)
            top, height, wide = min(y, base), round(abs(base - y), 2), round(width * 0.92, 2)
            place = f'x="{round(x - wide / 2, 2)}" y="{top}" width="{wide}" height="{height}" opacity="{shade}"'
            drawn.append(f"<rect {place}>{told(point)}</rect>" + whisker(point, x, drawing.axes))
        return "".join(drawn)

    def published_at(self, line: Line, drawing: Drawing) -> float:
        """Over the bars of its series."""
        at = [index for index, one in enumerate(drawing.figure.lines) if one.series == line.series]
        return _beside(drawing, at) if at else 0.0

    def key(self, engine: int) -> str:
        return f'<rect x="4" width="14" height="10" opacity="{SHADES[engine % len(SHADES)]}"/>'


def _width(drawing: Drawing) -> float:
    return INNER_WIDTH / max(1, len(drawing.axes.x_ticks)) * GROUP / max(1, len(drawing.figure.lines))


def _beside(drawing: Drawing, bars: list[int]) -> float:
    """How far the middle of some bars of an x is from it."""
    return (sum(bars) / len(bars) - (len(drawing.figure.lines) - 1) / 2) * _width(drawing)
