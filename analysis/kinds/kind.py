"""What a kind of plot is. A new one is one class:

    class Spread(PlotKind):
        name = "spread"

        def reduce(self, plot, data):
            points = [Point("", max(values) - min(values), nan, nan, len(values)) for ... in data.values(plot) ...]
            return Figure(plot, [Line("", "inline", points)])

        def mark(self, line, drawing):
            return "".join(...)

`Plot(..., kind="spread")` then asks for it. examples/spread.py is a whole one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from causeway.analysis.figures.drawing import COLOURS, Axes, Drawing, axes_for, dash, pretty
from causeway.analysis.figures.figure import Figure, Line
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import expression
from causeway.analysis.reduce.expression import without_quotes
from causeway.bridge.errors import UserError

if TYPE_CHECKING:
    from causeway.analysis.figures.data import Data

KINDS: dict[str, PlotKind] = {}
"""By name; every subclass with a name is here."""


class PlotKind(ABC):
    """One kind of plot. It keeps nothing: what it is asked about comes with each call."""

    name: ClassVar[str] = ""
    """What a study says: `Plot(..., kind=name)`."""
    own: ClassVar[Mapping[str, Any]] = {}
    """Fields of its own with what they are if a study does not say (`Plot(..., more={...})`)."""
    recorded: ClassVar[bool] = False
    """Whether `y` names a series that runs record; else it is a scalar or an expression over scalars."""
    counts_from_zero: ClassVar[bool] = False
    """Whether the vertical axis begins at 0 wherever it can."""
    x_name: ClassVar[str] = ""
    """What stands below the horizontal axis if the plot does not say."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not cls.name:
            return
        there = type(KINDS.get(cls.name))
        if cls.name in KINDS and there.__qualname__ != cls.__qualname__:
            raise UserError(f"two kinds of plots are called '{cls.name}': {there.__qualname__} and {cls.__qualname__}")
        KINDS[cls.name] = cls()

    # ---- what it needs ----------------------------------------------------------------------------------------------
    def check(self, plot: Plot) -> None:
        """Raises UserError unless the plot's fields make sense; a study is told when its runs are described."""
        if unknown := set(plot.more) - set(self.own):
            takes = f"only {', '.join(self.own)}" if self.own else "none of its own"
            raise UserError(f"plot '{plot.title}': kind '{self.name}' has no '{min(unknown)}', {takes}")
        for formula in self.formulas(plot):
            expression.parse(formula)

    def formulas(self, plot: Plot) -> tuple[str, ...]:
        """Scalars, and expressions over them, that it reads."""
        return () if self.recorded else (plot.y,)

    def option(self, plot: Plot, name: str) -> Any:
        """A field of its own."""
        return plot.more.get(name, self.own[name])

    # ---- numbers ----------------------------------------------------------------------------------------------------
    @abstractmethod
    def reduce(self, plot: Plot, data: Data) -> Figure:
        """The numbers that are drawn. No lines if there are no runs for it."""

    # ---- drawing ----------------------------------------------------------------------------------------------------
    @abstractmethod
    def mark(self, line: Line, drawing: Drawing) -> str:
        """A line as SVG, in the colour of its series."""

    def axes(self, figure: Figure) -> Axes:
        """Where values lie."""
        return axes_for(figure, self)

    def is_categorical(self, figure: Figure) -> bool:
        """Whether x is a list of names: parameters that are no numbers."""
        return any(isinstance(point.x, str) for point in figure.all_points)

    def published_at(self, line: Line, drawing: Drawing) -> float:
        """How far beside its x the published points of a series stand."""
        del line, drawing
        return 0.0

    def colours(self, figure: Figure) -> list[tuple[int, str]]:
        """The legend's colours (their numbers) with what they mean; by default the values of the plot's series."""
        if not figure.plot.series:
            return []
        return [(at % COLOURS, f"{figure.plot.series} {pretty(name)}") for at, name in enumerate(figure.series)]

    def key(self, engine: int) -> str:
        """How the legend shows an engine: SVG of 22 by 10."""
        return f'<path d="M1 5H21" stroke-dasharray="{dash(engine)}"/>'

    def x_label(self, plot: Plot) -> str:
        return plot.x_label or plot.x or self.x_name

    def y_label(self, plot: Plot) -> str:
        return plot.y_label or without_quotes(plot.y)

    def spoken(self, plot: Plot) -> str:
        """For those who cannot see it."""
        return escape(f"{plot.title}: {self.y_label(plot)} over {self.x_label(plot)}", quote=True)
