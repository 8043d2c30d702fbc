"""Positions of a parameter's values on the x axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causeway.analysis.figures.numbers import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = Callable[[pd.Series], np.ndarray]
MOST_TICKS = 10
"""The maximum number of values with a tick each. An axis with more values has ticks at round numbers."""
SIDES = 0.06
"""The margin beside the first and the last value, as a share of the axis."""
LETTER = 0.018
"""The width of a letter of a tick's label, as a share of the axis."""


def numbers_or_names(ax: Axes, *frames: pd.DataFrame) -> Place:
    """Return a function from values of x to positions: the values themselves, or `names` if one is not a number."""
    values = pd.concat([frame["x"] for frame in frames])
    if any(isinstance(value, str) for value in values):
        return names(ax, *frames)
    there = np.unique(values.to_numpy(float))
    if not len(there) or there[0] <= 0:
        ax.set_xscale("linear")
    if 1 < len(there) <= MOST_TICKS:
        _tick_at(ax, there)
    elif len(there) == 1:  # matplotlib leaves no margin for some values, e.g. 16, or puts ticks where there is no data
        half = abs(there[0]) / 2 or 1.0
        limits = (there[0] / 2, there[0] * 2) if ax.get_xscale() == "log" else (there[0] - half, there[0] + half)
        ax.set_xlim(*limits)
        ax.set_xticks(there, [short(there[0])])
        ax.set_xticks([], minor=True)
    return lambda xs: xs.to_numpy(float)


def names(ax: Axes, *frames: pd.DataFrame) -> Place:
    """Return a function from values of x to the positions 0, 1, 2, ..., for names side by side."""
    values = pd.concat([frame["x"] for frame in frames]).unique()
    there = sorted(values, key=lambda value: (isinstance(value, str), value))
    at = {value: float(i) for i, value in enumerate(there)}
    words = [short(value) for value in there]
    ax.set_xscale("linear")
    crowded = sum(len(word) + 1 for word in words) * LETTER > 1
    turned: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    ax.set_xticks(range(len(there)), words, **turned)
    ax.set_xlim(-0.5, max(1, len(there)) - 0.5)
    return lambda xs: np.array([at[value] for value in xs])


def _tick_at(ax: Axes, values: np.ndarray) -> None:
    """Put a tick at each value, with a label unless it would overlap the previous one."""
    logarithmic = ax.get_xscale() == "log"
    scaled = np.log10(values) if logarithmic else values
    shares = (scaled - scaled[0]) / (scaled[-1] - scaled[0])
    room = (scaled[-1] - scaled[0]) * SIDES
    limits = scaled[0] - room, scaled[-1] + room
    ax.set_xlim(*(10.0 ** np.array(limits) if logarithmic else limits))
    ax.set_xticks(values, _without_overlaps(shares, [short(value) for value in values.tolist()]))
    ax.set_xticks([], minor=True)


def _without_overlaps(shares: np.ndarray, words: Sequence[str]) -> list[str]:
    """Return the words, with an empty string for each word that would overlap the previous one."""
    written, behind = [], -1.0
    for share, word in zip(shares, words, strict=True):
        half = LETTER * len(word) / 2
        clear = share - half > behind
        written.append(word if clear else "")
        behind = share + half + LETTER if clear else behind
    return written
