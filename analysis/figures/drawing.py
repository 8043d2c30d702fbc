"""Figures as inline SVG: no library, no network; colours come from the page's style, so they follow light and dark.

A colour stands for a series, the dash and the mark of a line for its engine. Published points are hollow diamonds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from causeway.analysis.figures.figure import Figure, Line, Point, X
from causeway.analysis.figures.numbers import linear_ticks, log_ticks, short

if TYPE_CHECKING:
    from causeway.analysis.kinds.kind import PlotKind

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 74, 14, 12, 46
COLOURS = 8
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
INNER_WIDTH = WIDTH - LEFT - RIGHT
Scale = Callable[[X], float]


@dataclass
class Axes:
    """Where values lie on the drawing, and what stands along its edges."""

    x: Scale
    y: Callable[[float], float]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


@dataclass
class Drawing:
    """A figure with its axes, as marks need it."""

    figure: Figure
    axes: Axes

    def engine(self, line: Line) -> int:
        """The number of its engine, which gives its dash or shade."""
        return self.figure.engines.index(line.engine)

    def colour(self, line: Line) -> str:
        """The class of its series."""
        return f"s{self.figure.series.index(line.series) % COLOURS}"


def draw(figure: Figure, kind: PlotKind) -> str:
    """The figure as an <svg> element."""
    drawing = Drawing(figure, kind.axes(figure))
    body = [_grid(drawing.axes, kind.x_label(figure.plot), kind.y_label(figure.plot))]
    body += [f'<g class="{drawing.colour(line)}">{kind.mark(line, drawing)}</g>' for line in figure.lines]
    for line in figure.published:
        beside = kind.published_at(line, drawing)
        marks = "".join(_diamond(point, drawing.axes, beside) for point in line.points)
        body.append(f'<g class="{drawing.colour(line)}">{marks}</g>')
    label = kind.spoken(figure.plot)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(body)}</svg>'


def legend(figure: Figure, kind: PlotKind) -> str:
    """What colours, dashes and diamonds mean, as HTML."""
    items = []
    for colour, words in kind.colours(figure):
        key = f'<svg viewBox="0 0 22 10" class="key s{colour}"><path d="M1 5H21"/></svg>'
        items.append(f"<li>{key}{escape(words)}</li>")
    for index, engine in enumerate(figure.engines):
        key = f'<svg viewBox="0 0 22 10" class="key plain">{kind.key(index)}</svg>'
        items.append(f"<li>{key}{escape(engine)}</li>")
    if figure.published:
        key = '<svg viewBox="0 0 22 10" class="key plain"><path class="published" d="M11 0L16 5L11 10L6 5Z"/></svg>'
        items.append(f"<li>{key}published</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def dash(engine: int) -> str:
    return _DASHES[engine % len(_DASHES)]


def pretty(name: str) -> str:
    """A value of a parameter, shortened if it is a number."""
    try:
        return short(float(name))
    except ValueError:
        return name


# --- scales ---


def axes_for(figure: Figure, kind: PlotKind) -> Axes:
    """Axes that hold all points: ticks at round numbers, or at the values of a sweep."""
    points = figure.all_points
    ys = [y for point in points for y in (point.y, point.low, point.high) if math.isfinite(y)]
    log_y = figure.plot.log_y and all(point.y > 0 for point in points if math.isfinite(point.y))
    if log_y:
        ys = [y for y in ys if y > 0]
    low, high = (min(ys), max(ys)) if ys else (0.0, 1.0)
    if not log_y and low > 0 and (kind.counts_from_zero or low < high / 2):
        low = 0.0
    y_ticks = log_ticks(low, high) if log_y else linear_ticks(low, high)
    y = scale(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP, log_y)
    x, x_ticks = _x_axis(figure, kind, points)
    return Axes(x, y, x_ticks, [(y(tick), short(tick)) for tick in y_ticks])


def _x_axis(figure: Figure, kind: PlotKind, points: list[Point]) -> tuple[Scale, list[tuple[float, str]]]:
    if kind.is_categorical(figure):
        names = sorted({point.x for point in points}, key=lambda x: (isinstance(x, str), x))
        step = INNER_WIDTH / max(1, len(names))
        places = {name: LEFT + step * (index + 0.5) for index, name in enumerate(names)}
        return places.__getitem__, [(places[name], short(name)) for name in names]
    xs = [float(point.x) for point in points] or [0.0, 1.0]
    low, high = min(xs), max(xs)
    log_x = figure.plot.log_x and low > 0
    distinct = sorted(set(xs))
    if not kind.recorded and 1 < len(distinct) <= 10:  # a sweep: its own values are the ticks
        ticks = distinct
    else:
        ticks = log_ticks(low, high) if log_x else linear_ticks(low, high)
        low, high = min(low, ticks[0]), max(high, ticks[-1])
    pad = 18 if ticks is distinct else 0
    place = scale(low, high, LEFT + pad, WIDTH - RIGHT - pad, log_x)
    return lambda x: place(float(x)), _apart([(place(tick), short(tick)) for tick in ticks])


def time_axis(times: list[X]) -> tuple[Scale, list[tuple[float, str]]]:
    """From the first to the last time, which the rows of states fill."""
    xs = [float(time) for time in times] or [0.0, 1.0]
    ticks = [tick for tick in linear_ticks(min(xs), max(xs)) if min(xs) <= tick <= max(xs)]
    place = scale(min(xs), max(xs), LEFT, WIDTH - RIGHT, False)
    return lambda x: place(float(x)), _apart([(place(tick), short(tick)) for tick in ticks])


def _apart(ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """The ticks, without the labels of those that would run into the one before."""
    kept, behind = [], -math.inf
    for place, text in ticks:
        half = 3.6 * len(text)
        clear = place - half > behind + 6
        kept.append((place, text if clear else ""))
        behind = place + half if clear else behind
    return kept


def scale(low: float, high: float, start: float, end: float, log: bool) -> Callable[[float], float]:
    """From values between `low` and `high` to places between `start` and `end`."""
    if log:
        low, high = math.log10(low), math.log10(high)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        at = math.log10(max(value, 1e-300)) if log else value
        return round(start + (min(max(at, low), high) - low) / span * (end - start), 2)

    return place


# --- marks ---


def _grid(axes: Axes, x_label: str, y_label: str) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = [f'<path class="grid" d="M{LEFT} {y}H{right}"/>' for y, _ in axes.y_ticks]
    lines += [f'<path class="tick" d="M{x} {bottom}v5"/>' for x, _ in axes.x_ticks]
    lines += [f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{text}</text>' for y, text in axes.y_ticks]
    lines += [f'<text x="{x}" y="{bottom + 19}" text-anchor="middle">{escape(t)}</text>' for x, t in axes.x_ticks]
    lines.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    middle = (LEFT + right) / 2
    lines.append(f'<text class="name" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>')
    name, y = escape(y_label), (TOP + bottom) / 2
    lines.append(f'<text class="name" transform="translate(13 {y}) rotate(-90)" text-anchor="middle">{name}</text>')
    return "".join(lines)


def path(places: list[tuple[float, float]], dashes: str) -> str:
    """Places, joined."""
    if not places:
        return ""
    return f'<path class="line" stroke-dasharray="{dashes}" d="M{"L".join(f"{x} {y}" for x, y in places)}"/>'


def whisker(point: Point, x: float, axes: Axes) -> str:
    """The interval of a mean."""
    if not (math.isfinite(point.low) and math.isfinite(point.high)):
        return ""
    low, high = axes.y(point.low), axes.y(point.high)
    return f'<path class="whisker" d="M{x} {low}V{high}M{x - 4} {low}h8M{x - 4} {high}h8"/>'


def told(point: Point) -> str:
    """What a mark says when the pointer rests on it."""
    interval = f" ({short(point.low)} to {short(point.high)})" if math.isfinite(point.low) else ""
    return f"<title>{escape(short(point.x))}: {short(point.y)}{interval}, {point.runs} runs</title>"


def _diamond(point: Point, axes: Axes, beside: float) -> str:
    """A published number; of bounds a dashed stroke from one to the other, or to the end of the axis."""
    x = axes.x(point.x) + beside
    if math.isnan(point.y):
        bottom = HEIGHT - BOTTOM if math.isnan(point.low) else axes.y(point.low)
        top = TOP if math.isnan(point.high) else axes.y(point.high)
        ends = [
            f"M{x - 5:.2f} {end}h10" for end, is_open in ((bottom, point.low), (top, point.high)) if is_open == is_open
        ]
        says = f"<title>published: {escape(short(point.x))}: {short(point.low)} to {short(point.high)}</title>"
        return (
            f'<path class="published" stroke-dasharray="3 3" d="M{x:.2f} {bottom}V{top}{"".join(ends)}">{says}</path>'
        )
    y = axes.y(point.y)
    says = f"<title>published: {escape(short(point.x))}: {short(point.y)}</title>"
    return f'<path class="published" d="M{x:.2f} {y - 6:.2f}l6 6l-6 6l-6 -6Z">{says}</path>'
