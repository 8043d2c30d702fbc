"""Means with 95 % intervals as bars. The bars of one x are side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from causeway.analysis.figures import axis
from causeway.analysis.figures.look import Look, groups, says
from causeway.analysis.figures.style import INK
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.kinds.line import whiskers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data

ROOM = 0.8
"""The width of all bars of one x, as a share of the distance between two values of x."""


@plot_kind
def bar(ax: Axes, data: Data) -> pd.DataFrame:
    """Draw one bar for each x, series and engine. The values of x are treated as names."""
    from matplotlib.patches import Patch

    measured, published = data.means(), data.published()
    if measured.empty:
        return measured
    look, place = Look(measured, published), axis.names(ax, measured, published)
    lines = list(groups(measured))
    width = ROOM / len(lines)
    beside: dict[str, list[float]] = {}
    for at, (series, engine, rows) in enumerate(lines):
        offset = (at - (len(lines) - 1) / 2) * width
        beside.setdefault(series, []).append(offset)
        drawn = ax.bar(
            place(rows["x"]) + offset, rows["mean"], 0.92 * width, yerr=whiskers(rows), color=look.colour(series),
            alpha=look.shade(engine), error_kw={"ecolor": INK.light, "elinewidth": 0.9},
        )  # fmt: skip
        for patch, text in zip(drawn, says(rows), strict=True):
            data.say(patch, [text])

    def over_its_bars(rows: pd.DataFrame) -> np.ndarray:
        return place(rows["x"]) + np.mean(beside.get(rows["series"].iloc[0], [0.0]))

    look.mark_published(ax, data, over_its_bars)
    look.legend(data, lambda engine: Patch(color=INK.light, alpha=look.shade(engine)))
    return pd.concat([measured, published])
