"""A drawing in a page: its name, tooltips of its marks, unique ids, and colours with a counterpart in dark mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from causeway.analysis.figures.sheet import Sheet
from causeway.analysis.figures.style import COLOURS
from causeway.analysis.kinds import known
from causeway.analysis.plots import Plot
from tests.analysis.test_drawings import data_of

SCRIPT = "<script>alert('1 & 2')</script>"
KINDS = ("bar", "box", "cdf", "histogram", "line", "scatter", "state", "time")


@pytest.fixture
def sheet() -> Iterator[Sheet]:
    with Sheet() as opened:
        yield opened


def drawn(sheet: Sheet, kind: str, title: str = "t") -> ElementTree.Element:
    """Return a figure of this kind as an element."""
    name = "v" if known()[kind].recorded else "y"
    plot = Plot(title, "s", name, "n", kind=kind, series="n", paper="p, Fig. 1")
    said = [{"parameters": {"n": 1}, "published": 7.0}, {"parameters": {"n": 2}, "high": 7.0}]
    data = data_of(plot, {1: [1.0, 2.0], 2: [4.0, 3.0]}, [0.0, 1.0, 0.0, 5.0], said, ("inline", "ns3"))
    assert len(sheet.draw(data))
    return ElementTree.fromstring(sheet.svg())


def tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def texts(root: ElementTree.Element, name: str) -> list[str]:
    return [element.text or "" for element in root.iter() if tag(element) == name]


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawing_has_a_name_and_its_text_is_text(sheet: Sheet, kind: str) -> None:
    root = drawn(sheet, kind)
    assert root.get("role") == "img" and (root.get("aria-label") or "").startswith("t: ")
    assert len(texts(root, "text")) > 6, "ticks, labels, legend"
    assert not [e for e in root.iter() if tag(e) in ("style", "script", "metadata", "image")]


@pytest.mark.parametrize("kind", ["line", "bar", "box", "scatter", "state"])
def test_marks_have_tooltips(sheet: Sheet, kind: str) -> None:
    root = drawn(sheet, kind)
    parents = {child: parent for parent in root.iter() for child in parent}
    said = [(element.text, tag(parents[element])) for element in root.iter() if tag(element) == "title"]
    assert {where for _, where in said} <= {"use", "path"}
    if kind == "state":
        assert [text for text, _ in said] == ["m: 0 from 0 s", "m: 1 from 1 s", "m: 0 from 2 s", "m: 5 from 3 s"]
        return
    own = [text for text, _ in said if text and not text.startswith("published")]
    first = {"line": "1: 1.5 (", "bar": "1: 1.5 (", "box": "1: 1.5 (1 to 2)", "scatter": "1: 1, 1 run"}[kind]
    assert own[0].startswith(first) and len(own) == (8 if kind == "scatter" else 4)
    assert {text for text, _ in said} - set(own) == {"published: 1: 7", "published: 2: – to 7"}


def test_ids_occur_once_in_a_page_of_many_figures(sheet: Sheet) -> None:
    ids: set[str] = set()
    for kind in KINDS:
        for at in range(2):
            root = drawn(sheet, kind, f"{kind} {at}")
            mine = [element.get("id", "") for element in root.iter() if element.get("id")]
            assert len(mine) == len(set(mine)) and not ids & set(mine), "of two figures that look alike, too"
            ids |= set(mine)
            used = {v.lstrip("#") for e in root.iter() for k, v in e.attrib.items() if k.endswith("href")}
            used |= {found for e in root.iter() for found in re.findall(r"url\(#(.*?)\)", e.get("clip-path", ""))}
            assert used <= set(mine), "nothing points to another figure"


@pytest.mark.parametrize("kind", KINDS)
def test_dark_mode_knows_every_colour(sheet: Sheet, kind: str) -> None:
    root = drawn(sheet, kind)
    found = {c for e in root.iter() for c in re.findall(r"(?:fill|stroke): (#\w+)", e.get("style", ""))}
    assert len(found) > 3 and found <= {colour.light for colour in COLOURS}
    shapes = [one for element in root.iter() if tag(element) == "defs" for one in element]
    assert not [one for one in shapes if one.get("style")], "the style of a shape's use holds"


def test_names_are_text_and_nothing_else(sheet: Sheet) -> None:
    data = data_of(Plot(SCRIPT, "s", "y", "n", series="n", x_label=SCRIPT, y_label="$a_b$ [%]"), {SCRIPT: [1.0, 2.0]})
    sheet.draw(data)
    text = sheet.svg()
    assert "<script" not in text and "&lt;script&gt;" in text
    root = ElementTree.fromstring(text)
    assert {SCRIPT, f"n {SCRIPT}", "$a_b$ [%]"} <= set(texts(root, "text")), "no mathematics is made of a name"
    assert (root.get("aria-label") or "").startswith(SCRIPT)


def test_a_figure_has_the_same_bytes_every_time(sheet: Sheet) -> None:
    first = ElementTree.tostring(drawn(sheet, "line"))
    drawn(sheet, "box")
    assert ElementTree.tostring(drawn(sheet, "line")) == first
    with Sheet() as another:
        assert ElementTree.tostring(drawn(another, "line")) == first


def test_settings_of_the_users_own_change_no_figure(sheet: Sheet, monkeypatch, tmp_path: Path) -> None:
    import matplotlib

    first = ElementTree.tostring(drawn(sheet, "line"))
    with (
        matplotlib.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red", "text.usetex": False}),
        Sheet() as other,
    ):
        assert ElementTree.tostring(drawn(other, "line")) == first


def test_a_closed_sheet_leaves_matplotlib_as_it_was() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with Sheet() as sheet:
        drawn(sheet, "line")
        assert matplotlib.rcParams["svg.fonttype"] == "none"
    assert dict(matplotlib.rcParams) == before


def test_a_title_is_no_part_of_how_it_looks(sheet: Sheet) -> None:
    plot = Plot("t", "s", "y", "n")
    assert sheet.draw(data_of(replace(plot, title=SCRIPT), {1: [1.0]})).equals(sheet.draw(data_of(plot, {1: [1.0]})))
