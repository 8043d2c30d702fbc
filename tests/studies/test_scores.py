"""Published numbers are scored by the rule of the report, and no number is left out."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from causeway.analysis import published
from causeway.analysis.report.verdict import same_digits
from causeway.studies import registry, scores, tables
from causeway.studies.scores import KINDS, Reading, Tried, judge, tried, worst
from causeway.studies.tables import Measured, with_interval


def row(published: float | None = None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    relation = "=" if published is not None else "to" if low is not None and high is not None else "<"
    return {"relation": relation, "published": published, "low": low, "high": high}


@pytest.mark.parametrize(
    ("said", "values", "kind"),
    [
        (row(8.7), [8.7] * 5, "exact"), (row(8.7), [8.72] * 5, "exact"), (row(8.7), [8.76] * 5, "near"),
        (row(100.0), [98.0, 99.0, 100.0, 102.0, 103.0], "inside"), (row(100.0), [105.0, 106.0] * 3, "near"),
        (row(100.0), [40.0, 41.0] * 3, "off"), (row(100.0), [99.0, 101.0], "too few seeds"),
        (row(100.0), [10.0, 20.0, 100.0, 300.0, 70.0], "too few seeds"), (row(0.0), [0.0] * 5, "exact"),
        (row(low=0.1, high=0.3), [0.2] * 5, "inside"), (row(low=0.1, high=0.3), [0.01, 0.011] * 3, "off"),
        (row(high=5.0), [1.0, 4.0] * 3, "inside"),
    ],
)  # fmt: skip
def test_a_number_is_in_one_class(said: dict[str, Any], values: list[float], kind: str) -> None:
    found = judge(said, values)
    assert found.kind == kind and kind in KINDS


def test_a_loss_keeps_its_factor_also_where_there_are_too_few_seeds() -> None:
    found = judge(row(100.0), [40.0, 41.0])
    assert found.kind == "too few seeds" and found.factor == pytest.approx(0.405)


def test_the_worst_is_the_factor_furthest_from_one_on_either_side() -> None:
    found = [judge(row(100.0), [value, value + 0.1] * 3) for value in (300.0, 20.0, 90.5)]
    assert worst(found) == "×0.201" and worst(found[2:]) == ""


def test_equal_is_equal_in_the_digits_that_are_printed() -> None:
    assert same_digits(17.64, 17.6) and not same_digits(17.66, 17.6) and same_digits(8064.4, 8064.0)
    assert same_digits(35.2, 35.0) and not same_digits(35.2, 35.0, 1), "the paper prints 35.0"


def test_a_number_that_is_printed_with_a_zero_at_the_end_keeps_it() -> None:
    study = registry.get("ladc18")
    path = study.published_file()
    assert path is not None
    rows = [one for one in published.read(path) if one["scalar"] == "latency" and one["published"] is not None]
    assert {one["decimals"] for one in rows} == {1}
    assert judge({**row(35.0), "decimals": 1, "drawn": False}, [35.2] * 5).kind == "near"


def test_an_interval_wider_than_the_mean_means_too_few_seeds() -> None:
    assert with_interval([1.0, 5.0]) == "too few seeds" and with_interval([1.0]) == "1"


ANY: dict[str, Any] = {
    **row(232.0), "where": "Table 1", "quantity": "packets", "condition": "16 nodes, aggregation", "scalar": "packets",
    "parameters": {"nodes": 16},
}  # fmt: skip


def of_two_points() -> tuple[Measured, ModuleType]:
    study, module = registry.get("icpp18"), ModuleType("made_up")
    rows = tuple(
        {"engine": "inline", "seed": seed, "parameters": study.Params(nodes=16).model_dump(), "packets": 232.0}
        for seed in range(5)
    )
    module.__dict__.update(
        READINGS=(Reading("text", lambda _: None), Reading("ours", dict)),
        TRIED=(Tried("Table 1", ("table1",), across=("nodes",), elsewhere=28),),
        PAIRED={},
        IMPOSSIBLE={},
        is_number=lambda row: row["scalar"] == "packets",
        is_drawn=lambda _: True,
        is_fitted=lambda row, _: "16" in row["condition"],
    )
    return Measured(study, rows), module


def test_a_number_that_chose_a_parameter_is_fitted_and_one_that_was_not_run_is_missing() -> None:
    measured, module = of_two_points()
    kinds = {one["condition"]: scores.score(measured, module, one, module.READINGS[1]).kind
             for one in scores.numbers(measured, module)}  # fmt: skip
    assert kinds["16 nodes, aggregation"] == "fitted" and kinds["32 nodes, aggregation"] == "missing"
    lines = scores.overview([(measured, module)])
    assert "| 1 |" in lines[2] and lines[2].count("|") == len(KINDS) + 5


def test_readings_that_were_tried_are_counted_from_the_sweep() -> None:
    measured, module = of_two_points()
    assert tried(module)(measured)[2] == "| Table 1 | 2 | 1 | 5 | 28 | `--sweep table1` |"


def test_the_overviews_say_how_many_seeds_and_readings_there_are_and_what_is_furthest_off() -> None:
    measured, module = of_two_points()
    module.__dict__["is_fitted"] = lambda row, _: False
    three = tuple({**row, "packets": 100.0 + row["seed"] / 100} for row in measured.rows[:3])
    few, enough = Measured(measured.study, three), Measured(measured.study, tuple(
        {**row, "packets": 500.0 + row["seed"]} for row in measured.rows
    ))  # fmt: skip
    assert scores.overview([(few, module)])[2].endswith("| 3 |")
    assert scores.overview([(enough, module)])[2].endswith("| 5 |")
    assert "×2.16: packets; 16 nodes, aggregation" in scores.overview([(enough, module)])[2]
    assert scores.short_overview([(enough, module)])[2].endswith("| 5 | 2 + 28 |")
    assert [line.split(" | ")[1] for line in scores.all_readings([(enough, module)])[2:]] == ["text", "ours"]
    assert scores.all_tried([(enough, module)])[2].startswith("| [icpp18](icpp18.md) | Table 1 | 2 | 1 |")


def test_the_overview_tells_bounds_that_hold_from_numbers_inside_an_interval() -> None:
    measured, module = of_two_points()
    module.__dict__["is_fitted"] = lambda row, _: False
    bound = {**ANY, "relation": "<", "high": 300.0}
    for rows, cell in (([ANY, bound], "| 1 | 1 (a bound) |"), ([bound, bound], "| | 2 (2 bounds) |")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scores, "numbers", lambda *_, rows=rows: rows)
            assert cell in scores.overview([(measured, module)])[2]


def test_numbers_that_should_be_zero_and_are_not_are_named_beside_the_worst_factor() -> None:
    zero, other = judge(row(0.0), [-1.6, -1.7] * 3), judge(row(100.0), [300.0, 301.0] * 3)
    assert zero.text.endswith("not 0") and worst([zero]) == "1 not 0"
    assert worst([zero, other, zero]) == "×3, 2 not 0"


def test_a_formula_may_have_a_parameter() -> None:
    measured, _ = of_two_points()
    assert measured.values("100*packets/(nodes*(nodes-1))") == [pytest.approx(96.67, abs=0.01)] * 5


@pytest.mark.parametrize("name", list(registry.STUDIES))
def test_every_study_has_scores_under_three_readings_and_lists_the_readings_tried(name: str) -> None:
    module = tables.module_of(registry.get(name))
    assert len(module.READINGS) == 3 and module.TRIED
    assert {"scores", "tried"} <= module.TABLES.keys()


def test_what_walking_adds_is_the_difference_of_runs_with_the_same_seed() -> None:
    study = registry.get("mobile20")
    module = tables.module_of(study)
    paired = "delivery delay, walking more than standing (s)"
    row = next(one for one in scores.numbers(Measured(study, ()), module) if one["quantity"] == paired)
    standing = study.Params(rate=25.0).model_dump()
    walking = study.Params(**row["parameters"]).model_dump()
    rows = tuple(
        {"engine": "omnet", "seed": seed, "parameters": point, "delivery_delay_s": 0.2 + seed + more}
        for point, more, seeds in ((standing, 0.0, 3), (walking, 0.05, 5))
        for seed in range(seeds)
    )
    values = module.PAIRED[paired](Measured(study, rows), row)
    assert values == pytest.approx([0.05] * 3), "two of the five have no run to compare with"


def test_the_load_from_which_a_cell_is_unstable_is_the_smallest_that_leaves_messages_missing() -> None:
    study = registry.get("mobile20")
    module = tables.module_of(study)
    paired = "messages sent at once from which a cell is unstable"
    row = next(one for one in scores.numbers(Measured(study, ()), module) if one["quantity"] == paired)
    rows = tuple(
        {
            "engine": "omnet", "seed": seed, "missing": missing, "sbuffer_station_max": pending,
            "parameters": study.Params(**point).model_dump(),
        }
        for point, missing, pending in zip(
            study.sweeps["instability"], (0.0, 0.0, 9.0, 9.0), (100.0, 200.0, 450.0, 700.0), strict=True
        )
        for seed in (1, 2)
    )  # fmt: skip
    assert module.PAIRED[paired](Measured(study, rows), row) == [450.0, 450.0]
    assert module.PAIRED[paired](Measured(study, ()), row) == []
