"""Kinds of plots: one function each, which draws what a plot asks for on a matplotlib Axes.

kind.py       the decorator `plot_kind`, which registers a function. Start here
line.py       `line`: means over a parameter, joined
bar.py        `bar`
change.py     `change`: what changes from one series to the others, in pairs of runs of one seed
over_time.py  `time`: a recorded series over simulated time
state.py      `state`: what modules are doing over simulated time
cdf.py        `cdf`: the share of runs, or of samples, that are at most so large
histogram.py  `histogram`: how often values fall into bins
box.py        `box`: quartiles of runs over a parameter
scatter.py    `scatter`: every run as a dot

What they use, numbers, colours and axes, is in causeway.analysis.figures.

Every module of this package is looked through for kinds; a file of a user's own is looked through by `load`
(`causeway report DIR --kinds FILE.py`).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from causeway.analysis.kinds.kind import KINDS, Kind, plot_kind
from causeway.analysis.plots import Plot
from causeway.errors import UserError
from causeway.toolchain.user_file import module_from

__all__ = ["Kind", "kind_of", "known", "load", "plot_kind"]


@cache
def _look_through() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def known() -> dict[str, Kind]:
    """Return all kinds, by name."""
    _look_through()
    return dict(sorted(KINDS.items()))


def kind_of(name: str) -> Kind:
    """Return the kind with this name."""
    kinds = known()
    if name not in kinds:
        raise UserError(f"there is no kind of plot '{name}', only {', '.join(kinds)}; one of your own: --kinds FILE.py")
    return kinds[name]


def load(file: Path) -> tuple[Plot, ...]:
    """Read a file with kinds of plots, or with a list `plots` of some for a folder that describes none."""
    if not file.is_file():
        raise UserError(f"there is no file {file} with kinds of plots")
    plots = getattr(module_from(file, "causeway_kinds"), "plots", ())
    if not isinstance(plots, list | tuple):
        raise UserError(f"{file}: `plots` is {plots!r}; allowed: a list of Plot")
    for plot in plots:
        if not isinstance(plot, Plot):
            raise UserError(f"{file}: `plots` holds {plot!r}, which is no Plot")
        for field in ("title", "study", "y", "x", "series", "paper", "kind"):
            if not isinstance(value := getattr(plot, field), str):
                raise UserError(f"{file}: the plot {plot.title!r} has {field}={value!r}; allowed: a text")
        kind_of(plot.kind).check(plot)
    return tuple(plots)
