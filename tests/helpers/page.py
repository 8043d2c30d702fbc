"""A parsed page, for tests of pages."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree.ElementTree import Element

VOID = frozenset({"meta", "br", "input", "img", "link"})


class Builder(HTMLParser):
    """Builds a tree; every element must be closed by its own end tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("page")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"<{tag}> is closed and was not open"

    def handle_data(self, data: str) -> None:
        last = self.open[-1]
        if len(last):
            last[-1].tail = (last[-1].tail or "") + data
        else:
            last.text = (last.text or "") + data


def parse(text: str) -> Element:
    """Return the page as a tree."""
    builder = Builder()
    builder.feed(text)
    builder.close()
    assert builder.open == [builder.root], f"not closed: {[one.tag for one in builder.open[1:]]}"
    return builder.root


def words(element: Element) -> str:
    """Return the text of an element, with single spaces."""
    return " ".join("".join(element.itertext()).split())


def of_class(root: Element, name: str) -> list[Element]:
    """Return the elements of a class."""
    return [one for one in root.iter() if name in one.get("class", "").split()]


def table(element: Element) -> list[list[str]]:
    """Return the rows of a table, its head first."""
    rows = [[words(cell) for cell in row if cell.tag in ("td", "th")] for row in element.iter("tr")]
    return [row for row in rows if row]
