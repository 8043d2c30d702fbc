"""A result folder in a notebook: runs, scalars with parameters, series between two times, histograms."""

from pathlib import Path

import numpy as np
import pytest

import causeway.results
from causeway.analysis import convert, store
from causeway.errors import UserError


def land(folder: Path, run: str, rate: float, seed: int, values: dict[str, float], **switches: str) -> None:
    store.write_run(
        folder,
        {
            "runs": {
                "run_id": [run], "study": ["toy"], "point": [f"p{rate}"], "engine": ["inline"], "seed": [seed],
                "started_at": ["2026-01-01T00:00:00Z"],
            },
            "parameters": {
                "name": ["rate", "radio", *switches],
                "value": [str(rate), "wifi", *switches.values()],
                "number": [rate, None, *(None for _ in switches)],
            },
            "scalars": {"module": ["run"] * len(values), "name": list(values), "value": list(values.values())},
            "vectors": {"vector_id": [0], "module": ["node[0]"], "name": ["size"]},
            "samples": {
                "vector_id": [0] * 4, "time_raw": [1, 2, 3, 4], "time_exp": [0] * 4, "value": [1.0, 2.0, 3.0, rate],
            },
        },
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> causeway.results.Folder:
    for rate in (5.0, 10.0):
        for seed in (1, 2):
            land(tmp_path, f"toy-{rate}-{seed}", rate, seed, {"delay_s": rate / 10 + seed, "lost": 0.0})
    return causeway.results.open(tmp_path)


def test_runs_come_with_their_parameters_as_columns(folder: causeway.results.Folder) -> None:
    assert folder.runs()["rate"].tolist() == [5.0, 5.0, 10.0, 10.0]
    assert folder.runs(rate=5)["seed"].tolist() == [1, 2]
    assert folder.runs(rate=[5, 10], seed=2, radio="wifi")["run_id"].tolist() == ["toy-5.0-2", "toy-10.0-2"]
    assert folder.parameters() == ["rate", "radio"]


def test_a_switch_is_chosen_by_pythons_true_and_false(tmp_path: Path) -> None:
    for causal in ("true", "false"):
        land(tmp_path, f"toy-{causal}", 5, 1, {"delay_s": 1.0}, causal=causal)
    folder = causeway.results.open(tmp_path)
    for chosen in (True, [True], np.bool_(True), "true"):
        assert folder.runs(causal=chosen)["run_id"].tolist() == ["toy-true"]
    assert folder.scalars(causal=False)["run_id"].tolist() == ["toy-false"]


def test_values_may_come_from_anything_that_yields_them(folder: causeway.results.Folder) -> None:
    assert len(folder.runs(seed=range(1, 2))) == 2
    assert len(folder.runs(rate=np.array([5, 10]))) == 4
    with pytest.raises(UserError, match="rate holds numbers, and 'fast' is not a number"):
        folder.runs(rate="fast")


def test_scalars_carry_the_parameters_that_differ(folder: causeway.results.Folder) -> None:
    found = folder.scalars("delay*")
    assert set(found.columns) == {
        "run_id",
        "module",
        "name",
        "value",
        "position",
        "study",
        "point",
        "engine",
        "seed",
        "rate",
    }
    assert sorted(found["value"]) == [1.5, 2.0, 2.5, 3.0]
    assert "rate" not in folder.scalars("delay*", rate=5)


def test_wide_scalars_are_one_row_a_run(folder: causeway.results.Folder) -> None:
    wide = folder.scalars(wide=True)
    assert wide[["seed", "rate", "delay_s", "lost"]].values.tolist() == [
        [1, 10.0, 2.0, 0.0], [2, 10.0, 3.0, 0.0], [1, 5.0, 1.5, 0.0], [2, 5.0, 2.5, 0.0],
    ]  # fmt: skip


def test_series_between_two_times(folder: causeway.results.Folder) -> None:
    found = folder.vectors("size", start_s=2, end_s=4, rate=5)
    assert [s.value.tolist() for s in found["series"]] == [[2.0, 3.0]] * 2
    assert folder.series("size", rate=5, seed=1).value.tolist() == [1.0, 2.0, 3.0, 5.0]
    with pytest.raises(UserError, match="has 4 series 'size'"):
        folder.series("size")


def test_a_scalar_over_the_space_of_parameters(folder: causeway.results.Folder) -> None:
    pytest.importorskip("xarray")
    array = folder.array("delay_s", "rate")
    assert array.dims == ("rate", "repetition")
    assert array.sel(rate=5).values.tolist() == [1.5, 2.5]
    assert array.mean("repetition").values.tolist() == [2.0, 2.5]
    with pytest.raises(UserError, match="has no parameter speed"):
        folder.array("delay_s", "speed")
    with pytest.raises(UserError, match="has no scalar nothing"):
        folder.array("nothing", "rate")


def test_a_missing_result_of_a_run_is_reported(folder: causeway.results.Folder) -> None:
    with pytest.raises(UserError, match="has no parameter or column 'speed'; it has run_id, study"):
        folder.scalars(speed=5)
    with pytest.raises(UserError, match="is not a result folder"):
        causeway.results.open(folder.path / "nothing")


def test_histograms_and_statistics_of_converted_files(tmp_path: Path) -> None:
    lines = [
        "version 3", "run R-1", "statistic Net.sink delay", "field count 3", "field mean 0.5", "bin -inf 0", "bin 0 2",
        "bin 0.5 1", "bin 1 0",
    ]  # fmt: skip
    (tmp_path / "r.sca").write_text("\n".join(lines) + "\n")
    convert.convert([tmp_path / "r.sca"], tmp_path / "out")
    folder = causeway.results.open(tmp_path / "out")
    assert folder.statistics("delay")[["count", "mean"]].values.tolist() == [[3.0, 0.5]]
    ((edges, counts),) = folder.histograms("module =~ *sink")[["edges", "counts"]].values.tolist()
    assert list(edges) == [-np.inf, 0, 0.5, 1]
    assert list(counts) == [0, 2, 1, 0]


def test_names_with_quotes_and_colons_are_found(tmp_path: Path) -> None:
    land(tmp_path, "r", 1.0, 1, {"channelUtilization:last": 0.5, 'odd "name"': 1.0})
    folder = causeway.results.open(tmp_path)
    assert folder.scalars("channelUtilization:last")["value"].tolist() == [0.5]
    assert folder.scalars('"odd \\"name\\""')["value"].tolist() == [1.0]
    assert folder.find()["runs"].tolist() == [1, 1]


def test_an_array_does_not_pool_runs_that_differ_in_another_parameter(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    for rate in (5.0, 10.0):
        land(tmp_path, f"toy-{rate}", rate, 1, {"delay_s": rate})
    folder = causeway.results.open(tmp_path)
    with pytest.raises(UserError, match=r"differ in rate \(10.0, 5.0\): name rate as a dimension"):
        folder.array("delay_s", "radio")
    with pytest.raises(UserError, match="differ in rate"):
        folder.array("delay_s")
    assert folder.array("delay_s", "radio", rate=5).values.tolist() == [[5.0]]
    assert folder.array("delay_s", "radio", "rate").values.tolist() == [[[5.0], [10.0]]]


@pytest.mark.parametrize("text", [5, ["packets"], None])
def test_a_filter_that_is_no_text_is_refused(folder: causeway.results.Folder, text) -> None:
    for ask in (folder.find, folder.scalars, folder.vectors):
        with pytest.raises(UserError, match="a filter is a text, not"):
            ask(text)


@pytest.mark.parametrize("bound", [float("nan"), "3", True])
def test_a_time_that_is_no_number_is_refused(folder: causeway.results.Folder, bound) -> None:
    with pytest.raises(UserError, match=r"start_s is .*; allowed: a number of seconds"):
        folder.vectors(start_s=bound)
    with pytest.raises(UserError, match=r"end_s is .*; allowed: a number of seconds"):
        folder.vectors(end_s=bound)


def converted(folder: Path) -> causeway.results.Folder:
    """Return a folder with two hosts that count packets; the second host has two scalars of one name."""
    lines = ["version 3", "run R-1", "attr iterationvars x", "itervar x 5"]
    lines += ["scalar Net.host[0] count 1", "scalar Net.host[1] count 2", "scalar Net.host[1] count 4"]
    (folder / "r.sca").write_text("\n".join(lines) + "\n")
    convert.convert([folder / "r.sca"], folder / "out")
    return causeway.results.open(folder / "out")


def test_wide_scalars_of_one_name_in_a_module_are_all_there(tmp_path: Path) -> None:
    """The former ones were dropped without a word."""
    wide = converted(tmp_path).scalars(wide=True)
    assert wide[["Net.host[0].count", "Net.host[1].count", "Net.host[1].count #2"]].values.tolist() == [[1, 2, 4]]


def test_scalars_of_several_modules_are_no_repetitions_of_an_array(tmp_path: Path) -> None:
    """One run gave three repetitions."""
    pytest.importorskip("xarray")
    with pytest.raises(UserError, match=r"several scalars count \(Net.host\[0\], Net.host\[1\]\), which are no rep"):
        converted(tmp_path).array("count", "x")
