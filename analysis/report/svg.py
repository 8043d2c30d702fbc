"""Figures as inline SVG: no library, no network; colours come from the page's style, so they follow light and dark.

A colour stands for a series, the dash and the mark of a line for its engine. Published points are hollow diamonds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from causeway.analysis.report.figures import Figure, Line, Point, X
from causeway.analysis.report.numbers import linear_ticks, log_ticks, short

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 46
COLOURS = 8
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
_SHADES = (0.85, 0.5, 0.3, 0.15)
Scale = Callable[[X], float]


@dataclass
class Axes:
    """Where values lie on the drawing, and what stands along its edges."""

    x: Scale
    y: Callable[[float], float]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


def draw(figure: Figure) -> str:
    """The figure as an <svg> element."""
    axes = _axes(figure)
    series = list(dict.fromkeys(line.series for line in (*figure.lines, *figure.published)))
    engines = list(dict.fromkeys(line.engine for line in figure.lines))
    body = [_grid(figure, axes)]
    bars = figure.plot.kind == "bar"
    slots = {(line.series, line.engine): index for index, line in enumerate(figure.lines)}
    for line in figure.lines:
        style = f'class="s{series.index(line.series) % COLOURS}"'
        engine = engines.index(line.engine)
        if bars:
            slot = (slots[line.series, line.engine], len(slots))
            marks = _bars(line, axes, slot, len(axes.x_ticks), _SHADES[engine % len(_SHADES)])
        elif figure.plot.kind == "time":
            marks = _curve(line, axes, _DASHES[engine % len(_DASHES)])
        else:
            beside = (engine - (len(engines) - 1) / 2) * 5  # so that intervals of engines do not hide each other
            marks = _line(line, axes, _DASHES[engine % len(_DASHES)], beside)
        body.append(f"<g {style}>{marks}</g>")
    for line in figure.published:
        at = [index for (name, _), index in slots.items() if name == line.series] if bars else []
        marks = "".join(_diamond(point, axes, at, len(slots)) for point in line.points)
        body.append(f'<g class="s{series.index(line.series) % COLOURS}">{marks}</g>')
    label = escape(f"{figure.plot.title}: {figure.plot.y_label or figure.plot.y} over {_x_label(figure)}", quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(body)}</svg>'


def legend(figure: Figure) -> str:
    """What colours, dashes and diamonds mean, as HTML."""
    series = list(dict.fromkeys(line.series for line in (*figure.lines, *figure.published)))
    engines = list(dict.fromkeys(line.engine for line in figure.lines))
    items = []
    if figure.plot.series:
        for index, name in enumerate(series):
            key = f'<svg viewBox="0 0 22 10" class="key s{index % COLOURS}"><path d="M1 5H21"/></svg>'
            items.append(f"<li>{key}{escape(figure.plot.series)} {escape(_pretty(name))}</li>")
    for index, engine in enumerate(engines):
        mark = f'<path d="M1 5H21" stroke-dasharray="{_DASHES[index % len(_DASHES)]}"/>'
        if figure.plot.kind == "bar":
            mark = f'<rect x="4" width="14" height="10" opacity="{_SHADES[index % len(_SHADES)]}"/>'
        key = f'<svg viewBox="0 0 22 10" class="key plain">{mark}</svg>'
        items.append(f"<li>{key}{escape(engine)}</li>")
    if figure.published:
        key = '<svg viewBox="0 0 22 10" class="key plain"><path class="published" d="M11 0L16 5L11 10L6 5Z"/></svg>'
        items.append(f"<li>{key}published</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _pretty(name: str) -> str:
    try:
        return short(float(name))
    except ValueError:
        return name


def _x_label(figure: Figure) -> str:
    return figure.plot.x_label or figure.plot.x or ("simulated time [s]" if figure.plot.kind == "time" else "")


# --- scales ---


def _axes(figure: Figure) -> Axes:
    points = figure.all_points
    ys = [y for point in points for y in (point.y, point.low, point.high) if math.isfinite(y)]
    log_y = figure.plot.log_y and all(point.y > 0 for point in points if math.isfinite(point.y))
    if log_y:
        ys = [y for y in ys if y > 0]
    low, high = (min(ys), max(ys)) if ys else (0.0, 1.0)
    if not log_y and low > 0 and (figure.plot.kind == "bar" or low < high / 2):
        low = 0.0
    y_ticks = log_ticks(low, high) if log_y else linear_ticks(low, high)
    y = _scale(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP, log_y)
    x, x_ticks = _x_axis(figure, points)
    return Axes(x, y, x_ticks, [(y(tick), short(tick)) for tick in y_ticks])


def _x_axis(figure: Figure, points: list[Point]) -> tuple[Scale, list[tuple[float, str]]]:
    if figure.categorical:
        names = sorted({point.x for point in points}, key=lambda x: (isinstance(x, str), x))
        step = (WIDTH - LEFT - RIGHT) / max(1, len(names))
        places = {name: LEFT + step * (index + 0.5) for index, name in enumerate(names)}
        return places.__getitem__, [(places[name], short(name)) for name in names]
    xs = [float(point.x) for point in points] or [0.0, 1.0]
    low, high = min(xs), max(xs)
    log_x = figure.plot.log_x and low > 0
    distinct = sorted(set(xs))
    if figure.plot.kind != "time" and 1 < len(distinct) <= 10:  # a sweep: its own values are the ticks
        ticks = distinct
    else:
        ticks = log_ticks(low, high) if log_x else linear_ticks(low, high)
        low, high = min(low, ticks[0]), max(high, ticks[-1])
    pad = 18 if ticks is distinct else 0
    scale = _scale(low, high, LEFT + pad, WIDTH - RIGHT - pad, log_x)
    return lambda x: scale(float(x)), _apart([(scale(tick), short(tick)) for tick in ticks])


def _apart(ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """The ticks, without the labels of those that would run into the one before."""
    kept, behind = [], -math.inf
    for place, text in ticks:
        half = 3.6 * len(text)
        clear = place - half > behind + 6
        kept.append((place, text if clear else ""))
        behind = place + half if clear else behind
    return kept


def _scale(low: float, high: float, start: float, end: float, log: bool) -> Callable[[float], float]:
    if log:
        low, high = math.log10(low), math.log10(high)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        at = math.log10(max(value, 1e-300)) if log else value
        return round(start + (min(max(at, low), high) - low) / span * (end - start), 2)

    return place


# --- marks ---


def _grid(figure: Figure, axes: Axes) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = [f'<path class="grid" d="M{LEFT} {y}H{right}"/>' for y, _ in axes.y_ticks]
    lines += [f'<path class="tick" d="M{x} {bottom}v5"/>' for x, _ in axes.x_ticks]
    lines += [f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{text}</text>' for y, text in axes.y_ticks]
    lines += [f'<text x="{x}" y="{bottom + 19}" text-anchor="middle">{escape(t)}</text>' for x, t in axes.x_ticks]
    lines.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    middle = (LEFT + right) / 2
    lines.append(
        f'<text class="name" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(_x_label(figure))}</text>'
    )
    name, y = escape(figure.plot.y_label or figure.plot.y), (TOP + bottom) / 2
    lines.append(f'<text class="name" transform="translate(13 {y}) rotate(-90)" text-anchor="middle">{name}</text>')
    return "".join(lines)


def _line(line: Line, axes: Axes, dash: str, beside: float) -> str:
    """Means with whiskers, joined; `beside` moves them sideways."""
    points = [point for point in line.points if math.isfinite(point.y)]
    places = [(axes.x(point.x) + beside, axes.y(point.y)) for point in points]
    drawn = _path(places, dash)
    dots = "".join(
        f'{_whisker(point, x, axes)}<circle cx="{x}" cy="{y}" r="3.4">{_told(point)}</circle>'
        for point, (x, y) in zip(points, places, strict=True)
    )
    return drawn + dots


def _curve(line: Line, axes: Axes, dash: str) -> str:
    """A series over time, its interval as a band."""
    points = [point for point in line.points if math.isfinite(point.y)]
    return _band(points, axes) + _path([(axes.x(point.x), axes.y(point.y)) for point in points], dash)


def _path(places: list[tuple[float, float]], dash: str) -> str:
    if not places:
        return ""
    return f'<path class="line" stroke-dasharray="{dash}" d="M{"L".join(f"{x} {y}" for x, y in places)}"/>'


def _band(points: list[Point], axes: Axes) -> str:
    """The interval along a series over time."""
    known = [point for point in points if math.isfinite(point.low) and math.isfinite(point.high)]
    if len(known) < 2:
        return ""
    upper = [f"{axes.x(point.x)} {axes.y(point.high)}" for point in known]
    lower = [f"{axes.x(point.x)} {axes.y(point.low)}" for point in reversed(known)]
    return f'<path class="band" d="M{"L".join(upper + lower)}Z"/>'


def _whisker(point: Point, x: float, axes: Axes) -> str:
    if not (math.isfinite(point.low) and math.isfinite(point.high)):
        return ""
    low, high = axes.y(point.low), axes.y(point.high)
    return f'<path class="whisker" d="M{x} {low}V{high}M{x - 4} {low}h8M{x - 4} {high}h8"/>'


def _told(point: Point) -> str:
    interval = f" ({short(point.low)} to {short(point.high)})" if math.isfinite(point.low) else ""
    return f"<title>{escape(short(point.x))}: {short(point.y)}{interval}, {point.runs} runs</title>"


def _slot(point: Point, axes: Axes, slot: tuple[int, int], groups: int) -> tuple[float, float]:
    """The middle and the width of a bar, one of several at the same x."""
    index, count = slot
    width = (WIDTH - LEFT - RIGHT) / max(1, groups) * 0.8 / max(1, count)
    return round(axes.x(point.x) + (index - (count - 1) / 2) * width, 2), round(width * 0.92, 2)


def _bars(line: Line, axes: Axes, slot: tuple[int, int], groups: int, shade: float) -> str:
    drawn = []
    for point in line.points:
        x, width = _slot(point, axes, slot, groups)
        y, base = axes.y(point.y), axes.y(0.0)
        top, height = min(y, base), round(abs(base - y), 2)
        place = f'x="{round(x - width / 2, 2)}" y="{top}" width="{width}" height="{height}" opacity="{shade}"'
        bar = f"<rect {place}>{_told(point)}</rect>"
        drawn.append(bar + _whisker(point, x, axes))
    return "".join(drawn)


def _diamond(point: Point, axes: Axes, slots: list[int], count: int) -> str:
    """A published number; of bounds a dashed stroke from one to the other, or to the end of the axis."""
    x = axes.x(point.x)
    if slots:  # over the bars of its series
        x = _slot(point, axes, (0, count), len(axes.x_ticks))[0]
        width = _slot(point, axes, (0, count), len(axes.x_ticks))[1] / 0.92
        x += sum(slots) / len(slots) * width
    if math.isnan(point.y):
        bottom = HEIGHT - BOTTOM if math.isnan(point.low) else axes.y(point.low)
        top = TOP if math.isnan(point.high) else axes.y(point.high)
        ends = [
            f"M{x - 5:.2f} {end}h10" for end, is_open in ((bottom, point.low), (top, point.high)) if is_open == is_open
        ]
        told = f"<title>published: {escape(short(point.x))}: {short(point.low)} to {short(point.high)}</title>"
        return (
            f'<path class="published" stroke-dasharray="3 3" d="M{x:.2f} {bottom}V{top}{"".join(ends)}">{told}</path>'
        )
    y = axes.y(point.y)
    told = f"<title>published: {escape(short(point.x))}: {short(point.y)}</title>"
    return f'<path class="published" d="M{x:.2f} {y - 6:.2f}l6 6l-6 6l-6 -6Z">{told}</path>'
