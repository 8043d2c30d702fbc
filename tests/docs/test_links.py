"""docs/links.py finds the links of a built site that lead nowhere."""

import runpy
from pathlib import Path
from typing import Any

LINKS: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "links.py"), run_name="docs")


def test_links_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "index.html").write_text('<h1 id="top">x</h1><a href="../#no-such">up</a><img src="no.png">')
    (tmp_path / "index.html").write_text(
        '<a href="guide/">a</a><a href="guide/#top">b</a><a href="guide/#end">c</a><a href="gone/">d</a>'
        '<a href="https://elsewhere.example/">e</a><a href="../outside.html">f</a>'
    )
    wrong, followed, outside = LINKS["broken"](tmp_path)
    assert wrong == [
        "guide/index.html: ../#no-such", "guide/index.html: no.png",
        "index.html: ../outside.html", "index.html: gone/", "index.html: guide/#end",
    ]  # fmt: skip
    assert (followed, outside) == (7, 1)
