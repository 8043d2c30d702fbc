"""Box plots: quartiles and median of the runs at each x, with whiskers to the smallest and the largest value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causeway.analysis.figures import axis
from causeway.analysis.figures.data import numbers
from causeway.analysis.figures.look import Look, groups, says
from causeway.analysis.kinds.kind import plot_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data

ROOM = 0.7
"""The width of all boxes of one x, as a share of the distance between two values of x."""


@plot_kind
def box(ax: Axes, data: Data) -> pd.DataFrame:
    """Draw one box for each x, series and engine. The values of x are treated as names."""
    found = {key: np.percentile(values, (0, 25, 50, 75, 100)).tolist() for key, values in _values(data)}
    counts = {key: len(values) for key, values in _values(data)}
    medians = numbers([(*key, five[2], five[0], five[4], counts[key]) for key, five in found.items()])
    published = data.published()
    if medians.empty:
        return medians
    look, place = Look(medians, published), axis.names(ax, medians, published)
    lines = list(groups(medians))
    width = ROOM / len(lines)
    for at, (series, engine, rows) in enumerate(lines):
        pen = {"color": look.colour(series), "ls": look.dash(engine), "lw": 1.2}
        drawn = ax.bxp(
            [_of_matplotlib(found[series, engine, x]) for x in rows["x"]],
            positions=place(rows["x"]) + (at - (len(lines) - 1) / 2) * width, widths=0.8 * width, showfliers=False,
            boxprops=pen, whiskerprops=pen, capprops={**pen, "ls": "-"}, medianprops={**pen, "ls": "-", "lw": 2.0},
            manage_ticks=False,
        )  # fmt: skip
        for outline, text in zip(drawn["boxes"], says(rows), strict=True):
            data.say(outline, [text])
    look.mark_published(ax, data, lambda rows: place(rows["x"]))
    look.legend(data)
    return pd.concat([medians, published])


def _values(data: Data) -> Any:
    return data.values().groupby(["series", "engine", "x"])["value"]


def _of_matplotlib(five: list[float]) -> dict[str, float]:
    return dict(zip(("whislo", "q1", "med", "q3", "whishi"), five, strict=True))
