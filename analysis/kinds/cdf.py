"""The cumulative distribution of values: for each value, the share of runs (or of samples) up to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causeway.analysis.figures.data import NAN, numbers
from causeway.analysis.figures.look import Look, groups
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.reduce.expression import without_quotes
from causeway.analysis.reduce.spread import in_memory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data

MOST = 400
"""The maximum number of points of a curve. More would not be visible."""


@plot_kind
def cdf(ax: Axes, data: Data, of: str = "runs") -> pd.DataFrame:
    """Draw one curve for each series and engine: of a scalar over runs, or with `of="samples"` of a recorded series."""
    rows = []
    for series, engine, values in distributions(data, of):
        shares = np.arange(1, len(values) + 1) / len(values)
        kept = np.unique(np.linspace(0, len(values) - 1, min(MOST, len(values))).astype(int))
        rows += [(series, engine, float(values[i]), float(shares[i]), NAN, NAN, len(values)) for i in kept]
    curves = numbers(rows)
    if curves.empty:
        return curves
    look = Look(curves)
    for series, engine, points in groups(curves):
        marker = "o" if len(points) == 1 else ""
        pen = {"color": look.colour(series), "ls": look.dash(engine), "marker": marker, "gid": f"{series} {engine}"}
        ax.plot(points["x"].astype(float), points["mean"], drawstyle="steps-post", **pen)
    ax.set_xlabel(data.plot.x_label or without_quotes(data.plot.y))
    ax.set_ylabel(data.plot.y_label or f"share of {of}")
    ax.set_yscale("linear")
    ax.set_ylim(0, 1.02)
    look.legend(data)
    return curves


def distributions(data: Data, of: str) -> Iterator[tuple[str, str, Any]]:
    """Yield series, engine and sorted values: the scalar of each run, or all samples recorded under the plot's y."""
    if of == "samples":
        found = data.samples()
        if found is None:
            return
        frame = in_memory(found[["series", "engine", "value"]])
    else:
        frame = data.values()
    for (series, engine), rows in frame.groupby(["series", "engine"], sort=True):
        yield str(series), str(engine), np.sort(rows["value"].to_numpy(dtype=float))
