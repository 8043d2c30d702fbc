"""A converted folder of any project gets figures: odd names, modules with wildcards, iteration variables with units."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from causeway.analysis import convert, kinds, report, store
from causeway.analysis.plots import Plot
from causeway.analysis.reduce import comparison, expression
from causeway.analysis.reduce.scalars import run_values
from causeway.analysis.spark import read_spark
from causeway.analysis.units import in_base_units
from causeway.errors import UserError
from tests.helpers.page import parse, table, words

PLOTS = """
from causeway import Plot

plots = [
    Plot("Utilization", "Aloha", '"channelUtilization:last" * 100', "iat"),
    Plot("Received", "", '"**.host[*].app[0].packetReceived:count"', "iat", kind="bar"),
]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for run, (iat, used) in enumerate([("500ms", 0.1), ("1s", 0.2), ("2.5s", 0.4)]):
        lines = [
            "version 3", f"run Aloha-{run}", "attr configname Aloha", f"itervar iat {iat}",
            f"scalar Net.server channelUtilization:last {used}",
            *[f"scalar Net.host[{i}].app[0] packetReceived:count {i + run}" for i in range(3)],
            "scalar Net.host[0].app[1] packetReceived:count 1000",
        ]  # fmt: skip
        (tmp_path / f"{run}.sca").write_text("\n".join(lines) + "\n")
    convert.convert([tmp_path], tmp_path / "out")
    (tmp_path / "plots.py").write_text(PLOTS)
    return tmp_path / "out"


def test_a_file_of_plots_is_drawn_for_a_converted_project(folder: Path) -> None:
    page = report.write(folder, plots=kinds.load(folder.parent / "plots.py")).read_text()
    assert "Utilization" in page and "Received" in page
    drawn = pd.read_csv(folder / "report" / "figures.csv")
    used = drawn[drawn["title"] == "Utilization"]
    assert used["x"].tolist() == [0.5, 1.0, 2.5]
    assert used["mean"].tolist() == pytest.approx([10, 20, 40])
    assert drawn[drawn["title"] == "Received"]["mean"].tolist() == [3, 6, 9]


def test_a_whole_name_of_one_module_needs_no_wildcard(folder: Path) -> None:
    plots = [
        Plot("One host", "Aloha", '"Net.host[1].app[0].packetReceived:count"', "iat"),
        Plot("No such", "Aloha", '"Net.host[9].app[0].packetReceived:count"', "iat"),
        Plot("Not here", "Token", '"x"', "iat"),
    ]
    page = report.write(folder, plots=plots).read_text()
    drawn = pd.read_csv(folder / "report" / "figures.csv")
    assert drawn[drawn["title"] == "One host"]["mean"].tolist() == [1, 2, 3]
    said = words(parse(page))
    assert "the runs have no scalar or series of this name: No such (" in said and "No runs here for: Not here." in said


def test_labels_of_axes_and_legends_are_readable(folder: Path) -> None:
    received = '"**.app[0].packetReceived:count"'
    over = Plot("S", "Aloha", received, "iat", kind="scatter", more={"over": '"channelUtilization:last" * 100'})
    plots = [over, Plot("L", "Aloha", received, series="iat")]
    page = report.write(folder, plots=plots).read_text()
    texts = [words(one) for one in parse(page).iter("text")]
    assert {"channelUtilization:last * 100", "**.app[0].packetReceived:count"} <= set(texts)
    assert [text for text in texts if text.startswith("iat ")] == ["iat 500ms", "iat 1s", "iat 2.5s"]


def test_a_plot_without_data_is_reported_if_no_plot_has_data(folder: Path) -> None:
    page = report.write(folder, plots=[Plot("No such", "Aloha", "nothing", "iat")]).read_text()
    assert "the runs have no scalar or series of this name: No such (nothing)" in words(parse(page))


def test_a_plots_fields_are_texts(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text('from causeway import Plot\nplots = [Plot("T", "S", "y", "x", series=("a",))]\n')
    with pytest.raises(UserError, match=r"the plot 'T' has series=\('a',\); allowed: a text"):
        kinds.load(tmp_path / "p.py")


def test_a_seed_that_the_files_lack_is_empty(folder: Path) -> None:
    assert store.read_pandas(folder, "runs")["seed"].isna().all()
    page = parse(report.write(folder).read_text())
    (run,) = [one for one in page.iter("section") if one.get("id") == "run"]
    assert table(run)[1][:9] == ["Aloha", "omnet", "", "", "", "", "3", "3", ""]


@pytest.mark.spark
def test_spark_sums_over_the_same_modules(folder: Path, spark) -> None:
    names = {"channelUtilization:last", "**.host[*].app[0].packetReceived:count", "*.nothing"}
    here = run_values(store.read_pandas(folder, "scalars"), names)
    there = run_values(read_spark(spark, folder, "scalars"), names).toPandas()
    by = ["run_id", "name"]
    assert len(here) == 6
    pd.testing.assert_frame_equal(
        here.sort_values(by).reset_index(drop=True), there.sort_values(by).reset_index(drop=True)
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.5s", 1.5), ("500ms", 0.5), ("2e6bps", 2e6), ("11Mbps", 11e6), ("10 mW", 0.01), ("1KiB", 1024.0),
        ("-81dBm", -81.0), ("3min", 180.0), ("36kmph", 10.0), ("100", None), ("abc", None), ("5apples", None),
        ("", None),
    ],
)  # fmt: skip
def test_quantities_with_units_are_numbers(text: str, number: float | None) -> None:
    assert in_base_units(text) == pytest.approx(number)


def test_odd_names_stand_in_quotation_marks() -> None:
    assert expression.names('"a:b" / (c + "d e") - 2') == ["a:b", "c", "d e"]
    values = {"a:b": 6.0, "c": 1.0, "d e": 2.0}
    assert expression.evaluate('"a:b" / (c + "d e")', values.__getitem__, lambda a, b: a / b) == 2.0


def test_a_list_of_plots_holds_plots(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("plots = ['delay']\n")
    with pytest.raises(UserError, match="`plots` holds 'delay', which is not a Plot"):
        kinds.load(tmp_path / "p.py")
    (tmp_path / "p.py").write_text("from causeway import Plot\nplots = [Plot('t', '', 'a b')]\n")
    with pytest.raises(UserError, match="'a b' is not an arithmetic expression"):
        kinds.load(tmp_path / "p.py")


def test_a_plot_of_no_study_takes_all_runs() -> None:
    runs = pd.DataFrame([{"run_id": name, "study": name} for name in "ab"])
    none = pd.DataFrame(columns=["run_id", "name", "value", "number"])
    known = comparison.Runs(runs, none, none[["run_id", "name", "value"]])
    assert known.at(Plot("t", "", "y").study, {}).tolist() == ["a", "b"]


MORE = """
from causeway import Plot

plots = [
    Plot("Mean wait", "Fifo", '"wait:histogram:mean"', "iat", y_label="wait [s]", log_x=True),
    Plot("Waits", "Fifo", "wait:histogram", kind="histogram", more={"of": "recorded"}),
    Plot("Servers", "Fifo", "Net.server[*].state:vector", kind="state", more={"states": {"0": "idle", "1": "busy"}}),
    Plot("Busy over time", "Fifo", "Net.*.state:vector", kind="time"),
]
"""


@pytest.fixture
def queues(tmp_path: Path) -> Path:
    """Write two runs with a histogram each; the first has two servers that are idle or busy."""
    for run, (iat, mean) in enumerate([("500ms", 0.5), ("1s", 0.25)]):
        lines = [
            "version 3", f"run Fifo-{run}", "attr configname Fifo", f"itervar iat {iat}",
            "statistic Net.sink wait:histogram", "field count 10", f"field mean {mean}",
            "bin -inf 1", "bin 0 2", f"bin 1 {3 + run}", "bin 2 4",
        ]  # fmt: skip
        (tmp_path / f"{run}.sca").write_text("\n".join(lines) + "\n")
    vectors = [
        "version 3", "run Fifo-0", "attr configname Fifo", "itervar iat 500ms",
        "vector 0 Net.server[0] state:vector ETV", "vector 1 Net.server[1] state:vector ETV",
        *["0\t1\t0\t0", "1\t1\t0\t1", "0\t2\t2\t1", "0\t3\t3\t1", "0\t4\t5\t0", "1\t5\t10\t0"],
    ]  # fmt: skip
    (tmp_path / "0.vec").write_text("\n".join(vectors) + "\n")
    convert.convert([tmp_path], tmp_path / "out")
    (tmp_path / "more.py").write_text(MORE)
    return tmp_path / "out"


@pytest.mark.parametrize("spark_", [False, pytest.param(True, marks=pytest.mark.spark)])
def test_recorded_statistics_histograms_and_states_are_drawn(queues: Path, spark_: bool, request) -> None:
    master = request.getfixturevalue("spark") if spark_ else None
    page = report.write(queues, plots=kinds.load(queues.parent / "more.py"), master=master).read_text()
    drawn = pd.read_csv(queues / "report" / "figures.csv", keep_default_na=False)
    mean = drawn[drawn["title"] == "Mean wait"]
    assert mean[["x", "mean"]].astype(float).to_numpy().tolist() == [[0.5, 0.5], [1.0, 0.25]]
    waits = drawn[drawn["title"] == "Waits"]
    assert waits["x"].astype(float).tolist() == [0, 1, 2]
    assert waits["mean"].astype(float).tolist() == pytest.approx([4 / 21, 7 / 21, 0])  # 2 below, 8 beyond, of 21
    states = drawn[drawn["title"] == "Servers"]
    rows = {name: g[["x", "mean"]].astype(float).to_numpy().tolist() for name, g in states.groupby("series")}
    assert rows == {
        "Net.server[0]": [[0, 0], [2, 1], [5, 0], [10, 0]], "Net.server[1]": [[0, 1], [10, 0], [10, 0]],
    }  # fmt: skip
    assert "busy" in page and "idle" in page
    assert len(drawn[drawn["title"] == "Busy over time"]) > 2


def test_drawings_have_names_units_and_scales(queues: Path) -> None:
    report.write(queues, plots=kinds.load(queues.parent / "more.py"))
    drawn = pd.read_csv(queues / "report" / "figures.csv", keep_default_na=False)
    names = ["study", "kind", "x_name", "x_unit", "x_scale", "y_name", "y_unit", "y_scale"]
    reported = drawn[drawn["title"] == "Mean wait"][names].iloc[0].tolist()
    assert reported == ["Fifo", "line", "iat", "", "log", "wait", "s", "linear"]
    time = drawn[drawn["title"] == "Servers"][["x_name", "x_unit"]].iloc[0].tolist()
    assert time == ["simulated time", "s"]


def test_scalars_are_shown_with_their_parameters(folder: Path) -> None:
    report.write(folder)
    scalars = pd.read_csv(folder / "report" / "scalars.csv")
    used = scalars[scalars["name"] == "channelUtilization:last"].set_index("iat")["mean"]
    assert used.to_dict() == {"500ms": 0.1, "1s": 0.2, "2.5s": 0.4}
