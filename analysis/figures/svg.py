"""Convert a drawing of matplotlib into an element of a page, with an accessible name and tooltips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def element(drawing: str, label: str, tooltips: Mapping[str, Sequence[str]]) -> str:
    """Return the drawing as an <svg> element; `tooltips` maps ids of groups to one text for each of their marks."""
    root = ElementTree.fromstring(drawing)
    root.attrib = {"viewBox": root.attrib["viewBox"], "class": "plot", "role": "img", "aria-label": label}
    for child in list(root):  # title, metadata, and a style sheet, which would apply to the whole page
        if child.tag != f"{{{SVG}}}g" and child.find(f"{{{SVG}}}clipPath") is None:
            root.remove(child)
    for group in root.iter(f"{{{SVG}}}g"):
        name = group.attrib.pop("id", "")  # every drawing has the id `figure_1`, and ids must be unique within a page
        for mark, text in zip(_marks(group) if name in tooltips else (), tooltips.get(name, ()), strict=False):
            ElementTree.SubElement(mark, f"{{{SVG}}}title").text = text
    for shape in (path for defs in root.iter(f"{{{SVG}}}defs") for path in defs):
        shape.attrib.pop("style", "")  # the shape is used with one style everywhere, which a page's CSS can override
    for one in root.iter():
        one.text = one.text if one.text and one.text.strip() else None
        one.tail = None
    return ElementTree.tostring(root, encoding="unicode")


def _marks(group: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the marks of a group: references to a shared shape, or shapes of their own."""
    uses = list(group.iter(f"{{{SVG}}}use"))
    shapes = {id(path) for defs in group.iter(f"{{{SVG}}}defs") for path in defs}
    return uses or [path for path in group.iter(f"{{{SVG}}}path") if id(path) not in shapes]
