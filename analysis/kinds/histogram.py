"""Histograms: the share of values in each of several bins of equal width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causeway.analysis.figures.data import NAN, numbers
from causeway.analysis.figures.look import Look, groups
from causeway.analysis.kinds.cdf import distributions
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.reduce.expression import without_quotes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data

Outline = tuple[str, str, Any, Any, int]
"""Series, engine, edges, the share in each bin, and the number of values (or runs)."""


@plot_kind
def histogram(ax: Axes, data: Data, of: str = "runs", bins: int = 20) -> pd.DataFrame:
    """Draw one outline for each series and engine, over the same bins.

    `of` takes the values that it takes in `cdf`, and also "recorded". Then y names histograms that the runs recorded,
    and the histograms of one series are added up.
    """
    found = list(_recorded(data) if of == "recorded" else _counted(data, of, bins))
    outlines = numbers([
        (series, engine, float(edge), float(share), NAN, NAN, count)
        for series, engine, edges, shares, count in found
        for edge, share in zip(edges, [*shares, 0.0], strict=True)  # 0: the end of the last bin
    ])  # fmt: skip
    if outlines.empty:
        return outlines
    look = Look(outlines)
    for series, engine, rows in groups(outlines):
        pen = {"color": look.colour(series), "ls": look.dash(engine), "lw": 1.4, "gid": f"{series} {engine}"}
        ax.stairs(rows["mean"].to_numpy()[:-1], rows["x"].to_numpy(float), **pen)
    ax.set_xlabel(data.plot.x_label or without_quotes(data.plot.y))
    ax.set_ylabel(data.plot.y_label or f"share of {'what was recorded' if of == 'recorded' else of}")
    ax.set_ylim(bottom=0)
    look.legend(data)
    return outlines


def _counted(data: Data, of: str, bins: int) -> Iterator[Outline]:
    found = [(series, engine, values[np.isfinite(values)]) for series, engine, values in distributions(data, of)]
    found = [one for one in found if len(one[2])]
    if found:
        edges = np.histogram_bin_edges(np.concatenate([values for _, _, values in found]), bins)
        for series, engine, values in found:
            yield series, engine, edges, np.histogram(values, edges)[0] / len(values), len(values)


def _recorded(data: Data) -> Iterator[Outline]:
    """Yield the histograms that runs recorded. Bins with the same edges are added up.

    Values below the first edge and beyond the last one count in the total, but are not drawn.
    """
    for (series, engine), rows in data.bins().groupby(["series", "engine"], sort=True):
        counted = rows.groupby("edge")["value"].sum().sort_index()
        whole, edges, values = float(counted.sum()), counted.index.to_numpy(float), counted.to_numpy(float)
        inside = np.isfinite(edges)
        if whole > 0 and inside.sum() > 1:
            yield str(series), str(engine), edges[inside], values[inside][:-1] / whole, rows["run_id"].nunique()
