"""What modules are doing over time: a row for each, in the colour of its state."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from causeway.analysis.figures.drawing import BOTTOM, COLOURS, HEIGHT, TOP, Axes, Drawing, time_axis
from causeway.analysis.figures.figure import Figure, Line, Point
from causeway.analysis.figures.numbers import short
from causeway.analysis.kinds.kind import PlotKind
from causeway.analysis.plots import Plot

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

NAN = float("nan")
MOST_ROWS = 24
"""More rows cannot be told apart."""


class StateKind(PlotKind):
    """A recorded series whose values are states, of the first run of each engine; `y` may be a pattern of modules.

    `more={"states": {"0": "idle", "1": "busy"}}` names them."""

    name = "state"
    own: ClassVar = {"states": {}}
    recorded = True
    x_name = "simulated time [s]"

    def reduce(self, plot: Plot, data: Data) -> Figure:
        lines = []
        for (engine, module), (times, values) in data.states(plot, MOST_ROWS).items():
            points = [Point(time, value, NAN, NAN, 1) for time, value in zip(times, values, strict=True)]
            lines.append(Line(module, engine, points))
        return Figure(plot, lines)

    def axes(self, figure: Figure) -> Axes:
        x, x_ticks = time_axis([point.x for line in figure.lines for point in line.points])
        step = (HEIGHT - BOTTOM - TOP) / max(1, len(figure.lines))
        names = _without_what_all_share([line.series for line in figure.lines])
        if len(figure.engines) > 1:
            names = [f"{line.engine} {name}" for line, name in zip(figure.lines, names, strict=True)]
        rows = [(TOP + step * (row + 0.5), _short_name(name)) for row, name in enumerate(names)]
        return Axes(x, lambda row: TOP + step * row, x_ticks, rows)

    def mark(self, line: Line, drawing: Drawing) -> str:
        row = next(at for at, one in enumerate(drawing.figure.lines) if one is line)
        top, bottom = drawing.axes.y(row) + 1.5, drawing.axes.y(row + 1) - 1.5
        colours, names = self._states(drawing.figure), self._names(drawing.figure.plot)
        parts = []
        for point, following in zip(line.points, line.points[1:], strict=False):
            left, right = drawing.axes.x(point.x), drawing.axes.x(following.x)
            says = f"<title>{escape(line.series)}: {escape(_named(point.y, names))} from {short(point.x)} s</title>"
            shape = f'<rect x="{left}" y="{top:.2f}" width="{max(right - left, 0.3):.2f}" height="{bottom - top:.2f}">'
            parts.append(f'<g class="s{colours[point.y]}">{shape}{says}</rect></g>')
        return "".join(parts)

    def colours(self, figure: Figure) -> list[tuple[int, str]]:
        names = self._names(figure.plot)
        return [(colour, _named(value, names)) for value, colour in self._states(figure).items()]

    def key(self, engine: int) -> str:
        del engine
        return '<rect x="1" y="1" width="20" height="8"/>'

    def y_label(self, plot: Plot) -> str:
        return plot.y_label  # none: the rows have names

    def _names(self, plot: Plot) -> Mapping[str, Any]:
        return self.option(plot, "states")

    @staticmethod
    def _states(figure: Figure) -> dict[float, int]:
        """Value -> its colour."""
        found = sorted({point.y for line in figure.lines for point in line.points})
        return {value: at % COLOURS for at, value in enumerate(found)}


def _named(value: float, names: Mapping[str, Any]) -> str:
    return str(names.get(short(value), short(value)))


def _without_what_all_share(names: list[str]) -> list[str]:
    """`Net.server[0].queue` and `Net.server[1].queue` as `server[0]` and `server[1]`."""
    paths = [name.split(".") for name in names]
    shortest = min(map(len, paths), default=0)
    if len(set(names)) < 2:
        return [path[-1] for path in paths]
    begin = next((i for i in range(shortest) if len({path[i] for path in paths}) > 1), 0)
    end = next((i for i in range(shortest) if len({path[-1 - i] for path in paths}) > 1), 0)
    return [".".join(path[begin : len(path) - end]) for path in paths]


def _short_name(name: str) -> str:
    """What fits beside the axis: the end of a module's path says most."""
    return name if len(name) <= 11 else "…" + name[-10:]
