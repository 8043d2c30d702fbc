"""The pages for users import the public interface, and write it in one style."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [*(page for folder in ("guide", "how-to", "tutorial") for page in (DOCS / folder).glob("*.md"))]
PUBLIC = {"causeway", "causeway.aio", "causeway.results"}
"""Modules that users import. `causeway.GateProcess` is a NED module."""
IMPORT = re.compile(r"^\s*(?:from (causeway[\w.]*) import|import (causeway[\w.]*))", re.MULTILINE)
FORMER = (
    r"^\s*from causeway import (?!results$)",
    r"\* M?S_PS\b",
    r"^class \w+\((Node|Study)\)",
    r"\.broadcast\(\)",
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_imports_no_internal_module(page: Path) -> None:
    found = {one or other for one, other in IMPORT.findall(page.read_text())} - {"causeway.GateProcess"}
    assert found <= PUBLIC


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_style_of_the_examples(page: Path) -> None:
    text = page.read_text().replace("from causeway import results  #", "from causeway import results\n#")
    assert [found[0] for former in FORMER for found in re.finditer(former, text, re.MULTILINE)] == []


def test_there_are_pages() -> None:
    assert len(PAGES) > 20
