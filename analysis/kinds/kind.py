"""Register kinds of plots: functions that draw on a matplotlib Axes.

    @plot_kind
    def spread(ax, data, width=0.5):
        for x, values in data.values().groupby("x")["value"]:
            ax.bar(x, values.max() - values.min(), width, bottom=values.min())

`Plot(..., kind="spread", more={"width": 0.3})` uses it. examples/spread.py is a complete example.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from causeway.analysis.plots import Plot
from causeway.analysis.reduce import expression
from causeway.errors import UserError
from causeway.signatures import checked_arguments

KINDS: dict[str, Kind] = {}
"""Maps names to kinds of plots."""
Draw = Callable[..., Any]
F = TypeVar("F", bound=Draw)


@dataclass(frozen=True)
class Kind:
    """A registered function, with its options and the kind of data that it reads."""

    name: str
    draw: Draw
    """Draws the numbers of a `Data` (figures/data.py) on an Axes. It may return the numbers that it drew."""
    recorded: bool = False
    """True if `y` names a series that runs record, False if it is a scalar or an expression over scalars."""
    signed: bool = False
    """True for differences, which may be negative even if y cannot be."""
    options: dict[str, Any] = field(default_factory=dict)
    """Its keyword arguments with their defaults: the fields of `Plot.more`."""

    def check(self, plot: Plot) -> None:
        """Raise UserError if the fields of the plot do not fit the kind.

        This is called before the study's runs begin.
        """
        if unknown := set(plot.more) - set(self.options):
            takes = f"only {', '.join(self.options)}" if self.options else "none of its own"
            raise UserError(f"plot '{plot.title}': kind '{self.name}' has no '{min(unknown)}', {takes}")
        for formula in self.formulas(plot):
            expression.parse(formula)

    def formulas(self, plot: Plot) -> tuple[str, ...]:
        """Return the scalars, and expressions over them, that a plot reads: y, and the option `over`.

        If the option `of` is not "runs", y names a recorded series or histogram and is left out.
        """
        options = {**self.options, **plot.more}
        if self.recorded or options.get("of", "runs") != "runs":
            return ()
        return (plot.y, options["over"]) if options.get("over") else (plot.y,)


@overload
def plot_kind(function: F) -> F: ...
@overload
def plot_kind(*, name: str = "", recorded: bool = False, signed: bool = False) -> Callable[[F], F]: ...
@checked_arguments
def plot_kind(
    function: F | None = None, *, name: str = "", recorded: bool = False, signed: bool = False
) -> F | Callable[[F], F]:
    """Register a function as a kind of plot, under its own name or `name`.

    The function takes a matplotlib Axes and a `Data`; its keyword arguments are the fields of `Plot.more`. Artists with
    a label appear in the legend. It may return a DataFrame of the numbers that it drew (series, engine, x, mean, low,
    high, runs) for the table of numbers. With `recorded`, y names a series that runs record; with `signed`, the
    numbers are differences.
    """
    if function is not None and not callable(function):
        raise UserError(f"plot_kind was given {function!r}; allowed: a function that draws, def spread(ax, data)")

    def register(one: F) -> F:
        _register(one, name or one.__name__, recorded, signed)
        return one

    return register if function is None else register(function)


def _register(function: Draw, name: str, recorded: bool, signed: bool) -> None:
    parameters = list(inspect.signature(function).parameters.values())[2:]
    there = KINDS.get(name)
    if there is not None and _place(there.draw) != _place(function):
        raise UserError(f"two kinds of plots are called '{name}', in {_place(there.draw)} and {_place(function)}")
    KINDS[name] = Kind(name, function, recorded, signed, {one.name: one.default for one in parameters})


def _place(function: Draw) -> str:
    return f"{function.__code__.co_filename}:{function.__qualname__}"
