"""Kinds of plots: one function each, which draws a plot on a matplotlib Axes.

kind.py       the decorator `plot_kind`, which registers a function. Start here
line.py       `line`: means over a parameter, joined
bar.py        `bar`
change.py     `change`: differences between one series and the others, in pairs of runs of one seed
over_time.py  `time`: a recorded series over simulated time
state.py      `state`: the states of modules over simulated time
cdf.py        `cdf`: the share of runs, or of samples, up to each value
histogram.py  `histogram`: the share of values in each bin
box.py        `box`: quartiles of runs over a parameter
scatter.py    `scatter`: every run as a dot

The numbers, colours and axes of plots are in causeway.analysis.figures.

Importing a module registers its kinds, so this package imports all of its modules. `load` imports a user's own file
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
def _import_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def known() -> dict[str, Kind]:
    """Return all kinds, by name."""
    _import_all()
    return dict(sorted(KINDS.items()))


def kind_of(name: str) -> Kind:
    """Return the kind with this name."""
    kinds = known()
    if name not in kinds:
        raise UserError(f"there is no kind of plot '{name}', only {', '.join(kinds)}; --kinds FILE.py adds your own")
    return kinds[name]


def load(file: Path) -> tuple[Plot, ...]:
    """Import a file that registers kinds of plots; return its list `plots`, or () if it has none."""
    if not file.is_file():
        raise UserError(f"there is no file {file} with kinds of plots")
    plots = getattr(module_from(file, "causeway_kinds"), "plots", ())
    if not isinstance(plots, list | tuple):
        raise UserError(f"{file}: `plots` is {plots!r}; allowed: a list of Plot")
    for plot in plots:
        if not isinstance(plot, Plot):
            raise UserError(f"{file}: `plots` holds {plot!r}, which is not a Plot")
        for field in ("title", "study", "y", "x", "series", "paper", "kind"):
            if not isinstance(value := getattr(plot, field), str):
                raise UserError(f"{file}: the plot {plot.title!r} has {field}={value!r}; allowed: a text")
        kind_of(plot.kind).check(plot)
    return tuple(plots)
