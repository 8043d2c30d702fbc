"""Figures and tables as files for a paper."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from causeway.analysis import description, report
from causeway.analysis.description import Description
from causeway.analysis.export import paint, tex, write
from causeway.analysis.kinds import known
from causeway.analysis.plots import Plot
from causeway.bridge.errors import UserError
from tests.worlds.result_folder import fill

SHIPPED = ("bar", "box", "cdf", "histogram", "line", "scatter")


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    fill(tmp_path, engines=("inline", "ns3"), sizes=(10, 50), seeds=3)
    plots = [Plot(f"All & of {kind}", "clocks", "wrong", "n", kind=kind) for kind in SHIPPED]
    plots.append(Plot("All & of line", "clocks", "wrong", "n"))
    told = Description("clocks", "Made up", "clk", tuple(plots))
    description.write(tmp_path, "clocks", description.text_of(told))
    report.write(tmp_path, formats=("svg", "pdf"))
    return tmp_path / "report" / "export"


@pytest.mark.slow
def test_every_kind_is_a_file_in_both_formats(exported: Path) -> None:
    names = {f"clocks-all-of-{kind}" for kind in SHIPPED} | {"clocks-all-of-line-2"}
    there = {path.name for path in exported.iterdir()} - {write.OURS}
    assert there == {f"{n}.{form}" for n in names for form in ("svg", "pdf")}
    assert set(known()) - {"time"} >= set(SHIPPED)


def test_a_drawing_is_whole_without_a_page(exported: Path) -> None:
    for path in exported.glob("*.svg"):
        root = ElementTree.fromstring(path.read_text())
        words = [e.text for e in root.iter() if e.tag.endswith("}text")]
        assert {"wrong", "inline", "ns3"} <= set(words)
        assert "var(" not in path.read_text()


def test_what_an_export_no_longer_has_is_taken_away_and_nothing_else(exported: Path) -> None:
    folder = exported.parent.parent
    (exported / "mine.svg").write_text("mine")
    (exported.parent / "outside.svg").write_text("mine")
    with (exported / write.OURS).open("a") as listed:
        listed.write("../outside.svg\n")
    told = Description("clocks", "Made up", "clk", (Plot("All & of bar", "clocks", "wrong", "n", kind="bar"),))
    description.write(folder, "clocks", description.text_of(told))
    report.write(folder, formats=("svg",))
    assert {path.name for path in exported.glob("*.svg")} == {"clocks-all-of-bar.svg", "mine.svg"}
    assert (exported.parent / "outside.svg").exists()
    assert len(list(exported.glob("*.pdf"))) == len(SHIPPED) + 1, "PDFs were not asked for"
    report.write(folder, formats=("pdf",))
    assert [path.name for path in exported.glob("*.pdf")] == ["clocks-all-of-bar.pdf"]


def test_a_pdf_is_one_and_the_same_every_time(exported: Path) -> None:
    svg = (exported / "clocks-all-of-bar.svg").read_text()
    before = (exported / "clocks-all-of-bar.pdf").read_bytes()
    assert before.startswith(b"%PDF") and b"/Title (All & of bar)" in before
    paint.save(svg, exported / "again.pdf", "All & of bar")
    assert (exported / "again.pdf").read_bytes() == before


def test_what_is_painted_stands_where_the_drawing_has_it() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><style>.a{color:#ff0000}path{fill:none}'
        '.line{stroke:currentColor;stroke-width:2}</style><g class="a" transform="translate(10 5)">'
        '<path class="line" d="M1 2L3 4h5v-2Z"/></g><rect x="1" y="2" width="3" height="4"/></svg>'
    )
    (outline, box) = paint.paint(svg).axes[0].patches
    assert outline.get_path().vertices.tolist() == [[11, 7], [13, 9], [18, 9], [18, 7], [11, 7]]
    assert outline.get_edgecolor()[:3] == (1, 0, 0)
    assert outline.get_linewidth() == 1.5
    assert box.get_bbox().bounds == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("body", "told"),
    [('<ellipse rx="1"/>', "has a <ellipse>"), ('<path d="M1 2C3 4 5 6 7 8"/>', "has the path 'M1 2C3 4 5 6 7 8'")],
)
def test_what_cannot_be_painted_is_told(body: str, told: str) -> None:
    with pytest.raises(UserError, match="cannot be painted as PDF") as error:
        paint.paint(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{body}</svg>')
    assert told in str(error.value)


def test_a_table_is_latex() -> None:
    text = tex.table(("a_b", "n"), [("50 % & more", 1.5), ("±", 2)], "50 rows")
    assert text.splitlines() == [
        "% 50 rows", r"\begin{tabular}{lr}", r"\toprule", r"a\_b & n \\", r"\midrule", r"50 \% \& more & 1.5 \\",
        r"$\pm$ & 2 \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip


def test_a_format_that_there_is_not_is_refused() -> None:
    with pytest.raises(UserError, match="there is no export 'docx'; allowed: svg, pdf, tex"):
        write.check(["svg", "docx"])
