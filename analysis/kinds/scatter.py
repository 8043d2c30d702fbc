"""Every run as a dot: one scalar over another, or over a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from causeway.analysis.figures.drawing import Drawing, told
from causeway.analysis.figures.figure import Figure, Line, Point, in_order
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot
from causeway.analysis.reduce.expression import without_quotes

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

NAN = float("nan")


class ScatterKind(PlotKind):
    """A dot for each run. `more={"over": "a scalar or expression"}` gives x; without it, x is a parameter."""

    name = "scatter"
    own: ClassVar = {"over": ""}

    def formulas(self, plot: Plot) -> tuple[str, ...]:
        over = self.option(plot, "over")
        return (plot.y, over) if over else (plot.y,)

    def reduce(self, plot: Plot, data: Data) -> Figure:
        values = data.values(plot)
        if over := self.option(plot, "over"):
            values = values.assign(x=data.values(plot, over)["value"]).dropna(subset=["x"])
        lines = []
        for (series, engine), rows in values.groupby(["series", "engine"], sort=True):
            places = pd.DataFrame({"x": rows["x"], "y": rows["value"]}).sort_values(["x", "y"]).itertuples(index=False)
            points = [Point(x if isinstance(x, str) else float(x), float(y), NAN, NAN, 1) for x, y in places]
            lines.append(Line(str(series), str(engine), points))
        return Figure(plot, in_order(lines), [] if over else data.published(plot))

    def mark(self, line: Line, drawing: Drawing) -> str:
        hollow = ' class="published"' if drawing.engine(line) % 2 else ""
        dots = []
        for point in line.points:
            x, y = drawing.axes.x(point.x), drawing.axes.y(point.y)
            dots.append(f'<circle{hollow} cx="{x}" cy="{y}" r="3">{told(point)}</circle>')
        return "".join(dots)

    def key(self, engine: int) -> str:
        hollow = ' class="published"' if engine % 2 else ""
        return f'<circle{hollow} cx="11" cy="5" r="3.4"/>'

    def x_label(self, plot: Plot) -> str:
        return plot.x_label or without_quotes(self.option(plot, "over")) or plot.x
