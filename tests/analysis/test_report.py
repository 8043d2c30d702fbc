"""The report: its contents, and that it is self-contained."""

import json
from xml.etree.ElementTree import Element

import pandas as pd
import pytest

from causeway.analysis import published, report, study_description
from causeway.analysis.figures.numbers import short
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import comparison
from causeway.analysis.report import csv_files, tally
from causeway.analysis.report.verdict import bounds_verdict, judge, verdict
from causeway.analysis.study_description import Description
from tests.helpers.page import of_class, parse, table, words
from tests.helpers.result_folder import fill

PLOTS = [
    Plot("Error rate", "clocks", "wrong", "n", "clock", paper="clk, Fig. 3", log_x=True, log_y=True),
    Plot("Messages a process", "clocks", "messages/n", "n", "clock", kind="bar"),
    Plot("Queue <over> time", "clocks", "queue", kind="time", series="clock"),
    Plot("Of a study that did not run", "other", "wrong", "n"),
]


def describe(folder):
    """Write a description of the made-up study, with published numbers of all kinds, into its result folder."""
    lines = ["paper,where,quantity,condition,study,parameters,scalar,published,relation,low,high,note"]
    for n, said in ((10, "0.02,,,"), (100, "0.2,about,,"), (250, ",<,,5.0"), (500, "1.0,=,,")):
        point = json.dumps({"n": n, "clock": "counter"}).replace('"', '""')
        lines.append(f'clk,Fig. 3,error rate,N={n},clocks,"{point}",wrong,{said},')
    why = "cannot be compared: the clock has no hands"
    lines.append(f"clk,Section 7,hands,any N,clocks,{{}},{published.NOT_COMPARED},,>,2,,{why}")
    (folder / "clk.csv").write_text("\n".join(lines) + "\n")
    numbers = tuple(published.read(folder / "clk.csv"))
    described = Description("clocks", "Made up", "clk", tuple(PLOTS), (), numbers)
    study_description.write(folder, "clocks", study_description.text_of(described))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = fill(tmp_path_factory.mktemp("results"), seeds=5)
    describe(folder)
    return report.write(folder)


@pytest.fixture(scope="module")
def page(written):
    return parse(written.read_text())


def section(page: Element, anchor: str) -> Element:
    (found,) = [one for one in page.iter("section") if one.get("id") == anchor]
    return found


def details(page: Element, title: str) -> Element:
    (found,) = [one for one in page.iter("details") if words(one[0]).startswith(title)]
    return found


def figure(page: Element, title: str) -> Element:
    (found,) = [one for one in page.iter("figure") if words(one).startswith(title)]
    return found


def test_the_page_is_complete_and_loads_nothing(written, page):
    loading = [one.tag for one in page.iter() if one.tag in ("link", "img", "iframe", "base", "image")]
    assert (
        loading == []
        and len(list(page.iter("script"))) == 1
        and not [one for one in page.iter() if one.get("src") or one.get("srcset")]
    )
    text = written.read_text().replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert "http" not in text and "@import" not in text
    assert text.count("url(") == text.count("url(#"), "only parts of a figure are pointed to"


def test_every_link_leads_somewhere(written, page):
    ids = {one.get("id") for one in page.iter()}
    links = [one.get("href", "") for one in page.iter("a")]
    assert len(links) > 10
    for link in links:
        assert link[1:] in ids if link.startswith("#") else (written.parent / link).exists(), link


def test_no_id_occurs_twice(page):
    ids = [one.get("id") for one in page.iter() if one.get("id")]
    assert len(ids) > 20 and len(ids) == len(set(ids))


def test_the_report_lists_the_runs_and_their_parameters(page):
    runs = table(details(page, "What was run"))
    assert runs[1][:9] == ["clocks", "inline", "1", "0.1.0", "0123456789ab", "", "12", "60", "0 to 4"]
    assert runs[2][2] == "6.1 + INET 4.5.4" and runs[2][-1] == "2024-05-01T10:00:00"


def test_comparison_csv_has_the_agreed_columns_and_a_row_per_number_and_engine(written):
    frame = pd.read_csv(written.parent / "comparison.csv")
    assert tuple(frame.columns) == (*comparison.COLUMNS, "verdict")
    assert set(frame.verdict) == {"inside", "too few seeds"}
    assert len(frame) == 6 and set(frame.engine) == {"inline", "omnet"}
    said = frame[frame.published.notna()]
    assert len(said) == 4 and (said.ratio - said.measured / said.published).abs().max() < 1e-12


def test_a_published_bound_is_judged_as_a_bound(written):
    frame = pd.read_csv(written.parent / "comparison.csv")
    bound = frame[frame.relation == "<"]
    assert bound.published.isna().all() and set(bound.high) == {5.0} and set(bound.ratio) == {1.0}
    text = written.read_text()
    assert "✓ within" in text and "&lt; 5" in text and "about 0.2" in text


def test_the_tally_counts_numbers_that_were_not_run(page):
    reported = [words(line) for line in section(page, "summary").iter("p")]
    assert reported == [
        "clocks 120 runs of 12 points on inline, omnet",
        "inline: 3 of 3 published numbers inside the interval, 1 not run",
        "omnet: 1 of 3 published numbers inside the interval, 2 with too few seeds, 1 not run",
    ]
    shares = [one.get("style", "") for one in of_class(section(page, "summary"), "bar")[1]]
    assert shares == ["width:33.33%", "width:66.67%"]


def test_a_number_without_measurement_has_a_row_with_the_reason(written, page):
    left = details(page, "Numbers without a measured one: 2")
    assert table(left)[1:] == [
        ["Section 7", "hands", "any N", "> 2", "cannot be compared: the clock has no hands"],
        ["Fig. 3", "error rate", "N=500", "1", "not run here"],
    ]
    assert "Section 7" not in (written.parent / "comparison.csv").read_text()


def test_a_published_number_is_beside_the_number_of_each_engine(page):
    first = table(details(page, "Published against measured"))[:2]
    assert first[0] == ["where", "quantity", "condition", "published", "inline", "omnet"]
    assert first[1][:4] == ["Fig. 3", "error rate", "N=10", "0.02"]
    assert first[1][4] == "0.02067 [0.01782, 0.02352] 5 runs✓ inside the interval"


def test_a_figure_has_a_caption_a_drawing_and_its_numbers(page):
    one = figure(page, "Error rateclk, Fig. 3")
    (drawing,) = one.iter("svg")
    assert drawing.get("aria-label") == "Error rate: wrong over n" and drawing.get("role") == "img"
    legend = {"clock bloom", "clock counter", "clock full", "inline", "omnet", "published"}
    assert legend <= {words(text) for text in drawing.iter("text")}
    rows = table(one)
    assert rows[0] == ["series", "engine", "x", "mean", "low", "high", "runs"]
    assert len(rows) == 1 + 2 * 3 * 4 + 4, "two engines, three clocks, four sizes, four published"
    assert len(list(drawing.iter("title"))) == len(rows) - 1, "each mark says its numbers"


def test_a_series_over_time_has_a_curve_and_a_band_for_each_series_and_engine(page):
    (drawing,) = figure(page, "Queue <over> time").iter("svg")
    assert len([one for one in drawing.iter() if "opacity: 0.16" in one.get("style", "")]) == 6


def test_names_with_markup_are_text(tmp_path):
    bad = "<script>alert(1)</script>"
    folder = fill(tmp_path, engines=("inline",), sizes=(10,), seeds=1)
    plots = (Plot(bad, "clocks", "wrong", "n", paper=bad), Plot(bad, "clocks", "x", kind=bad))
    numbers = [{
        "paper": bad, "where": bad, "quantity": bad, "condition": bad, "study": "clocks", "parameters": {"n": 10},
        "scalar": "wrong", "published": 1.0, "relation": "=", "low": None, "high": None, "note": "",
    }]  # fmt: skip
    described = Description("clocks", bad, bad, plots, (), tuple(numbers))
    study_description.write(folder, "clocks", study_description.text_of(described))
    text = report.write(folder, plots=[Plot(bad, "absent", "wrong")]).read_text()
    assert text.lower().count("<script") == 1, "that of the page"
    assert text.count("&lt;script&gt;") > 8 and "alert" not in words(next(parse(text).iter("script")))


def test_figures_csv_contains_the_drawn_numbers(written):
    frame = pd.read_csv(written.parent / "figures.csv")
    bars = frame[frame.title == "Messages a process"]
    assert set(bars["mean"]) == {100.0} and set(bars.runs) == {5}


def test_a_plot_without_runs_is_named_not_drawn(page):
    assert len(list(page.iter("figure"))) == 3
    assert words(section(page, "figures")).endswith("No runs here for: Of a study that did not run.")
    assert len(list(section(page, "study-clocks").iter("figure"))) == 3


def test_a_folder_without_descriptions_has_a_page_that_says_so(tmp_path):
    folder = fill(tmp_path, engines=("inline",), sizes=(10,), seeds=1)
    said = words(section(parse(report.write(folder).read_text()), "undescribed"))
    assert "so their plots are not known: clocks" in said


@pytest.mark.spark
def test_a_large_folder_is_reduced_on_spark_to_the_same_numbers(tmp_path, monkeypatch, spark):
    folder = fill(tmp_path, sizes=(10, 50), seeds=2)
    describe(folder)
    report.write(folder, tmp_path / "small")
    monkeypatch.setattr(report, "_SMALL_ROWS", 0)
    report.write(folder, tmp_path / "large")
    for name in ("comparison.csv", "figures.csv", "scalars.csv"):
        assert (tmp_path / "small" / name).read_bytes() == (tmp_path / "large" / name).read_bytes(), name


NAN = float("nan")


@pytest.mark.parametrize(
    ("case", "kind", "text"),
    [
        ((1.0, 1.1, 0.9, 1.3, 5), "inside", "inside"), ((1.0, 1.0, 1.0, 1.0, 5), "exact", "exact"),
        ((1.0, 1.05, 1.04, 1.06, 5), "near", "+5.0%"), ((1.0, 0.95, 0.94, 0.96, 9), "near", "−5.0%"),
        ((1.0, 2.0, 1.9, 2.1, 5), "off", "×2"), ((0.0, 1.0, 0.9, 1.1, 5), "off", "published 0"),
        ((1.0, -1.0, -1.1, -0.9, 5), "off", "sign"), ((1.0, 0.0, 0.0, 0.0, 5), "off", "measured 0"),
    ],
)  # fmt: skip
def test_a_verdict_says_how_far_apart_two_numbers_are(case, kind, text):
    found = verdict(*case)
    assert found.kind == kind and text in found.text


@pytest.mark.parametrize(
    ("case", "kind", "text"),
    [
        ((0.1, 0.3, False, 0.2, 0.19, 0.21, 5), "inside", "within"),
        ((0.1, 0.3, False, 0.3, 0.3, 0.3, 5), "inside", "within"),
        ((NAN, 0.5, True, 0.2, 0.1, 0.3, 5), "inside", "within"),
        ((0.1, 0.3, False, 0.006, 0.002, 0.01, 5), "off", "×0.06"),
        ((NAN, 0.5, True, 0.5, 0.5, 0.5, 5), "near", "at the bound"),
        ((NAN, 0.5, True, 0.6, 0.48, 0.72, 5), "inside", "reaches"),
        ((0.1, 0.3, False, 0.32, 0.31, 0.33, 5), "near", "+6.7%"),
        ((0.1, 0.3, False, 0.6, 0.5, 0.7, 5), "off", "×2"), ((5.0, NAN, True, 2.5, 2.4, 2.6, 5), "off", "×0.5"),
    ],
)  # fmt: skip
def test_a_verdict_on_bounds_says_whether_they_are_kept(case, kind, text):
    found = bounds_verdict(*case)
    assert found.kind == kind and text in found.text


@pytest.mark.parametrize(
    ("measured", "low", "high", "runs"),
    [(1.0, 0.99, 1.01, 4), (1.0, NAN, NAN, 1), (1.0, 0.75, 1.25, 5), (2.0, 1.5, 2.5, 50), (0.0, -0.1, 0.1, 9)],
)
def test_few_seeds_or_a_wide_interval_give_no_verdict_and_hide_no_loss(measured, low, high, runs):
    """A verdict needs both five seeds and an interval narrower than half the value."""
    assert verdict(1.0, measured, low, high, runs) == verdict(1.0, measured, low, high, 1)
    assert verdict(1.0, measured, low, high, runs).kind == "too few seeds"
    crossed = (1.0, 2.0) if measured else (-1.0, 0.0)
    assert bounds_verdict(*crossed, False, measured, low, high, runs).kind == "too few seeds"
    assert verdict(4.0, 2.0, NAN, NAN, 1).text == "too few seeds (×0.5)", "the ratio stays visible"
    assert verdict(1.0, 1.0, 0.76, 1.24, 5).kind == "inside", "just narrow enough"


NUMBER = {"relation": "=", "published": 8.0, "low": NAN, "high": NAN}


def test_one_run_suffices_at_a_point_without_random_numbers():
    assert judge(NUMBER, 8.0, NAN, NAN, 1).kind == "too few seeds"
    assert judge({**NUMBER, "drawn": False}, 8.0, NAN, NAN, 1).kind == "exact"
    assert judge({**NUMBER, "drawn": False}, 7.4, 7.4, 7.4, 3).kind == "near"


def test_a_number_that_chose_a_parameter_is_fitted_whatever_it_is_and_another_reading_is_judged():
    fitted = judge({**NUMBER, "remark": "fitted"}, 16.0, 15.9, 16.1, 5)
    assert fitted.kind == "fitted" and fitted.text == "✗ ×2 (fitted)" and fitted.css == "soft"
    assert judge({**NUMBER, "remark": published.ANOTHER_READING}, 16.0, 15.9, 16.1, 5).kind == "off"


def test_a_line_counts_each_printed_number_once():
    numbers = [
        {**NUMBER, "paper": "p", "where": "w", "quantity": f"q{i}", "condition": "", "study": "clocks",
         "parameters": {"n": 10}, "scalar": "wrong", "note": "", "published": said, "remark": remark}
        for i, (said, remark) in enumerate([(1.0, ""), (1.05, ""), (3.0, ""), (2.0, ""), (1.0, "fitted"),
                                            (1.0, published.ANOTHER_READING)])
    ]  # fmt: skip
    runs = pd.DataFrame({"run_id": range(5), "study": "clocks", "engine": "inline"})
    n = pd.DataFrame({"run_id": range(5), "name": "n", "value": "10", "number": 10.0})
    values = pd.DataFrame({"run_id": range(5), "name": "wrong", "value": [0.98, 0.99, 1.0, 1.01, 1.02]})
    frame = comparison.frame_of(numbers)
    (found,) = tally.tallies(tally.judged(comparison.compare(frame, comparison.Runs(runs, n, values))), frame)
    assert found.line == "1 of 5 published numbers inside the interval, 1 near, 2 off (worst ×0.333), 1 fitted"


def test_a_report_knows_the_zero_at_the_end_of_a_printed_number():
    """35.2 is not the 35.0 that a paper prints, and is the 35 of another one; a bound has no digits."""
    numbers = [
        {**NUMBER, "paper": "p", "where": "w", "quantity": f"{text}", "condition": "", "study": "clocks", "note": "",
         "parameters": {"n": 10}, "scalar": "last", "drawn": False, **said}
        for text, said in (("35.0", {"published": 35.0, "decimals": 1}), ("35", {"published": 35.0, "decimals": 0}),
                           ("< 36", {"published": None, "relation": "<", "high": 36.0}))
    ]  # fmt: skip
    runs = pd.DataFrame({"run_id": range(5), "study": "clocks", "engine": "inline"})
    n = pd.DataFrame({"run_id": range(5), "name": "n", "value": "10", "number": 10.0})
    values = pd.DataFrame({"run_id": range(5), "name": "last", "value": 35.2})
    judged = tally.judged(comparison.compare(comparison.frame_of(numbers), comparison.Runs(runs, n, values)))
    assert judged["verdict"].tolist() == ["near", "exact", "inside"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1234.0, "1234"),
        (0.123456, "0.1235"),
        (-0.5, "−0.5"),
        (53571.33, "53571"),
        (1.5e-7, "1.5×10⁻⁷"),
        (2e9, "2×10⁹"),
    ],
)
def test_numbers_are_short(value, text):
    assert short(value) == text


def test_texts_in_csv_files_are_never_formulas(tmp_path):
    cells = ["=HYPERLINK(1)", "+1+2", "-1.5", "-x", "@SUM(1)", "plain", None]
    csv_files._write_csv(tmp_path / "f.csv", pd.DataFrame({"text": cells, "number": [-1.0] * len(cells)}))
    found = pd.read_csv(tmp_path / "f.csv", dtype=str)
    assert found.text.tolist()[:6] == ["'=HYPERLINK(1)", "'+1+2", "-1.5", "'-x", "'@SUM(1)", "plain"]
    assert set(found.number) == {"-1.0"}
