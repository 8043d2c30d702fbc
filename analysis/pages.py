"""Write HTML pages from the templates in analysis/templates. All values are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from causeway.analysis import store
from causeway.analysis.figures.numbers import short
from causeway.analysis.figures.style import COLOURS


@cache
def _environment() -> Environment:
    loader = PackageLoader("causeway.analysis", "templates")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["short"] = short
    made.globals["colours"] = COLOURS
    return made


def write(path: Path, template: str, **values: Any) -> None:
    """Render a template and write the page atomically."""
    text = _environment().get_template(template).render(values)
    with store.replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class Cell(NamedTuple):
    """One cell of a table."""

    text: str
    is_number: bool
    label: str
    """The name of its column, which is shown where a phone displays rows as blocks."""
    value: float | None = None
    """The number behind the text, by which rows are sorted."""


class Table:
    """A table of a page: columns of numbers are aligned to the right, and numbers are shortened.

    On a phone, a wide table is scrolled sideways. With `stack`, each row becomes a block instead; use it for a few
    rows.
    """

    def __init__(self, head: Sequence[str], rows: Iterable[Sequence[Any]], stack: bool = False) -> None:
        rows = list(rows)
        right = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(head))]
        self.head = list(zip(head, right, strict=True))
        self.stack = stack
        self.rows = [list(map(_cell, row, head if stack else [""] * len(head))) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)


def _cell(value: Any, label: str) -> Cell:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Cell(short(value), True, label, float(value))
    return Cell(str(value), False, label)
