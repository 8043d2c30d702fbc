"""Every run as a dot: one scalar over another, or over a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from causeway.analysis.figures import axis
from causeway.analysis.figures.data import NAN, numbers
from causeway.analysis.figures.look import Look, groups, says
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.reduce.expression import without_quotes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data


@plot_kind
def scatter(ax: Axes, data: Data, over: str = "") -> pd.DataFrame:
    """Draw a dot for each run. `over` is the scalar or expression on the x axis; without it, x is a parameter."""
    values = data.values()
    if over:
        values = values.assign(x=data.values(over)["value"]).dropna(subset=["x"])
        ax.set_xlabel(data.plot.x_label or without_quotes(over))
    places = sorted(values[["series", "engine", "x", "value"]].itertuples(index=False, name=None))
    dots, published = numbers([(*place, NAN, NAN, 1) for place in places]), data.published()
    if over or dots.empty:
        published = numbers([])
    if dots.empty:
        return dots
    look = Look(dots, published)
    place = (lambda xs: xs.to_numpy(float)) if over else axis.numbers_or_names(ax, dots, published)
    for series, engine, rows in groups(dots):
        drawn = ax.scatter(
            place(rows["x"]), rows["mean"], s=16, edgecolors=look.colour(series), zorder=3,
            facecolors=look.filling(series, engine), clip_on=False,
        )  # fmt: skip
        data.say(drawn, says(rows), f"{series} {engine}")
    if not over:
        look.mark_published(ax, data, lambda rows: place(rows["x"]))
    look.legend(data, look.dot)
    return pd.concat([dots, published])
