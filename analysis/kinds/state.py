"""The states of modules over time: a row for each module, in the colours of its states."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd

from causeway.analysis.figures.data import NAN, numbers
from causeway.analysis.figures.numbers import short
from causeway.analysis.figures.style import SERIES
from causeway.analysis.kinds.kind import plot_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causeway.analysis.figures.data import Data

MOST_ROWS = 24
"""The maximum number of rows that a reader can distinguish."""
THICK = 0.84
LONGEST_NAME = 16


@plot_kind(recorded=True)
def state(ax: Axes, data: Data, states: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Draw a recorded series of states, for the first run of each engine. y may be a pattern of modules.

    `states={"0": "idle", "1": "busy"}` gives names to the values.
    """
    from matplotlib.patches import Patch

    found = data.states(MOST_ROWS)
    values = sorted({value for _, rows in found.values() for value in rows})
    colours = {value: SERIES[i % len(SERIES)].light for i, value in enumerate(values)}
    words = {value: str((states or {}).get(short(value), short(value))) for value in values}
    for row, ((_, module), (times, states_of)) in enumerate(found.items()):
        spans = [(begin, end - begin) for begin, end in pairwise(times)]
        drawn = ax.broken_barh(spans, (row - THICK / 2, THICK), facecolors=[colours[v] for v in states_of[:-1]], lw=0)
        data.say(
            drawn, [f"{module}: {words[v]} from {short(t)} s" for t, v in zip(times, states_of[:-1], strict=False)]
        )
    data.keys += [Patch(color=colours[value], label=words[value]) for value in values]
    if found:
        last = max(times[-1] for times, _ in found.values())
        ax.set_yticks(range(len(found)), list(map(_short_name, _names(list(found)))))
        ax.set(
            xlim=(min(times[0] for times, _ in found.values()), last), ylim=(len(found) - 0.5, -0.5), yscale="linear"
        )
    ax.set_ylabel(data.plot.y_label)
    ax.grid(visible=False)
    return numbers([
        (module, engine, time, value, NAN, NAN, 1)
        for (engine, module), rows in found.items()
        for time, value in zip(*rows, strict=True)
    ])  # fmt: skip


def _names(keys: list[tuple[str, str]]) -> list[str]:
    """Return the names of rows: modules without their common prefix and suffix, with the engine if there are two."""
    names = _without_common_parts([module for _, module in keys])
    several = len({engine for engine, _ in keys}) > 1
    return [f"{engine} {name}" if several else name for (engine, _), name in zip(keys, names, strict=True)]


def _without_common_parts(names: list[str]) -> list[str]:
    """Shorten names by their common parts: `Net.server[0].queue` becomes `server[0]` beside `Net.server[1].queue`."""
    paths = [name.split(".") for name in names]
    shortest = min(map(len, paths), default=0)
    if len(set(names)) < 2:
        return [path[-1] for path in paths]
    begin = next((i for i in range(shortest) if len({path[i] for path in paths}) > 1), 0)
    end = next((i for i in range(shortest) if len({path[-1 - i] for path in paths}) > 1), 0)
    return [".".join(path[begin : len(path) - end]) for path in paths]


def _short_name(name: str) -> str:
    """Return the end of a long name, since the last part of a module's path is the most specific."""
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
