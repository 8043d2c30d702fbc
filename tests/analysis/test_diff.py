"""Two result folders side by side."""

import math

import pandas as pd
import pytest

from causeway.analysis import store
from causeway.analysis.diff import Difference, diff, save
from causeway.errors import UserError


def folder(path, values: dict, engine: str = "inline", point: str = "p"):
    for seed in (1, 2):
        store.write_run(path, {
            "runs": {
                "run_id": [f"{point}-{engine}-{seed}"], "study": ["s"], "point": [point], "engine": [engine],
                "seed": [seed], "started_at": [""], "wall_s": [1.0 * seed],
            },
            "scalars": {
                "module": ["run"] * len(values), "name": list(values), "value": [v + seed for v in values.values()],
            },
        })  # fmt: skip
    return path


def test_a_folder_equals_itself(tmp_path):
    a = folder(tmp_path / "a", {"x": 1.0, "nothing": math.nan})
    result = diff(a, a, 0.0)
    assert result.passed and result.worst_relative == 0 and len(result.compared) == 2


def test_the_worst_relative_difference_is_named(tmp_path):
    a = folder(tmp_path / "a", {"x": 1.0, "y": 100.0})
    b = folder(tmp_path / "b", {"x": 1.5, "y": 101.0})
    result = diff(a, b, 0.1)
    assert not result.passed and result.worst is not None and result.worst.where == "s p inline, x"
    assert result.worst_relative == pytest.approx(0.5 / 3.0)
    assert "worst: s p inline, x: 2.5 and 3, 16.667% apart" in str(result)
    assert diff(a, b, 0.17).passed


def test_a_filter_that_selects_nothing_is_refused_by_name(tmp_path):
    a = folder(tmp_path / "a", {"x": 1.0})
    with pytest.raises(UserError, match="the filter 'y' selects none of their quantities"):
        diff(a, a, filter="y")


@pytest.mark.filterwarnings("error")
def test_folders_without_recorded_series_are_compared_by_their_scalars(tmp_path):
    a = folder(tmp_path / "a", {"x": 1.0})
    assert diff(a, a, vectors=True).passed


def test_a_file_that_is_no_baseline_is_refused_with_the_column_that_it_lacks(tmp_path):
    (tmp_path / "other.csv").write_text("one,two\n1,2\n")
    with pytest.raises(
        UserError, match=r"other\.csv is not a baseline of causeway diff --save: it has no column 'value'"
    ):
        diff(tmp_path / "other.csv", tmp_path / "other.csv")


def test_a_quantity_that_only_one_has_fails(tmp_path):
    a, b = folder(tmp_path / "a", {"x": 1.0}), folder(tmp_path / "b", {"x": 1.0, "z": 1.0})
    result = diff(a, b, 1.0)
    assert not result.passed and result.only_b == ["s p inline, z"] and "only in B" in str(result)


def test_folders_of_different_engines_are_compared_across_them(tmp_path):
    a, b = folder(tmp_path / "a", {"x": 1.0}), folder(tmp_path / "b", {"x": 1.0}, engine="omnet")
    assert diff(a, b, 0.0).passed


def test_folders_with_nothing_in_common_do_not_pass(tmp_path):
    a, b = folder(tmp_path / "a", {"x": 1.0}), folder(tmp_path / "b", {"x": 1.0}, point="q")
    assert not diff(a, b, 1.0).passed


def test_a_filter_selects_the_compared_values(tmp_path):
    a, b = folder(tmp_path / "a", {"x": 1.0, "y": 1.0}), folder(tmp_path / "b", {"x": 1.0, "y": 9.0, "z": 1.0})
    assert diff(a, b, filter="x").passed
    assert not diff(a, b, filter="x OR y").passed
    assert diff(a, b, filter="NOT x").only_b == ["s p inline, z"]


def test_a_baseline_replaces_the_folder_of_which_it_was_made(tmp_path):
    a, b = folder(tmp_path / "a", {"x": 1.0, "nan": math.nan}), folder(tmp_path / "b", {"x": 1.5, "nan": math.nan})
    assert save(a, tmp_path / "kept.csv") == 4
    assert diff(tmp_path / "kept.csv", a).passed
    result = diff(tmp_path / "kept.csv", b)
    assert not result.passed and str(result) == str(diff(a, b))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="is not a baseline of causeway diff --save"):
        diff(tmp_path / "other.csv", a)


def test_differences_are_a_frame_with_the_largest_first(tmp_path):
    a, b = folder(tmp_path / "a", {"x": 1.0, "y": 1.0}), folder(tmp_path / "b", {"x": 1.0, "y": 2.0, "z": 1.0})
    found = diff(a, b).frame()
    assert found["where"].tolist() == ["s p inline, z", "s p inline, y", "s p inline, x"]
    assert found["only"].tolist() == ["b", "both", "both"]
    assert found["relative"].tolist() == [math.inf, pytest.approx(1 / 3.5), 0]


def test_recorded_series_are_compared_where_one_asks(tmp_path):
    for name, last in (("a", 3.0), ("b", 5.0)):
        folder(tmp_path / name, {"x": 1.0})
        store.write_run(tmp_path / name, {
            "runs": {"run_id": ["v"], "study": ["s"], "point": ["p"], "engine": ["inline"], "seed": [3],
                     "started_at": [""]},
            "vectors": {"vector_id": [0], "module": ["m"], "name": ["size"]},
            "samples": {"vector_id": [0, 0], "time_raw": [1, 2], "time_exp": [0, 0], "value": [1.0, last]},
        })  # fmt: skip
    assert diff(tmp_path / "a", tmp_path / "b").passed
    result = diff(tmp_path / "a", tmp_path / "b", vectors=True)
    assert result.worst is not None and result.worst.where == "s p inline, size (mean) of m"
    assert (result.worst.a, result.worst.b) == (2, 3)
    assert len(result.compared) == 4


@pytest.mark.parametrize(
    ("a", "b", "relative"),
    [
        (0.0, 0.0, 0), (0.0, 1.0, 1), (1.0, -1.0, 2), (math.nan, 1.0, math.inf), (math.inf, math.inf, 0),
        (1.0, math.inf, math.inf),
    ],
)  # fmt: skip
def test_relative_difference(a, b, relative):
    assert Difference("", a, b).relative == relative


def with_seeds(path, values: dict[int, float]):
    """Write a run for each seed with these values of the scalar x."""
    for seed, value in values.items():
        store.write_run(path, {
            "runs": {
                "run_id": [f"p-{seed}"], "study": ["s"], "point": ["p"], "engine": ["inline"], "seed": [seed],
                "started_at": [""], "wall_s": [1.0],
            },
            "scalars": {"module": ["run"], "name": ["x"], "value": [value]},
        })  # fmt: skip
    return path


def test_a_change_over_common_seeds_has_the_interval_of_the_differences(tmp_path):
    """Seeds differ by hundreds, and the two variants by about 1.5 at each seed, which pairs show and means do not."""
    a = with_seeds(tmp_path / "a", {1: 100.0, 2: 300.0, 3: 800.0, 9: 5.0})
    b = with_seeds(tmp_path / "b", {1: 101.0, 2: 301.5, 3: 802.0, 7: 9.0})
    (one,) = diff(a, b, 0.0).compared
    assert (one.pairs, one.change) == (3, 1.5)
    half = 4.302652729911275 * 0.5 / math.sqrt(3)  # t of 2 degrees of freedom; differences 1, 1.5, 2
    assert (one.low, one.high) == pytest.approx((1.5 - half, 1.5 + half))
    assert "B - A over 3 common seeds: 1.5 (0.257931 to 2.74207)" in str(one)
    assert diff(a, b).frame()[["change", "pairs"]].to_numpy().tolist() == [[1.5, 3]]


def test_a_baseline_keeps_seeds_and_an_older_one_has_no_pairs(tmp_path):
    a = with_seeds(tmp_path / "a", {1: 100.0, 2: 300.0})
    b = with_seeds(tmp_path / "b", {1: 101.0, 2: 302.0})
    save(a, tmp_path / "kept.csv")
    assert diff(tmp_path / "kept.csv", b).compared == diff(a, b).compared
    kept = pd.read_csv(tmp_path / "kept.csv").drop(columns="seed")
    kept.to_csv(tmp_path / "older.csv", index=False)
    (one,) = diff(tmp_path / "older.csv", b).compared
    assert one.pairs == 0 and "common seeds" not in str(one)


def test_a_seed_that_a_folder_has_several_runs_of_makes_no_pair(tmp_path):
    a, b = (with_seeds(tmp_path / name, {1: 1.0, 2: 2.0}) for name in "ab")
    folder(a, {"x": 5.0}, engine="omnet")
    with_omnet = folder(tmp_path / "c", {"x": 5.0}, engine="ns3")
    assert diff(a, b).compared[0].pairs == 2, "engines of one name are compared"
    assert diff(a, with_omnet).compared[0].pairs == 0, "two engines' runs of a seed against one's"


def test_each_code_of_a_mixed_folder_is_compared_with_itself(tmp_path):
    """Means over both codes would be equal here: one code has 1 and 3, the other 3 and 1."""
    for name, values in {"a": {"old": 1.0, "new": 3.0}, "b": {"old": 3.0, "new": 1.0}}.items():
        for code, value in values.items():
            store.write_run(tmp_path / name, {
                "runs": {
                    "run_id": [f"p-{code}"], "study": ["s"], "point": ["p"], "engine": ["inline"], "seed": [1],
                    "started_at": [""], "wall_s": [1.0], "code": [code], "study_code": [code],
                },
                "scalars": {"module": ["run"], "name": ["x"], "value": [value]},
            })  # fmt: skip
    result = diff(tmp_path / "a", tmp_path / "b")
    assert [(one.where, one.a, one.b) for one in result.compared] == [
        ("s p inline @new, x", 3.0, 1.0), ("s p inline @old, x", 1.0, 3.0),
    ]  # fmt: skip
    assert not result.passed
