"""A recorded series over simulated time: its mean over runs, and the 95 % interval as a band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from causeway.analysis.figures.look import Look, groups
from causeway.analysis.kinds.kind import plot_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data


@plot_kind(name="time", recorded=True)
def over_time(ax: Axes, data: Data, bins: int = 60) -> pd.DataFrame:
    """Draw one curve for each series and engine. `bins` is the number of bins of time."""
    curves = data.over_time(int(bins))
    if curves.empty:
        return curves
    look = Look(curves)
    for series, engine, rows in groups(curves):
        times, colour = rows["x"].to_numpy(float), look.colour(series)
        if rows["low"].notna().sum() > 1:
            ax.fill_between(times, rows["low"], rows["high"], color=colour, alpha=0.16, lw=0, gid=f"{series} band")
        ax.plot(times, rows["mean"], color=colour, ls=look.dash(engine), marker="o" if len(rows) == 1 else "",
                gid=f"{series} {engine}")  # fmt: skip
    ax.margins(x=0.01)
    look.legend(data)
    return curves
