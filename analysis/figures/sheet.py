"""Draw plots on one matplotlib Figure, one after the other, and save them.

    with Sheet() as sheet:
        for data in ...:
            if numbers := sheet.draw(data): ...
                page += sheet.svg()
                sheet.save(path, "pdf")

Sharing one Figure saves a third of the time, since its fonts and settings are made once. matplotlib is imported when a
sheet is opened.
"""

from __future__ import annotations

import io
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causeway.analysis import kinds
from causeway.analysis.figures import svg
from causeway.analysis.figures.data import NAN, NUMBERS, Data
from causeway.analysis.figures.latex import escape
from causeway.analysis.figures.numbers import short
from causeway.analysis.figures.style import HEIGHT_IN, LEGEND_ROW_IN, WIDTH_IN, settings
from causeway.analysis.reduce.expression import without_quotes
from causeway.errors import UserError
from causeway.toolchain.user_file import describe_user_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEX_SYSTEMS = ("pdflatex", "lualatex", "xelatex")
LEGEND_LETTERS = 66
"""The number of letters of a legend that fit on one line."""
LONGEST_LABEL = 60


class Sheet:
    """A Figure, and the plot that is drawn on it."""

    def __enter__(self) -> Sheet:
        from matplotlib import style
        from matplotlib.figure import Figure

        self._style: AbstractContextManager[Any] = style.context(["default", settings()])
        self._style.__enter__()
        self.figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN))
        self.data: Data
        return self

    def __exit__(self, *error: Any) -> None:
        self._style.__exit__(*error)

    @property
    def axes(self) -> Axes:
        """The Axes on which plots are drawn."""
        return self.figure.axes[0]

    def draw(self, data: Data) -> pd.DataFrame:
        """Draw a plot and return the drawn numbers (`NUMBERS`). They have no rows if there is nothing to draw."""
        self.figure.clear()
        self.figure.set_size_inches(WIDTH_IN, HEIGHT_IN)
        self.figure.set_layout_engine("constrained")
        self.data, plot, kind = data, data.plot, kinds.kind_of(data.plot.kind)
        axes = self.figure.add_subplot()
        axes.set_xlabel(plot.x_label or plot.x or ("simulated time [s]" if kind.recorded else ""))
        axes.set_ylabel(plot.y_label or without_quotes(plot.y))
        if plot.log_x:
            axes.set_xscale("log")
        if plot.log_y:
            axes.set_yscale("log")
        try:
            drawn = kind.draw(axes, data, **plot.more)
        except Exception as error:
            reported = describe_user_error(error)
            if isinstance(error, UserError) or reported is None:
                raise
            raise UserError(f"plot '{plot.title}': kind '{plot.kind}' does not draw it: {reported}") from error
        numbers = drawn if isinstance(drawn, pd.DataFrame) else _as_numbers(data)
        if lacks := [name for name in NUMBERS if name not in numbers]:
            raise UserError(f"kind '{plot.kind}' returns a frame without the column {lacks[0]} ({', '.join(NUMBERS)})")
        numbers = numbers[list(NUMBERS)].reset_index(drop=True)
        if len(numbers):
            _finish(axes, numbers, _may_be_negative(kind, data, numbers))
            self._add_legend(axes, data.keys)
            self._lay_out()
        return numbers

    def svg(self) -> str:
        """Return the drawing as an <svg> element for a page."""
        axes, plot = self.axes, self.data.plot
        label = f"{plot.title}: {axes.get_ylabel() or 'states'} over {axes.get_xlabel()}"
        return svg.element(self._as_svg(), label, self.data.tooltips)

    def save(self, path: Path, form: str) -> None:
        """Write the drawing as svg, pdf or pgf. Save pgf last, since it converts the texts to LaTeX."""
        title = self.data.plot.title
        if form == "svg":
            path.write_text(self._as_svg(), encoding="utf-8")
        elif form == "pdf":
            reported = {"Title": title, "CreationDate": None, "Producer": None, "Creator": None}
            self.figure.savefig(path, format="pdf", metadata=reported)
        else:
            self._save_pgf(path)

    def _as_svg(self) -> str:
        import matplotlib

        text = io.StringIO()
        reported = {"Title": self.data.plot.title, "Date": None, "Creator": None, "Format": None, "Type": None}
        # these ids differ from the ids of other figures
        with matplotlib.rc_context({"svg.hashsalt": repr(self.data.plot)}):
            self.figure.savefig(text, format="svg", metadata=reported)
        return text.getvalue()

    def _save_pgf(self, path: Path) -> None:
        import matplotlib
        from matplotlib.text import Text
        from matplotlib.ticker import FuncFormatter

        system = next(filter(shutil.which, TEX_SYSTEMS), None)
        if system is None:
            raise UserError("PGF needs LaTeX, which measures the texts (Debian: texlive-latex-base, texlive-pictures)")
        for axis in (self.axes.xaxis, self.axes.yaxis):
            plain = axis.get_major_formatter()
            axis.set_major_formatter(FuncFormatter(lambda value, at, plain=plain: escape(plain(value, at))))
        ticks = {id(text) for axis in (self.axes.xaxis, self.axes.yaxis) for text in axis.get_ticklabels()}
        for text in self.figure.findobj(Text):
            if id(text) not in ticks:
                text.set_text(escape(text.get_text()))
        with matplotlib.rc_context({"pgf.texsystem": system}):
            self.figure.savefig(path, format="pgf")

    def _lay_out(self) -> None:
        """Compute the layout once for all files, since this takes a third of the time."""
        engine = self.figure.get_layout_engine()
        assert engine is not None
        engine.execute(self.figure)
        self.figure.set_layout_engine("none")

    def _add_legend(self, axes: Axes, keys: list[Any]) -> None:
        """Write the labels of all artists below the axes, where they cover no data."""
        handles, labels = axes.get_legend_handles_labels()
        handles, labels = [*handles, *keys], [*labels, *(str(one.get_label()) for one in keys)]
        if not labels:
            return
        words = [label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…" for label in labels]
        columns = max(1, min(len(words), LEGEND_LETTERS // (max(map(len, words)) + 5)))
        rows = -(-len(words) // columns)
        self.figure.set_size_inches(WIDTH_IN, HEIGHT_IN + rows * LEGEND_ROW_IN)
        self.figure.legend(handles, words, loc="outside lower left", ncols=columns)


def _as_numbers(data: Data) -> pd.DataFrame:
    """Return the values of the runs as numbers, for a kind of plot that returns none itself."""
    values = data.values().rename(columns={"value": "mean"})
    return values.assign(low=NAN, high=NAN, runs=1)


def _may_be_negative(kind: kinds.Kind, data: Data, numbers: pd.DataFrame) -> bool:
    """Return whether the axis may go below 0: for differences, or if a measured or published value is below 0.

    The ends of intervals do not count: the interval of a few counts may reach below 0, and a count cannot.
    """
    runs = data.values()["value"] if kind.formulas(data.plot) else numbers["mean"]
    return kind.signed or bool((runs < 0).any() or (numbers["mean"] < 0).any())


def _finish(axes: Axes, numbers: pd.DataFrame, signed: bool) -> None:
    """Format the ticks as short numbers. Begin an axis at 0 if 0 is near, or if no value can be below 0."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, ScalarFormatter

    means, lows = numbers["mean"], numbers[["mean", "low"]].min().min()
    lows = lows if signed else max(lows, 0.0)
    if axes.get_yscale() == "log" and (means <= 0).any():
        axes.set_yscale("linear")
    if axes.get_yscale() == "linear" and axes.get_autoscaley_on():
        highest = numbers[["mean", "high"]].max().max()
        if highest == 0:
            axes.set_ylim(0, 1)
        elif 0 <= lows < highest / 2:
            axes.set_ylim(bottom=0)
    _begin_at_zero(axes, numbers)
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_minor_formatter(NullFormatter())
            _add_ticks_within_decades(axis)
        if isinstance(axis.get_major_formatter(), ScalarFormatter) or axis.get_scale() == "log":
            axis.set_major_formatter(FuncFormatter(lambda value, _: short(value).removeprefix("1×")))


def _begin_at_zero(axes: Axes, numbers: pd.DataFrame) -> None:
    """Keep the margin of the x axis from going below 0, unless its ticks are names or the values of a sweep."""
    from matplotlib.ticker import FixedLocator

    free = axes.get_xscale() == "linear" and not isinstance(axes.xaxis.get_major_locator(), FixedLocator)
    if free and axes.get_xlim()[0] < 0 <= pd.to_numeric(numbers["x"], errors="coerce").min():
        axes.set_xlim(left=0)


def _add_ticks_within_decades(axis: Any) -> None:
    """Put ticks at 2 and 5, too, if the data span only a few decades."""
    from matplotlib.ticker import FixedLocator, LogLocator

    low, high = axis.get_view_interval()
    if not isinstance(axis.get_major_locator(), FixedLocator) and high / low < 200:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        _widen(axis)


def _widen(axis: Any) -> None:
    """Widen an axis that shows a single value, since matplotlib may leave no margin beside it."""
    limits, set_limits = (getattr(axis.axes, f"{verb}_{axis.axis_name}lim") for verb in ("get", "set"))
    low, high = limits()
    if np.isclose(low, high, rtol=1e-9, atol=0):
        set_limits(low / 2, high * 2)
