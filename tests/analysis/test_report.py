"""The report: what it says, and that it needs nothing but itself."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pandas as pd
import pytest

from causeway.analysis import description, published, report
from causeway.analysis.description import Description
from causeway.analysis.figures.numbers import linear_ticks, log_ticks, short
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import comparison
from causeway.analysis.report.verdict import bounds_verdict, verdict
from tests.worlds.result_folder import fill

PLOTS = [
    Plot("Error rate", "clocks", "wrong", "n", "clock", paper="clk, Fig. 3", log_x=True, log_y=True),
    Plot("Messages a process", "clocks", "messages/n", "n", "clock", kind="bar"),
    Plot("Queue <over> time", "clocks", "queue", kind="time", series="clock"),
    Plot("Of a study that did not run", "other", "wrong", "n"),
]


class Strict(HTMLParser):
    """Checks that every element is closed, and notes links and what would be loaded."""

    void = frozenset({"meta", "br", "path", "rect", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.loads += [given[name] for name in ("src", "srcset", "xlink:href") if name in given]
        self.links += [given["href"]] if "href" in given else []
        if tag in ("script", "link", "img", "iframe", "base"):
            self.loads.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.open.pop() == tag


def describe(folder):
    """Leaves a description of the made-up study in its result folder, with published numbers of all kinds."""
    lines = ["paper,where,quantity,condition,study,parameters,scalar,published,relation,low,high,note"]
    for n, said in ((10, "0.02,,,"), (100, "0.2,about,,"), (250, ",<,,5.0"), (500, "1.0,=,,")):
        point = json.dumps({"n": n, "clock": "counter"}).replace('"', '""')
        lines.append(f'clk,Fig. 3,error rate,N={n},clocks,"{point}",wrong,{said},')
    why = "cannot be compared: the clock has no hands"
    lines.append(f"clk,Section 7,hands,any N,clocks,{{}},{published.NOT_COMPARED},,>,2,,{why}")
    (folder / "clk.csv").write_text("\n".join(lines) + "\n")
    numbers = tuple(published.read(folder / "clk.csv"))
    described = Description("clocks", "Made up", "clk", tuple(PLOTS), (), numbers)
    description.write(folder, "clocks", description.text_of(described))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = fill(tmp_path_factory.mktemp("results"), seeds=3)
    describe(folder)
    return report.write(folder)


def test_the_page_is_whole_and_loads_nothing(written):
    page = Strict()
    text = written.read_text()
    page.feed(text)
    assert page.open == [] and page.loads == []
    assert "http" not in text and "@import" not in text and "url(" not in text


def test_every_link_leads_somewhere(written):
    page = Strict()
    text = written.read_text()
    page.feed(text)
    for link in page.links:
        assert f'id="{link[1:]}"' in text if link.startswith("#") else (written.parent / link).exists(), link


def test_it_says_what_was_run(written):
    text = written.read_text()
    for said in ("6.1 + INET 4.5.4", "0123456789ab", "0 to 2", "0.1.0", "2024-05-01T10:00:00"):
        assert said in text


def test_comparison_csv_has_the_agreed_columns_and_a_row_per_number_and_engine(written):
    frame = pd.read_csv(written.parent / "comparison.csv")
    assert tuple(frame.columns) == comparison.COLUMNS
    assert len(frame) == 6 and set(frame.engine) == {"inline", "omnet"}
    said = frame[frame.published.notna()]
    assert len(said) == 4 and (said.ratio - said.measured / said.published).abs().max() < 1e-12


def test_a_published_bound_is_judged_as_one(written):
    frame = pd.read_csv(written.parent / "comparison.csv")
    bound = frame[frame.relation == "<"]
    assert bound.published.isna().all() and set(bound.high) == {5.0} and set(bound.ratio) == {1.0}
    text = written.read_text()
    assert "✓ within" in text and "&lt; 5" in text and "about 0.2" in text


def test_the_tally_counts_what_was_not_run(written):
    assert "of 4 published numbers" in written.read_text() and "1 not run here" in written.read_text()


def test_a_number_without_a_measured_one_is_a_row_that_says_why(written):
    text = written.read_text()
    body = text[text.index("Numbers without a measured one") :]
    left = re.findall(r"<tr>(.*?)</tr>", body[: body.index("</table>")])[1:]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in left]
    assert cells == [
        ["Section 7", "hands", "any N", "&gt; 2", "cannot be compared: the clock has no hands"],
        ["Fig. 3", "error rate", "N=500", "1", "not run here"],
    ]
    assert "Section 7" not in (written.parent / "comparison.csv").read_text()


def test_figures_show_means_intervals_and_published_points(written):
    first = re.search(r"<figure>.*?</figure>", written.read_text(), re.DOTALL)
    assert first is not None
    drawing = first[0].split("</svg>")[0]
    assert drawing.count("<circle") == 2 * 3 * 4, "two engines, three clocks, four sizes"
    assert drawing.count('class="whisker"') == 2 * 3 * 4
    assert drawing.count('class="published"') == 4
    assert 'stroke-dasharray="7 4"' in drawing, "the second engine is dashed"


def test_a_series_over_time_has_a_line_and_a_band(written):
    text = written.read_text()
    assert "Queue &lt;over&gt; time" in text and text.count('class="band"') == 6


def test_figures_csv_holds_what_is_drawn(written):
    frame = pd.read_csv(written.parent / "figures.csv")
    bars = frame[frame.title == "Messages a process"]
    assert set(bars["mean"]) == {100.0} and set(bars.runs) == {3}


def test_a_plot_without_runs_is_named_not_drawn(written):
    text = written.read_text()
    assert text.count("<figure>") == 3 and "No runs here for: Of a study that did not run" in text


def test_a_folder_that_describes_no_study_has_a_page_and_says_so(tmp_path):
    folder = fill(tmp_path, engines=("inline",), sizes=(10,), seeds=1)
    page = Strict()
    text = report.write(folder).read_text()
    page.feed(text)
    assert page.open == []
    assert "does not say what to draw for: clocks" in text


@pytest.mark.spark
def test_a_large_folder_is_reduced_on_spark_to_the_same_numbers(tmp_path, monkeypatch, spark):
    folder = fill(tmp_path, sizes=(10, 50), seeds=2)
    describe(folder)
    report.write(folder, tmp_path / "small")
    monkeypatch.setattr(report, "_SMALL_ROWS", 0)
    report.write(folder, tmp_path / "large")
    for name in ("comparison.csv", "figures.csv", "scalars.csv"):
        assert (tmp_path / "small" / name).read_bytes() == (tmp_path / "large" / name).read_bytes(), name


@pytest.mark.slow
def test_headless_chromium_shows_it_without_asking_the_network(written, tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium here")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    shot = tmp_path / "page.png"
    command = [browser, *options, f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}", written.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert shot.stat().st_size > 20_000, "an empty page compresses to less"


@pytest.mark.parametrize(
    ("case", "kind", "text"),
    [
        ((1.0, 1.1, 0.9, 1.3), "good", "inside"), ((1.0, 1.0, float("nan"), float("nan")), "good", "equal"),
        ((1.0, 1.05, 1.04, 1.06), "near", "+5.0%"), ((1.0, 0.95, float("nan"), float("nan")), "near", "−5.0%"),
        ((1.0, 2.0, 1.9, 2.1), "off", "×2"), ((0.0, 1.0, 0.5, 1.5), "off", "published 0"),
        ((1.0, -1.0, -2.0, -0.5), "off", "sign"), ((1.0, 0.0, float("nan"), float("nan")), "off", "measured 0"),
    ],
)  # fmt: skip
def test_a_verdict_says_how_far_apart_two_numbers_are(case, kind, text):
    found = verdict(*case)
    assert found.kind == kind and text in found.text


NAN = float("nan")


@pytest.mark.parametrize(
    ("case", "kind", "text"),
    [
        ((0.1, 0.3, False, 0.2, NAN, NAN), "good", "within"), ((0.1, 0.3, False, 0.3, NAN, NAN), "good", "within"),
        ((NAN, 0.5, True, 0.5, NAN, NAN), "near", "at the bound"), ((NAN, 0.5, True, 0.2, 0.1, 0.3), "good", "within"),
        ((NAN, 0.5, True, 0.6, 0.4, 0.8), "good", "reaches"), ((0.1, 0.3, False, 0.32, NAN, NAN), "near", "+6.7%"),
        ((0.1, 0.3, False, 0.6, 0.5, 0.7), "off", "×2"), ((5.0, NAN, True, 2.5, NAN, NAN), "off", "×0.5"),
    ],
)  # fmt: skip
def test_a_verdict_on_bounds_says_whether_they_are_kept(case, kind, text):
    found = bounds_verdict(*case)
    assert found.kind == kind and text in found.text


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


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.13, 0.92), (-5, 7), (3, 3), (1e-9, 5e-9), (0, 123456)])
def test_ticks_cover_the_range_with_few_round_numbers(low, high):
    ticks = linear_ticks(low, high)
    assert ticks[0] <= low and ticks[-1] >= high and 3 <= len(ticks) <= 10


@pytest.mark.parametrize(("low", "high"), [(1e-5, 1), (0.3, 0.8), (2, 2), (10, 1024), (1e-12, 1e12)])
def test_log_ticks_cover_the_range(low, high):
    ticks = log_ticks(low, high)
    assert ticks[0] <= low * 1.001 and ticks[-1] >= high * 0.999 and 2 <= len(ticks) <= 10


def test_texts_in_csv_files_are_never_formulas(tmp_path):
    cells = ["=HYPERLINK(1)", "+1+2", "-1.5", "-x", "@SUM(1)", "plain", None]
    report._write_csv(tmp_path / "f.csv", pd.DataFrame({"text": cells, "number": [-1.0] * len(cells)}))
    found = pd.read_csv(tmp_path / "f.csv", dtype=str)
    assert found.text.tolist()[:6] == ["'=HYPERLINK(1)", "'+1+2", "-1.5", "'-x", "'@SUM(1)", "plain"]
    assert set(found.number) == {"-1.0"}
