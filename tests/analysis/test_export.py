"""Figures and tables as files for a paper."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from causeway.analysis import report, study_description
from causeway.analysis.export import tex, write
from causeway.analysis.kinds import known
from causeway.analysis.plots import Plot
from causeway.analysis.study_description import Description
from causeway.errors import UserError
from tests.helpers.result_folder import fill

SHIPPED = ("bar", "box", "cdf", "histogram", "line", "scatter")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fill(tmp_path_factory.mktemp("results"), engines=("inline", "ns3"), sizes=(10, 50), seeds=3)
    plots = [Plot(f"All & of {kind}", "clocks", "wrong", "n", kind=kind) for kind in SHIPPED]
    plots.append(Plot("All & of line", "clocks", "wrong", "n"))
    reported = Description("clocks", "Made up", "clk", tuple(plots))
    study_description.write(folder, "clocks", study_description.text_of(reported))
    report.write(folder, formats=("svg", "pdf"))
    return folder / "report" / "export"


def test_every_kind_is_a_file_in_both_formats(exported: Path) -> None:
    names = {f"clocks-all-of-{kind}" for kind in SHIPPED} | {"clocks-all-of-line-2"}
    there = {path.name for path in exported.iterdir()} - {write.OURS}
    assert there == {f"{n}.{form}" for n in names for form in ("svg", "pdf")}
    assert set(known()) - {"time"} >= set(SHIPPED)


def test_an_exported_figure_is_complete_without_a_page(exported: Path) -> None:
    for path in exported.glob("*.svg"):
        root = ElementTree.fromstring(path.read_text())
        words = [e.text for e in root.iter() if e.tag.endswith("}text")]
        assert {"inline", "ns3"} <= set(words) and "wrong" in words, "its text is text"
        assert "http" not in path.read_text().replace("http://www.w3.org", "").split("<g ")[1]


def test_an_export_deletes_only_files_of_the_previous_export(exported: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(exported.parent.parent, tmp_path / "copy")
    exported = folder / "report" / "export"
    (exported / "mine.svg").write_text("mine")
    (exported.parent / "outside.svg").write_text("mine")
    with (exported / write.OURS).open("a") as listed:
        listed.write("../outside.svg\n")
    reported = Description("clocks", "Made up", "clk", (Plot("All & of bar", "clocks", "wrong", "n", kind="bar"),))
    study_description.write(folder, "clocks", study_description.text_of(reported))
    report.write(folder, formats=("svg",))
    assert {path.name for path in exported.glob("*.svg")} == {"clocks-all-of-bar.svg", "mine.svg"}
    assert (exported.parent / "outside.svg").exists()
    assert len(list(exported.glob("*.pdf"))) == len(SHIPPED) + 1, "PDFs were not asked for"
    report.write(folder, formats=("pdf",))
    assert [path.name for path in exported.glob("*.pdf")] == ["clocks-all-of-bar.pdf"]


@pytest.mark.slow
def test_exported_files_have_the_same_bytes_every_time(exported: Path) -> None:
    before = {path.name: path.read_bytes() for path in exported.glob("*.*") if path.suffix in (".pdf", ".svg")}
    assert before["clocks-all-of-bar.pdf"].startswith(b"%PDF")
    assert b"/Title (All & of bar)" in before["clocks-all-of-bar.pdf"]
    report.write(exported.parent.parent, formats=("svg", "pdf"))
    assert {name: (exported / name).read_bytes() for name in before} == before


@pytest.mark.slow
def test_a_figure_for_latex_is_measured_by_latex_and_every_text_in_it_is_latex(tmp_path: Path) -> None:
    if not (shutil.which("pdflatex") and shutil.which("kpsewhich")):
        pytest.skip("no pdflatex here")
    plots = [
        Plot("50 % & #1 of ~ ^ \\ {x}", "clocks", "wrong", "n", "clock", y_label="a_b [%]", log_y=True),
        Plot("Names $x$", "clocks", "wrong*10000000000", "clock", x_label="clock & n²"),
    ]
    fill(tmp_path, engines=("inline",), sizes=(10, 50), seeds=2)
    report.write(tmp_path, plots=plots, formats=("pgf",))
    names = sorted(path.name for path in (tmp_path / "report" / "export").glob("*.pgf"))
    assert names == ["clocks-50-1-of-x.pgf", "clocks-names-x.pgf"]
    paper = r"\documentclass{article}\usepackage{pgf}\begin{document}" + "".join(rf"\input{{{n}}}" for n in names)
    (tmp_path / "report" / "export" / "paper.tex").write_text(paper + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path / "report" / "export", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


def test_without_latex_the_error_names_the_missing_programs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    fill(tmp_path, engines=("inline",), sizes=(10,), seeds=2)
    with pytest.raises(UserError, match=r"PGF needs LaTeX, .*texlive-latex-base"):
        report.write(tmp_path, plots=[Plot("t", "clocks", "wrong", "n")], formats=("pgf",))


def test_a_table_is_latex() -> None:
    text = tex.table(("a_b", "n"), [("50 % & more", 1.5), ("±", 2)], "50 rows")
    assert text.splitlines() == [
        "% 50 rows", r"\begin{tabular}{lr}", r"\toprule", r"a\_b & n \\", r"\midrule", r"50 \% \& more & 1.5 \\",
        r"$\pm$ & 2 \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UserError, match="'docx' is not a format for exports; allowed: svg, pdf, pgf, tex"):
        write.check(["svg", "docx"])
