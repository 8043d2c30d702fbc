"""Find figures that average over runs that differ in more than their seeds."""

from __future__ import annotations

from typing import Any

from causeway.analysis import kinds
from causeway.analysis.figures.data import Data

NO_PARAMETERS = frozenset({"repetition"})
"""Parameters of converted runs that only number the repetitions."""

EACH_RUN = frozenset({"scatter", "state"})
"""Kinds of plots in which every run has marks of its own."""


def pooled(data: Data) -> list[str]:
    """Return the parameters in which runs behind one mark of the figure differ, though the figure does not show them.

    A plot over time shows no parameter on its x axis, so each of its points averages over all runs of a series.
    """
    plot, there = data.plot, data.there
    if plot.kind in EACH_RUN or there.empty:
        return []
    texts = data.runs.texts.reindex(there)
    shown = [name for name in (plot.series, "" if kinds.kind_of(plot.kind).recorded else plot.x) if name in texts]
    keys = [data.runs.runs.loc[there, "engine"], *(texts[name] for name in shown)]
    hidden = [name for name in map(str, texts) if name not in shown and name not in NO_PARAMETERS]
    groups: Any = texts.groupby(keys, dropna=False)
    return [name for name in hidden if (groups[name].nunique() > 1).any()]
