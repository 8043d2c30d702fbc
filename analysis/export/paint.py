"""A drawing of the report (SVG) painted by matplotlib, so that a paper gets the very same figure as PDF.

Only what the report's drawings are made of is understood: groups, paths of straight lines, circles, rectangles, text.
A kind of plot of a user's own that draws anything else is told so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from causeway.bridge.errors import UserError

_PX = 0.75  # points to a pixel
_NARROWER = 0.88  # matplotlib's own font is wider than those of browsers
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_STEP = re.compile(r"([MLHVmlhvZz])|(-?\d*\.?\d+(?:e-?\d+)?)")
_INHERITED = ("color", "font", "font-size", "text-anchor")
Style = dict[str, str]


def save(svg: str, path: Path, title: str) -> None:
    """Writes the drawing as PDF."""
    figure = paint(svg)
    figure.savefig(path, format="pdf", metadata={"Title": title, "CreationDate": None, "Producer": None})


def paint(svg: str) -> Any:
    """The drawing as a figure of matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise UserError("PDF needs matplotlib (pip install 'causeway[paper]')") from None
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = Figure(figsize=(width / 96, height / 96))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    rules = _rules(root)
    for element, style, at in _walk(root, rules, {}, (0.0, 0.0)):
        _PAINTERS[_tag(element)](axes, element, style, at)
    return figure


def _rules(root: Any) -> list[tuple[str, Style]]:
    text = "".join(element.text or "" for element in root.iter() if _tag(element) == "style")
    return [
        (selector.strip(), dict(_declared(body)))
        for selectors, body in _RULE.findall(text)
        for selector in selectors.split(",")
    ]


def _declared(body: str) -> Iterator[tuple[str, str]]:
    for one in body.split(";"):
        name, _, value = one.partition(":")
        if value:
            yield name.strip(), value.strip()


def _walk(element: Any, rules: Any, above: Style, at: tuple[float, float]) -> Iterator[tuple[Any, Style, Any]]:
    """Every painted element with its style and where its origin is."""
    tag = _tag(element)
    if tag in ("style", "title"):
        return
    style = {name: value for name, value in above.items() if name in _INHERITED}
    classes = {f".{name}" for name in element.get("class", "").split()}
    for selector, body in rules:  # a rule of a class comes after one of a tag
        if selector == tag:
            style.update(body)
    for selector, body in rules:
        if selector in classes or selector.rpartition(" ")[2] in classes:
            style.update(body)
    style.update({name: element.attrib[name] for name in _OWN if name in element.attrib})
    if moved := re.match(r"translate\(([-\d.e]+) ([-\d.e]+)\)", element.get("transform", "")):
        at = at[0] + float(moved[1]), at[1] + float(moved[2])
    if tag in ("svg", "g"):
        for child in element:
            yield from _walk(child, rules, style, at)
    elif tag in _PAINTERS:
        yield element, style, at
    else:
        raise UserError(f"this drawing has a <{tag}>, which cannot be painted as PDF; --export svg can take it")


_OWN = ("stroke-dasharray", "stroke-width", "stroke", "fill", "opacity", "text-anchor")


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _colour(style: Style, name: str) -> str:
    value = style.get(name, "none")
    return style.get("color", "#000000") if value == "currentColor" else value


def _pen(style: Style) -> dict[str, Any]:
    dashes = [float(part) * _PX for part in style.get("stroke-dasharray", "").split()]
    return {
        "edgecolor": _colour(style, "stroke"), "facecolor": _colour(style, "fill"),
        "linewidth": float(style.get("stroke-width", 1)) * _PX, "alpha": float(style.get("opacity", 1)),
        "linestyle": (0, dashes) if dashes else "-",
    }  # fmt: skip


def _path(axes: Any, element: Any, style: Style, at: tuple[float, float]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    places, codes = _steps(element.get("d", ""), at)
    if places:
        axes.add_patch(PathPatch(Outline(places, codes), **_pen(style)))


def _steps(text: str, at: tuple[float, float]) -> tuple[list[tuple[float, float]], list[int]]:
    """Places and codes (1 move, 2 line, 79 close) of a path of straight lines."""
    tokens = _STEP.findall(text)
    if "".join(a or b for a, b in tokens) != re.sub(r"[\s,]", "", text):
        raise UserError(f"this drawing has the path {text[:40]!r}, which cannot be painted as PDF; use --export svg")
    places: list[tuple[float, float]] = []
    codes: list[int] = []
    numbers = iter(tokens)
    command, x, y, first = "", 0.0, 0.0, (0.0, 0.0)
    for letter, number in numbers:
        if letter in ("Z", "z"):
            places.append((first[0] + at[0], first[1] + at[1]))
            codes.append(79)
            x, y = first
            continue
        if letter:
            command = letter
            number = next(numbers)[1]
        value, from_x, from_y = float(number), x if command.islower() else 0.0, y if command.islower() else 0.0
        if command in "Hh":
            x = from_x + value
        elif command in "Vv":
            y = from_y + value
        else:
            x, y = from_x + value, from_y + float(next(numbers)[1])
        places.append((x + at[0], y + at[1]))
        codes.append(1 if command in "Mm" else 2)
        if command in "Mm":
            first, command = (x, y), "L" if command == "M" else "l"
    return places, codes


def _circle(axes: Any, element: Any, style: Style, at: tuple[float, float]) -> None:
    from matplotlib.patches import Circle

    middle = float(element.attrib["cx"]) + at[0], float(element.attrib["cy"]) + at[1]
    axes.add_patch(Circle(middle, float(element.attrib["r"]), **_pen(style)))


def _rect(axes: Any, element: Any, style: Style, at: tuple[float, float]) -> None:
    from matplotlib.patches import Rectangle

    corner = float(element.get("x", 0)) + at[0], float(element.get("y", 0)) + at[1]
    size = float(element.attrib["width"]), float(element.attrib["height"])
    axes.add_patch(Rectangle(corner, *size, **_pen(style)))


def _text(axes: Any, element: Any, style: Style, at: tuple[float, float]) -> None:
    found = re.search(r"([\d.]+)px", style.get("font-size", style.get("font", "12px")))
    size = float(found[1] if found else 12) * _PX * _NARROWER
    turned = "rotate(-90)" in element.get("transform", "")
    axes.text(
        float(element.get("x", 0)) + at[0], float(element.get("y", 0)) + at[1], element.text or "",
        fontsize=size, color=_colour(style, "fill"), rotation=90 if turned else 0,
        ha={"middle": "center", "end": "right"}.get(style.get("text-anchor", ""), "left"),
        va="baseline", rotation_mode="anchor", parse_math=False,
    )  # fmt: skip


_PAINTERS = {"path": _path, "circle": _circle, "rect": _rect, "text": _text}
