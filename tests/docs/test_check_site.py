"""docs/check_site.py finds the links of a built site that lead nowhere, and public names that it lacks."""

import runpy
from pathlib import Path
from typing import Any

SITE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "check_site.py"), run_name="docs")


def test_links_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "index.html").write_text('<h1 id="top">x</h1><a href="../#no-such">up</a><img src="no.png">')
    (tmp_path / "index.html").write_text(
        '<a href="guide/">a</a><a href="guide/#top">b</a><a href="guide/#end">c</a><a href="gone/">d</a>'
        '<a href="https://elsewhere.example/">e</a><a href="../outside.html">f</a>'
    )
    wrong, followed, outside = SITE["broken"](tmp_path)
    assert wrong == [
        "guide/index.html: ../#no-such", "guide/index.html: no.png",
        "index.html: ../outside.html", "index.html: gone/", "index.html: guide/#end",
    ]  # fmt: skip
    assert (followed, outside) == (7, 1)


def test_public_names_without_a_place_in_the_api_pages_are_named(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    page = tmp_path / "api" / "node.html"
    page.write_text('<h2 id="causeway.pycontrol.sizes.size_of">size_of</h2>')
    lacking = SITE["undocumented"](tmp_path)
    assert "causeway.pycontrol.sizes.size_of" not in lacking
    assert {"causeway.studies.run.run", "causeway.studies.run_result.Run.explain", "EVERYONE"} <= set(lacking)
