"""Colours, line styles and legends of a figure.

A colour identifies a series, and a dash (or a shade) an engine. A hollow diamond is a published number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causeway.analysis.figures.numbers import pretty, short
from causeway.analysis.figures.style import DASHES, HOLLOW, INK, SERIES, SHADES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import Container

    from causeway.analysis.figures.data import Data

PUBLISHED = "published"
BESIDE_PT = 3.0
"""The distance between the marks of two engines at one x, so that their intervals do not hide each other."""
POINTS_UP, POINTS_DOWN = 10, 11
"""matplotlib's markers CARETUPBASE and CARETDOWNBASE. They mark a bound and point towards the allowed values."""
Rows = tuple[str, str, pd.DataFrame]


def groups(frame: pd.DataFrame) -> Iterator[Rows]:
    """Yield the series, the engine and the rows of each line of a figure, in order."""
    for (series, engine), rows in frame.groupby(["series", "engine"], sort=False):
        yield str(series), str(engine), rows


class Look:
    """The colours of the series and the dashes of the engines of one figure."""

    def __init__(self, *frames: pd.DataFrame) -> None:
        both = pd.concat([frame[["series", "engine"]] for frame in frames])
        self.series = list(dict.fromkeys(both["series"]))
        self.engines = [engine for engine in dict.fromkeys(both["engine"]) if engine != PUBLISHED]
        self.has_published = PUBLISHED in set(both["engine"])

    def colour(self, series: str) -> str:
        """Return the colour of a series."""
        return SERIES[self.series.index(series) % len(SERIES)].light

    def dash(self, engine: str) -> Any:
        """Return the line style of an engine."""
        return DASHES[self.engines.index(engine) % len(DASHES)]

    def shade(self, engine: str) -> float:
        """Return the opacity of an engine's bars."""
        return SHADES[self.engines.index(engine) % len(SHADES)]

    def filling(self, series: str, engine: str) -> str:
        """Return the fill colour of an engine's dots: filled and hollow in turns."""
        return HOLLOW.light if self.engines.index(engine) % 2 else self.colour(series)

    def move_beside(self, ax: Axes, drawn: Container, engine: str) -> None:
        """Move an engine's marks beside those of the other engines. The limits of the axes must be set before."""
        from matplotlib.transforms import ScaledTranslation

        points = (self.engines.index(engine) - (len(self.engines) - 1) / 2) * BESIDE_PT
        figure = ax.get_figure()
        assert figure is not None
        moved = ax.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)
        for artist in drawn.get_children():
            artist.set_transform(moved)

    def dot(self, engine: str) -> Any:
        """Return the legend's handle of an engine whose points are not joined by a line."""
        from matplotlib.lines import Line2D

        inside = HOLLOW.light if self.engines.index(engine) % 2 else INK.light
        return Line2D([], [], ls="", marker="o", color=INK.light, mfc=inside)

    def legend(self, data: Data, key: Callable[[str], Any] | None = None) -> None:
        """Add colours, dashes and diamonds to the legend.

        `key` makes the handle of an engine; by default it is a line.
        """
        from matplotlib.lines import Line2D

        parameter = data.plot.series
        for name in self.series if parameter else ():
            data.keys.append(Line2D([], [], color=self.colour(name), lw=2.5, label=f"{parameter} {pretty(name)}"))
        for engine in self.engines:
            one = key(engine) if key else Line2D([], [], color=INK.light, ls=self.dash(engine))
            one.set_label(engine)
            data.keys.append(one)
        if self.has_published:
            data.keys.append(Line2D([], [], **_DIAMOND, color=INK.light, label=PUBLISHED))

    def mark_published(self, ax: Axes, data: Data, at: Callable[[pd.DataFrame], np.ndarray]) -> None:
        """Draw published numbers as hollow diamonds, and published bounds as strokes.

        `at` returns the x of each row.
        """
        for series, _, rows in groups(data.published()):
            colour, xs = self.colour(series), at(rows)
            known = rows["mean"].notna().to_numpy()
            (drawn,) = ax.plot(xs[known], rows["mean"][known], **_DIAMOND, color=colour, clip_on=False)
            data.say(
                drawn, [f"{PUBLISHED}: {_point_text(row)}" for row in rows[known].itertuples()], f"{PUBLISHED} {series}"
            )
            for x, row in zip(xs[~known], rows[~known].itertuples(), strict=True):
                _bounds(ax, data, float(x), row, colour)


_DIAMOND: dict[str, Any] = {"ls": "", "marker": "D", "ms": 5.5, "mew": 1.4, "mfc": HOLLOW.light, "zorder": 4}


def _bounds(ax: Axes, data: Data, x: float, row: Any, colour: str) -> None:
    """Draw a published range as a dashed line with ends, or a bound as a marker that points to the allowed values."""
    if np.isfinite(row.low) and np.isfinite(row.high):
        ax.plot([x, x], [row.low, row.high], color=colour, ls=(0, (3, 3)), lw=1.4, zorder=4)
    for end, points in ((row.low, POINTS_UP), (row.high, POINTS_DOWN)):
        if np.isfinite(end):
            pen: dict[str, Any] = {"ls": "", "mew": 1.4, "color": colour, "zorder": 4}
            if not (np.isfinite(row.low) and np.isfinite(row.high)):
                ax.plot([x], [end], marker=points, mfc=HOLLOW.light, ms=7, clip_on=False, **pen)
            (drawn,) = ax.plot([x], [end], marker="_", ms=9, clip_on=False, **pen)
            data.say(drawn, [f"{PUBLISHED}: {short(row.x)}: {short(row.low)} to {short(row.high)}"])


def says(rows: pd.DataFrame) -> list[str]:
    """Return a tooltip for each row: x, mean, interval and number of runs."""
    return [f"{_point_text(row)}, {row.runs} run{'s' * (row.runs != 1)}" for row in rows.itertuples()]


def _point_text(row: Any) -> str:
    interval = f" ({short(row.low)} to {short(row.high)})" if np.isfinite(row.low) else ""
    return f"{short(row.x)}: {short(row.mean)}{interval}"
