"""The drawings of kinds of plots: artists on the Axes, and the numbers that a report shows beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from causeway.analysis import kinds
from causeway.analysis.figures.data import Data, Recorded
from causeway.analysis.figures.sheet import Sheet
from causeway.analysis.figures.style import DASHES, HOLLOW, SERIES, SHADES
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import comparison
from causeway.analysis.reduce.scalars import run_values

NAN = float("nan")


@pytest.fixture
def sheet() -> Iterator[Sheet]:
    with Sheet() as opened:
        yield opened


def data_of(
    plot: Plot, values: Mapping[Any, Sequence[float]], samples: Sequence[float] = (),
    published: Sequence[Mapping[str, Any]] = (), engines: Sequence[str] = ("inline",),
) -> Data:  # fmt: skip
    """Runs of a study `s` with parameter n on each engine: for each n so many runs with these values of `y` (and `z` =
    10 y). The first run recorded the series `v`. Published numbers are of the place `p, Fig. 1`."""
    rows = [(f"{e}-{n}-{i}", e, n, v) for e in engines for n, group in values.items() for i, v in enumerate(group)]
    runs = pd.DataFrame([{"run_id": r, "study": "s", "point": str(n), "engine": e, "seed": 1} for r, e, n, _ in rows])
    numbers = [float(n) if isinstance(n, int) else None for _, _, n, _ in rows]
    parameters = pd.DataFrame([
        {"run_id": r, "name": "n", "value": str(n), "number": number}
        for (r, _, n, _), number in zip(rows, numbers, strict=True)
    ])  # fmt: skip
    scalars = pd.DataFrame([
        {"run_id": r, "module": "run", "name": name, "value": v * f} for r, _, _, v in rows for name, f in
        (("y", 1), ("z", 10))
    ])  # fmt: skip
    known = comparison.Runs(runs, parameters, run_values(scalars, {"y", "z"}))
    vectors = pd.DataFrame([{"run_id": rows[0][0], "vector_id": 0, "module": "m", "name": "v", "unit": ""}])
    times = np.arange(len(samples), dtype=np.int64)
    recorded = pd.DataFrame({
        "run_id": rows[0][0], "vector_id": 0, "time_raw": times, "time_exp": 0, "event": pd.NA, "value": samples,
    })  # fmt: skip
    given = {"paper": "p", "where": "Fig. 1", "quantity": "", "condition": "", "study": "s", "scalar": "y",
             "relation": "=", "low": NAN, "high": NAN, "published": NAN, "note": ""}  # fmt: skip
    said = comparison.frame_of([{**given, **one} for one in published])
    return Data(plot, known, said, lambda: Recorded(vectors, recorded))


def gid(sheet: Sheet, name: str) -> Any:
    """Return the artist with this gid."""
    (found,) = sheet.figure.findobj(lambda artist: artist.get_gid() == name, include_self=False)
    return found


def xy(line: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def legend(sheet: Sheet) -> list[str]:
    return [text.get_text() for one in sheet.figure.legends for text in one.get_texts()]


# ---- line -----------------------------------------------------------------------------------------------------------


def test_a_line_goes_through_the_means_and_has_their_intervals(sheet: Sheet) -> None:
    numbers = sheet.draw(data_of(Plot("t", "s", "y", "n"), {1: [1.0, 3.0], 5: [4.0], 2: [8.0, 8.0]}))
    assert xy(gid(sheet, " inline")) == [(1, 2), (2, 8), (5, 4)]
    (bars,) = sheet.axes.collections
    ends = [segment[:, 1].tolist() for segment in bars.get_segments() if len(segment)]
    low, high = numbers.loc[0, ["low", "high"]]
    assert high - 2 == pytest.approx(12.706, abs=1e-3), "Student's t of one degree of freedom, times 1"
    assert ends[0] == pytest.approx([low, high]) and ends[1] == [8, 8]
    assert np.isnan(numbers["low"][2]), "a single run has no interval"
    assert sheet.axes.get_xlim()[0] < 1 and sheet.axes.get_xlim()[1] > 5
    assert low < 0 == sheet.axes.get_ylim()[0], "no run is below 0, so the axis ends there"
    assert high < sheet.axes.get_ylim()[1], "intervals are in the picture"


def test_an_interval_that_reaches_below_a_logarithmic_axis_ends_at_it(sheet: Sheet) -> None:
    numbers = sheet.draw(data_of(Plot("t", "s", "y", "n", log_y=True), {1: [1.0, 3.0], 2: [2.0, 2.5]}))
    assert numbers["low"][0] < 0 and sheet.axes.get_yscale() == "log"
    sheet.figure.draw_without_rendering()
    box = sheet.axes.get_tightbbox()
    assert box is not None and box.y0 > 0, "inside the figure"


def test_marks_of_a_second_engine_are_dashed_and_hollow_and_beside_those_of_the_first(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", "n"), {1: [1.0], 2: [2.0]}, engines=("inline", "ns3")))
    first, second = gid(sheet, " inline"), gid(sheet, " ns3")
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--") and DASHES[0] == "-"
    assert to_hex(second.get_markerfacecolor()) == HOLLOW.light != to_hex(first.get_markerfacecolor())
    places = [line.get_transform().transform((1, 1))[0] for line in (first, second)]
    assert 3 < places[1] - places[0] < 10, "pixels"
    assert legend(sheet) == ["inline", "ns3"]


def test_published_numbers_are_diamonds_and_bounds_point_to_where_they_hold(sheet: Sheet) -> None:
    plot = Plot("t", "s", "y", "n", paper="p, Fig. 1")
    said = [
        {"parameters": {"n": 1}, "published": 7.0}, {"parameters": {"n": 2}, "high": 9.0},
        {"parameters": {"n": 3}, "low": 2.0, "high": 6.0},
        {"parameters": {"n": 3}, "where": "Fig. 2", "published": 1.0},
    ]  # fmt: skip
    numbers = sheet.draw(data_of(plot, {1: [1.0], 2: [2.0]}, published=said))
    diamonds = gid(sheet, "published ")
    assert xy(diamonds) == [(1, 7)] and diamonds.get_marker() == "D"
    marks = {(*xy(line)[0], line.get_marker()) for line in sheet.axes.lines if line.get_marker() in (10, 11, "_")}
    assert {mark for mark in marks if mark[2] == 11} == {(2, 9, 11)}, "less than 9"
    assert {mark for mark in marks if mark[2] == "_" and mark[0] == 3} == {(3, 2, "_"), (3, 6, "_")}
    assert numbers[numbers["engine"] == "published"]["x"].tolist() == [1, 2, 3]
    assert legend(sheet)[-1] == "published"


def test_values_of_a_sweep_are_its_ticks_and_names_stand_side_by_side(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", "n", log_x=True), {1: [1.0], 2: [2.0], 500: [2.0]}))
    assert sheet.axes.get_xticks().tolist() == [1, 2, 500] and sheet.axes.get_xscale() == "log"
    sheet.draw(data_of(Plot("t", "s", "y", "n", log_x=True), {"slow": [1.0], "fast": [2.0]}))
    assert [text.get_text() for text in sheet.axes.get_xticklabels()] == ["fast", "slow"]
    assert xy(gid(sheet, " inline")) == [(0, 2), (1, 1)] and sheet.axes.get_xscale() == "linear"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [1, 3, 8, 16, 64, 1000])
@pytest.mark.parametrize("seeds", [(1.0,), (1.0, 1.0), (1.0, 1.1)])
def test_a_single_point_has_room_on_logarithmic_axes(n: int, seeds: tuple[float, ...], sheet: Sheet) -> None:
    plot = Plot("t", "s", "y", "n", log_x=True, log_y=True)
    assert len(sheet.draw(data_of(plot, {n: [n * seed for seed in seeds]})))
    (left, right), (low, high) = sheet.axes.get_xlim(), sheet.axes.get_ylim()
    assert left < n < right and right / left > 1.5
    assert low < n < high and high / low > 1.2


def test_ticks_of_a_sweep_do_not_run_into_each_other(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", "n"), {n: [1.0] for n in (1000, 1001, 1002, 9000)}))
    written = [text.get_text() for text in sheet.axes.get_xticklabels()]
    assert written == ["1000", "", "", "9000"]


@pytest.mark.parametrize(
    ("values", "low", "scale"),
    [([5.0, 4.0], 0, "linear"), ([1000.0, 1001.0], None, "linear"), ([0.0, 1.0], 0, "linear")],
)
def test_an_axis_begins_at_0_if_0_is_near_and_a_logarithmic_one_does_not(
    sheet: Sheet, values: list[float], low: float | None, scale: str
) -> None:
    plot = Plot("t", "s", "y", "n", log_y=0.0 in values)
    sheet.draw(data_of(plot, {1: values[:1], 2: values[1:]}))
    assert sheet.axes.get_yscale() == scale
    bottom = sheet.axes.get_ylim()[0]
    assert bottom == low if low is not None and min(values) < max(values) / 2 else bottom > 0


def test_a_legend_of_any_length_lies_below_the_axes(sheet: Sheet) -> None:
    plot = Plot("t", "s", "y", "n", series="n")
    sheet.draw(data_of(plot, {f"a long name of a value, number {i:02}": [1.0] for i in range(12)}))
    sheet.figure.draw_without_rendering()
    (below,) = sheet.figure.legends
    box, axes = below.get_window_extent(), sheet.axes.get_tightbbox()
    assert axes is not None and box.y1 <= axes.y0 + 1 and box.y0 >= 0 and box.x1 <= sheet.figure.bbox.x1
    assert sheet.axes.get_window_extent().height > sheet.figure.dpi * 1.5, "and takes no room from the data"


# ---- bar, box, scatter ----------------------------------------------------------------------------------------------


def test_bars_are_means_those_of_one_x_side_by_side_and_published_ones_over_those_of_their_series(sheet: Sheet) -> None:
    plot = Plot("t", "s", "y", "n", kind="bar", paper="p, Fig. 1")
    said = [{"parameters": {"n": 7}, "published": 7.0}]
    sheet.draw(data_of(plot, {3: [1.0, 3.0], 7: [8.0]}, published=said, engines=("inline", "ns3")))
    boxes = [patch.get_bbox() for patch in sheet.axes.patches]
    assert [round(box.y1, 9) for box in boxes] == [2, 8, 2, 8] and {box.y0 for box in boxes} == {0}
    assert all(a.x1 <= b.x0 for a, b in ((boxes[0], boxes[2]), (boxes[2], boxes[1]), (boxes[1], boxes[3])))
    assert [patch.get_alpha() for patch in sheet.axes.patches] == [SHADES[0]] * 2 + [SHADES[1]] * 2
    assert xy(gid(sheet, "published ")) == [(1, 7)], "in the middle of the bars of 7"


def test_a_box_has_quartiles_and_whiskers_to_the_ends(sheet: Sheet) -> None:
    numbers = sheet.draw(data_of(Plot("t", "s", "y", "n", kind="box"), {7: [1.0, 2.0, 3.0, 4.0, 9.0]}))
    assert numbers.iloc[0].tolist() == ["", "inline", 7.0, 3.0, 1.0, 9.0, 5]
    drawn = [sorted({float(y) for y in line.get_ydata()}) for line in sheet.axes.lines]
    assert [2.0, 4.0] in drawn and [1.0, 2.0] in drawn and [4.0, 9.0] in drawn and [3.0] in drawn


def test_dots_are_runs_over_a_parameter_or_another_scalar(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", "n", kind="scatter"), {1: [5.0], 2: [6.0, 4.0]}))
    assert gid(sheet, " inline").get_offsets().tolist() == [[1, 5], [2, 4], [2, 6]]
    sheet.draw(data_of(Plot("t", "s", "y", kind="scatter", more={"over": "z"}), {1: [5.0], 2: [6.0]}))
    assert gid(sheet, " inline").get_offsets().tolist() == [[50, 5], [60, 6]]
    assert sheet.axes.get_xlabel() == "z"


# ---- distributions --------------------------------------------------------------------------------------------------


def test_a_cdf_rises_by_one_run_at_each_value(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", kind="cdf"), {1: [3.0, 1.0], 2: [2.0, 2.0]}))
    line = gid(sheet, " inline")
    assert xy(line) == [(1, 0.25), (2, 0.5), (2, 0.75), (3, 1)] and line.get_drawstyle() == "steps-post"
    assert (sheet.axes.get_xlabel(), sheet.axes.get_ylabel()) == ("y", "share of runs")


def test_a_cdf_of_samples_takes_the_recorded_series(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "v", kind="cdf", more={"of": "samples"}), {1: [0.0]}, [5.0, 1.0]))
    assert xy(gid(sheet, " inline")) == [(1, 0.5), (5, 1)]


def test_a_long_cdf_is_thinned_and_keeps_its_ends(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", kind="cdf"), {1: list(map(float, range(5000)))}))
    points = xy(gid(sheet, " inline"))
    assert len(points) == 400 and points[0][0] == 0 and points[-1] == (4999, 1)


def test_the_bins_of_a_histogram_hold_every_run_once(sheet: Sheet) -> None:
    plot = Plot("t", "s", "y", series="n", kind="histogram", more={"bins": 4})
    sheet.draw(data_of(plot, {1: [0.0, 1.0, 4.0, float("inf")], 2: [4.0]}))
    found = {name: gid(sheet, f"{name} inline").get_data() for name in "12"}
    assert all(data.edges.tolist() == [0, 1, 2, 3, 4] and sum(data.values) == 1 for data in found.values())
    assert found["1"].values[0] == pytest.approx(1 / 3)


# ---- over time ------------------------------------------------------------------------------------------------------


def test_a_series_over_time_is_a_curve_of_bins(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "v", kind="time", more={"bins": 2}), {1: [0.0]}, [1.0, 3.0, 5.0, 9.0]))
    assert [y for _, y in xy(gid(sheet, " inline"))] == [2, 7]
    assert sheet.axes.get_xlabel() == "simulated time [s]"


def test_states_are_spans_in_the_colours_of_the_legend(sheet: Sheet) -> None:
    plot = Plot("t", "s", "v", kind="state", more={"states": {"0": "idle"}})
    sheet.draw(data_of(plot, {1: [0.0]}, [0.0, 0.0, 2.0, 2.0, 0.0]))
    (spans,) = sheet.axes.collections
    ends = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in spans.get_paths()]
    assert ends == [(0, 2), (2, 4), (4, 4)]
    assert [to_hex(colour) for colour in spans.get_facecolor()] == [SERIES[0].light, SERIES[1].light, SERIES[0].light]
    assert legend(sheet) == ["idle", "2"]


@pytest.mark.parametrize("kind", ["line", "bar", "box", "cdf", "histogram", "scatter", "time", "state"])
def test_a_plot_without_data_draws_nothing(kind: str, sheet: Sheet) -> None:
    recorded = kind in ("time", "state")
    numbers = sheet.draw(
        data_of(Plot("t", "s" if recorded else "other", "none" if recorded else "y", kind=kind), {1: [1.0]})
    )
    assert numbers.empty


# ---- axes of what cannot be negative --------------------------------------------------------------------------------


def test_an_interval_below_0_of_a_quantity_that_no_run_has_below_0_ends_at_the_axis(sheet: Sheet) -> None:
    numbers = sheet.draw(data_of(Plot("t", "s", "y", "n"), {1: [0.0, 4.0], 2: [3.0, 5.0]}))
    assert numbers["low"].min() < 0
    assert sheet.axes.get_ylim()[0] == 0


def test_an_axis_goes_below_0_if_a_run_has_a_negative_value(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", "n"), {1: [-0.5, 4.0], 2: [3.0, 5.0]}))
    assert sheet.axes.get_ylim()[0] < 0


def test_differences_may_have_intervals_below_0(sheet: Sheet) -> None:
    assert kinds.kind_of("change").signed and not kinds.kind_of("line").signed


def test_a_single_point_is_a_dot_in_the_drawing_and_in_the_legend_and_the_only_tick(sheet: Sheet) -> None:
    data = data_of(Plot("t", "s", "y", "n"), {56: [1.0, 3.0]})
    sheet.draw(data)
    assert [text.get_text() for text in sheet.axes.get_xticklabels()] == ["56"]
    (key,) = [one for one in data.keys if one.get_label() == "inline"]
    assert key.get_marker() == "o" and key.get_linestyle() == "None"


def test_a_series_of_one_bin_is_a_dot(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "v", kind="time"), {1: [1.0]}, samples=[4.0]))
    assert gid(sheet, " inline").get_marker() == "o"


def test_no_axis_of_places_goes_below_0_for_its_margin(sheet: Sheet) -> None:
    sheet.draw(data_of(Plot("t", "s", "y", kind="scatter", more={"over": "z"}), {n: [float(n)] for n in range(20)}))
    assert sheet.axes.get_xlim()[0] == 0
