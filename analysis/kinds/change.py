"""Differences between variants over runs of common seeds, with their intervals.

Runs of one seed have the same random numbers, for example for the times of messages and the movement of hosts. The
intervals of two means ignore this: they may overlap even if one variant is better for every seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from causeway.analysis.figures.data import numbers
from causeway.analysis.figures.style import INK
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.kinds.line import draw_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data


@plot_kind(signed=True)
def change(ax: Axes, data: Data, against: str = "") -> pd.DataFrame:
    """Draw the mean difference of y between each series and the series `against`, in pairs of runs of one seed."""
    changes = data.changes(against)
    if not changes.empty:
        ax.axhline(0, color=INK.light, lw=0.8, zorder=1)
        draw_lines(ax, data, changes, numbers([]))
    return changes
