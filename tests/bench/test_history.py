"""The bench's history: a figure is called worse only if the change exceeds its variation."""

from __future__ import annotations

from pathlib import Path

from bench.history import LEAST_NOISE, UNKNOWN_NOISE, compare, earlier, remember

STEADY = [{"ratio": value} for value in (1.50, 1.51, 1.49)]
JUMPY = [{"ratio": value} for value in (1.2, 1.8, 1.5)]
LOWER = {"ratio": "lower"}


def test_a_steady_figure_that_rises_is_worse_and_one_that_falls_is_not() -> None:
    assert compare({"ratio": 1.7}, STEADY, LOWER)[0].worse
    assert not compare({"ratio": 1.3}, STEADY, LOWER)[0].worse
    assert compare({"ratio": 1.3}, STEADY, {"ratio": "higher"})[0].worse


def test_a_jumpy_figure_must_move_further() -> None:
    assert not compare({"ratio": 1.7}, JUMPY, LOWER)[0].worse
    assert compare({"ratio": 1.5 * 1.5}, JUMPY, LOWER)[0].worse


def test_with_one_earlier_figure_no_verdict_is_possible() -> None:
    change = compare({"ratio": 1.5 * (1 + UNKNOWN_NOISE - 0.01)}, STEADY[:1], LOWER)[0]
    assert not change.worse
    assert change.noise == UNKNOWN_NOISE > LEAST_NOISE


def test_only_figures_that_are_named_and_were_there_before_are_compared() -> None:
    assert compare({"ratio": 9.0, "wall_s": 9.0}, [{"wall_s": 1.0}], LOWER) == []


def test_the_history_is_of_one_bench_on_one_machine(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    remember(path, "inet", "here", {"ratio": 1.5, "why": "text"})
    remember(path, "inet", "there", {"ratio": 2.5})
    remember(path, "ns3", "here", {"ratio": 3.5})
    assert earlier(path, "inet", "here") == [{"ratio": 1.5}]
