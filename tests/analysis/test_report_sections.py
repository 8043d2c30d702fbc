"""The list of a report's sections."""

from __future__ import annotations

from causeway.analysis import report
from causeway.analysis.report import sections
from tests.helpers.page import parse
from tests.helpers.result_folder import fill


def test_the_page_shows_the_sections_of_the_list_in_its_order(tmp_path, monkeypatch) -> None:
    fill(tmp_path)
    monkeypatch.setattr(report, "SECTIONS", (sections.tables, lambda result: iter(()), sections.other_scalars))
    page = parse(report.write(tmp_path).read_text())
    assert [one.get("id") for one in page.iter("section")] == ["tables", "scalars"]


def test_a_section_without_contents_is_left_out(tmp_path, monkeypatch) -> None:
    fill(tmp_path)
    monkeypatch.setattr(report, "SECTIONS", (sections.animations, sections.other_runs))
    page = parse(report.write(tmp_path).read_text())
    assert [one.get("id") for one in page.iter("section")] == ["run"]
