"""Two result folders side by side."""

import math

import pytest

from causeway.analysis import store
from causeway.analysis.diff import Difference, diff


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


@pytest.mark.parametrize(
    ("a", "b", "relative"),
    [
        (0.0, 0.0, 0), (0.0, 1.0, 1), (1.0, -1.0, 2), (math.nan, 1.0, math.inf), (math.inf, math.inf, 0),
        (1.0, math.inf, math.inf),
    ],
)  # fmt: skip
def test_relative_difference(a, b, relative):
    assert Difference("", a, b).relative == relative
