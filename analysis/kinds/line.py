"""Means with 95 % intervals over a parameter, joined by a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from causeway.analysis.figures import axis
from causeway.analysis.figures.look import Look, groups, says
from causeway.analysis.kinds.kind import plot_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data


@plot_kind
def line(ax: Axes, data: Data) -> pd.DataFrame:
    """Draw one line for each series and engine."""
    measured, published = data.means(), data.published()
    if measured.empty:
        return measured
    draw_lines(ax, data, measured, published)
    return pd.concat([measured, published])


def draw_lines(ax: Axes, data: Data, measured: pd.DataFrame, published: pd.DataFrame) -> None:
    """Draw rows of means as lines with their intervals, published numbers beside them, and the legend."""
    look, place = Look(measured, published), axis.numbers_or_names(ax, measured, published)
    for series, engine, rows in groups(measured):
        rows = rows[np.isfinite(rows["mean"])]
        drawn = ax.errorbar(
            place(rows["x"]), rows["mean"], yerr=whiskers(rows), color=look.colour(series), ls=look.dash(engine),
            marker="o", mfc=look.filling(series, engine),
        )  # fmt: skip
        drawn[0].set_clip_on(False)  # marks at the edge are drawn completely; only intervals are clipped there
        look.move_beside(ax, drawn, engine)
        data.say(drawn[0], says(rows), f"{series} {engine}")
    look.mark_published(ax, data, lambda rows: place(rows["x"]))
    joined = measured.groupby(["series", "engine"]).size().max() > 1
    look.legend(data, None if joined else look.dot)


def whiskers(rows: pd.DataFrame) -> np.ndarray:
    """Return the lengths of intervals below and above their means, NaN for a single run."""
    return np.array([rows["mean"] - rows["low"], rows["high"] - rows["mean"]]).clip(min=0)
