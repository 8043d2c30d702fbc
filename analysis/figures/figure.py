"""The numbers of a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from causeway.analysis.plots import Plot
from causeway.analysis.units import in_plain_units

X = float | str


@dataclass(frozen=True)
class Point:
    """One mark: a mean with its interval (NaN where there is none). Published bounds have one or both ends, no mean."""

    x: X
    y: float
    low: float
    high: float
    runs: int


@dataclass
class Line:
    """The points of one series on one engine, or the published points of one series (engine "published")."""

    series: str
    engine: str
    points: list[Point] = field(default_factory=list)


@dataclass
class Figure:
    """All that is drawn for one plot."""

    plot: Plot
    lines: list[Line]
    published: list[Line] = field(default_factory=list)

    @property
    def all_points(self) -> list[Point]:
        return [point for line in (*self.lines, *self.published) for point in line.points]

    @property
    def series(self) -> list[str]:
        """Each has a colour."""
        return list(dict.fromkeys(line.series for line in (*self.lines, *self.published)))

    @property
    def engines(self) -> list[str]:
        """Each has a dash, or a shade."""
        return list(dict.fromkeys(line.engine for line in self.lines))


def in_order(lines: Sequence[Line]) -> list[Line]:
    """By series, as numbers where they are (of one plain unit: 2Mbps before 11Mbps), then by engine."""
    return sorted(lines, key=lambda line: (*_natural(line.series), line.engine))


def _natural(text: str) -> tuple[Any, ...]:
    try:
        return 0, float(text), text
    except ValueError:
        quantity = in_plain_units(text)
        return (1, 0.0, text) if quantity is None else (0, quantity, text)


COLUMNS = (
    "title", "series", "engine", "x", "mean", "ci95_low", "ci95_high", "runs", "study", "kind", "series_name",
    "x_name", "x_unit", "x_scale", "y_name", "y_unit", "y_scale",
)  # fmt: skip
"""Of `rows`."""


def rows(figures: Sequence[Figure], labels: Callable[[Plot], tuple[str, str]]) -> list[tuple[Any, ...]]:
    """Everything drawn, as rows of `COLUMNS`: each says what its axes are. `labels`: what stands along x and y."""
    found = []
    for figure in figures:
        plot = figure.plot
        (x_name, x_unit), (y_name, y_unit) = map(_name_and_unit, labels(plot))
        x, y = (x_name, x_unit, _scale(plot.log_x)), (y_name, y_unit, _scale(plot.log_y))
        found += [
            (plot.title, line.series, line.engine, point.x, point.y, point.low, point.high, point.runs, plot.study,
             plot.kind, plot.series, *x, *y)
            for line in (*figure.lines, *figure.published)
            for point in line.points
        ]  # fmt: skip
    return found


def _name_and_unit(label: str) -> tuple[str, str]:
    """`delay [s]` as `delay` and `s`."""
    name, bracket, unit = label.rpartition("[")
    return (name.strip(), unit.rstrip().removesuffix("]")) if bracket and label.rstrip().endswith("]") else (label, "")


def _scale(log: bool) -> str:
    return "log" if log else "linear"
