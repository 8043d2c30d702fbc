"""The study dcs23: its loads, its sizings, the reduction of Figure 5, and the same digests on OMNeT++."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from causeway.bridge import engines
from causeway.errors import UserError
from causeway.pycontrol.protocols.dcs.policies import formula, measured, table
from causeway.pycontrol.protocols.dcs.policies.base import STAY, View
from causeway.pycontrol.protocols.dcs.policies.program import Program
from causeway.pycontrol.protocols.dcs.policies.scripted import Move, Scripted
from causeway.studies.dcs23 import loads, sizes
from causeway.studies.dcs23.factors import factors
from causeway.studies.dcs23.study import AUTHORS, PROGRAM, SCRIPT, SHAPES, Dcs23Params, Dcs23Study, segments
from causeway.studies.parameters import make_params
from causeway.studies.runner import Job, run_job

SMALL = {"processes": 30, "duration_s": 12.0, "rate": 60.0, "low_rate": 2.0, "component_size": 10, "target_error": 1e-4}
POINTS = {
    "bell": SMALL,
    "random": {**SMALL, "load": "random", "duration_s": 130.0, "rate": 30.0, "target_error": 1e-5},
    "messages": {**SMALL, "load": "constant", "messages": 300},
    "skewed": {**SMALL, "load": "skewed", "components": 4, "skewed_from_s": 4.0, "balance_every_s": 4.0},
    "plain": {**SMALL, "entries": 40},
    "bells": {**SMALL, **AUTHORS, "load": "bells", "duration_s": 40.0, "low_rate": 0.0},
    "triangles": {**SMALL, **AUTHORS, "load": "triangles", "duration_s": 20.0, "policy": "table", "rate": 200.0},
    "peaks": {**SMALL, **AUTHORS, "load": "peaks", "duration_s": 40.0},
    "climbs": {**SMALL, **AUTHORS, **PROGRAM, "load": "climbs", "duration_s": 60.0},
    "plateaus": {**SMALL, **AUTHORS, **PROGRAM, "load": "plateaus", "duration_s": 60.0, "remove_at_once": True},
    "scripted": {
        **SMALL,
        "load": "constant",
        "rate": 10.0,
        "components": 4,
        "duration_s": 100.0,
        "balance": "scripted",
    },
}


@pytest.mark.parametrize("point", POINTS)
def test_every_load_delivers_everything(point):
    found = run_job(Job("dcs23", POINTS[point], 1, "inline")).scalars
    assert found["messages"] > 100
    assert found["deliveries"] == found["messages"] * 30
    assert found["undelivered"] == found["missing"] == 0
    assert found["entries_mean"] <= found["entries_max"]


@pytest.mark.omnet
@pytest.mark.parametrize("point", POINTS)
def test_runs_with_rounds_have_the_same_digest_on_omnet(point):
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    inline, omnet = (run_job(Job("dcs23", POINTS[point], 3, engine)) for engine in ("inline", "omnet"))
    if point in ("bell", "random"):
        assert inline.scalars["rounds"] > inline.scalars["rounds_refused"]
    assert inline.outcome.digest == omnet.outcome.digest


def test_violations_over_time_add_up():
    result = run_job(Job("dcs23", {**POINTS["plain"], "entries": 8}, 1, "inline"))
    assert sum(result.outcome.samples["checker", "violations"][1]) == result.scalars["violations"] > 0


def rates(segments):
    return np.array([s.rate_per_s for s in segments])


def test_the_bell_goes_from_low_to_high_and_back():
    r = rates(loads.bell(10, 200, 60))
    assert r[-1] == 0 and len(r) == 61
    assert abs(r[29:31].max() - 200) < 1
    assert r[0] < 13 and r[59] < 13
    assert np.allclose(r[:30], r[59:29:-1])


@pytest.mark.parametrize("pattern", range(5))
def test_the_random_load_has_three_peaks(pattern):
    r = rates(loads.random(10, 200, 240, pattern))[:-1]
    high = r > 0.5 * 200
    assert (np.diff(high.astype(int)) == 1).sum() == 3
    assert r.min() >= 9 and 190 < r.max() <= 200
    assert np.median(r) < 80


def test_the_authors_loads_have_their_peaks_and_lengths():
    shapes = {name: Dcs23Params(**point) for name, point in SHAPES.items()}
    r = {name: rates(segments(params))[:-1] for name, params in shapes.items()}
    lengths = {"bells": 850, "triangles": 300, "peaks": 300, "plateaus": 850, "climbs": 850}
    assert {name: len(v) for name, v in r.items()} == lengths
    assert all(abs(r["bells"][middle - 1 : middle + 1] - 200).max() < 1 for middle in (175, 475, 675, 800))
    assert (
        abs(r["bells"][175 + 40] / 200 - np.exp(-0.5)) < 0.02 and abs(r["bells"][800 + 15] / 200 - np.exp(-0.5)) < 0.04
    )
    assert r["bells"].mean() == pytest.approx(200 * np.sqrt(2 * np.pi) * (40 + 30 + 20 + 15) / 850, rel=0.01)
    assert (np.diff((r["triangles"] > 150).astype(int)) == 1).sum() == 4 and r["triangles"].min() >= 20
    assert r["triangles"][[49, 142, 219, 282]].min() > 210 and r["triangles"].max() <= 220
    high = r["peaks"] > 90
    assert (np.diff(high.astype(int)) == 1).sum() == 3 and r["peaks"].max() <= 200
    assert r["peaks"][:60].max() <= 30 and r["peaks"][260:].max() <= 50


def test_a_shape_may_be_stretched():
    slow, fast = (rates(loads.bells(0, 200, seconds))[:-1] for seconds in (850, 425))
    assert len(fast) == 425 and np.allclose((slow[::2] + slow[1::2]) / 2, fast, atol=1.5)


def test_senders_in_turn_follow_the_load_and_one_another():
    script = loads.in_turn(loads.bell(10, 200, 60), 30, 0)
    assert script.node.tolist()[:61] == [*range(30), *range(30), 0]
    sent, _ = np.histogram(script.time_ps / 1e12, np.arange(61))
    assert abs(sent - rates(loads.bell(10, 200, 60))[:-1]).max() <= 1
    assert (
        abs(np.diff(script.time_ps[(script.time_ps > 29e12) & (script.time_ps < 31e12)]) / 1e12 - 1 / 200).max() < 2e-4
    )
    constant = loads.in_turn(loads.constant(50.0), 4, 100)
    assert np.allclose(constant.time_ps / 1e12, np.arange(1, 101) / 50)
    assert len(loads.in_turn((*loads.constant(50.0),), 4, 7).node) == 7


def test_a_skewed_load_of_senders_in_turn_is_refused_in_words():
    with pytest.raises(UserError, match="needs senders=random"):
        make_params(Dcs23Study(), {"load": "skewed", "senders": "turns"})


def test_the_table_is_that_of_the_authors_program():
    """50:50, 66:100, 90:150, 106:200, 130:300, 150:400, 160:500: above so many messages/s, at least so many entries."""
    grown = {50.1: 50, 66.1: 100, 90.1: 150, 106.1: 200, 130.1: 300, 150.1: 400, 160.1: 500, 66: 50, 160: 400, 0: 50}
    assert table.sizing(np.array([*grown], float)).tolist() == [*grown.values()]
    kept = {0: 50, 43.9: 50, 44: 100, 66: 150, 80: 200, 90: 300, 130: 400, 149: 400, 150: 500, 300: 500}
    assert (table.Table(50, 10).enough(np.array([*kept], float)) * 50).tolist() == [*kept.values()]
    load = np.linspace(0, 300, 1000)
    assert (table.Table(50, 10).enough(load) * 50 >= table.sizing(load)).all(), "what grows does not shrink at once"


def a_view(tick, nodes=10, active=4):
    rows = np.arange(nodes, dtype=np.int32)
    some = np.full(nodes, active, np.int32)
    draw = {"increments": lambda: np.zeros((nodes, active)), "draw": lambda: np.zeros(nodes)}
    return View(tick, nodes, rows, np.zeros(nodes), some, some, rows[:, None], some, np.zeros(nodes, bool), **draw)


def at_load(tick, load, active):
    return replace(a_view(tick, active=active), load_per_s=np.full(10, float(load)))


def test_the_program_changes_one_component_at_a_time_and_nothing_within_half_a_second():
    policy = Program(50, 10, tick_ms=100)
    grown = [policy.wish(at_load(tick, 200, active=4 + tick // 5)).grow_to.tolist() for tick in range(11)]
    ticks = [tick for tick, wish in enumerate(grown) if wish != [0] * 10]
    assert ticks == [3, 8], "200 entries are too few above 130 a second in five ticks; the next change is 0.5 s later"
    assert grown[3] == [5] * 10
    assert grown[8] == [6] * 10


def test_the_program_gives_up_a_component_once_a_second_and_only_process_0_starts_rounds():
    policy = Program(50, 10, tick_ms=100)
    wishes = [policy.wish(at_load(tick, 10, active=6)) for tick in range(25)]
    assert [tick for tick, wish in enumerate(wishes) if wish.deactivate.any()] == [9, 19]
    assert wishes[9].deactivate.tolist() == [True] + [False] * 9
    assert wishes[9].assign_below.tolist() == [5] * 10
    assert not any(wish.remove.any() for wish in wishes)


def test_the_clock_shrinks_again_by_the_rules_of_the_program():
    """A peak of 200 a second needs 500 entries; at the end, below 50 a second, one component is left."""
    point = {**SHAPES["peaks"], **PROGRAM, "processes": 20, "duration_s": 100.0}
    found = run_job(Job("dcs23", point, 1, "inline"))
    assert found.scalars["entries_max"] == 500
    assert found.scalars["rounds"] - found.scalars["rounds_refused"] > 15
    assert found.scalars["entries_mean"] < 200
    with pytest.raises(UserError, match="ticks of at most 250 ms"):
        make_params(Dcs23Study(), {"policy": "program", "tick_ms": 500})


def test_the_two_random_loads_have_their_plateaus():
    for make, count in ((loads.plateaus, 4), (loads.climbs, 3)):
        found = np.array([s.rate_per_s for s in make(850, 1)])
        assert len(found) == 851
        assert found[-1] == 0
        assert (found[:-1] >= 150).sum() == count * 50 + (count == 3) * 3, "a climb ends with 150"
        assert found.max() <= 200
        assert found[:-1].min() >= 10


def test_scripted_moves_happen_at_their_tick_to_their_processes():
    policy = Scripted([Move(5, 1, 1.0), Move(7, 4, 0.5)])
    assert (policy.wish(a_view(4)).assign_below == STAY).all()
    assert policy.wish(a_view(5)).assign_below.tolist() == [1] * 10
    assert policy.wish(a_view(7)).assign_below.tolist() == [4] * 5 + [STAY] * 5


def test_figure_10_as_scripted_moves_all_at_50_s_half_at_70_and_all_at_90():
    assert [(at, below, share) for at, below, share in SCRIPT] == [(0, 0, 1), (50, 1, 1), (70, 0, 0.5), (90, 0, 1)]
    params = Dcs23Params(components=4, balance="scripted", tick_ms=150)
    moves = Dcs23Study().protocol(params).policy.moves
    assert [((m.tick + 1) * 0.15, m.below, m.share) for m in moves] == [
        (0.15, 4, 1.0), (pytest.approx(50.1), 1, 1.0), (pytest.approx(70.05), 4, 0.5), (pytest.approx(90.0), 4, 1.0),
    ]  # fmt: skip
    found = run_job(Job("dcs23", POINTS["scripted"], 1, "inline")).scalars
    assert found["assigned"] == 30 + 30 + 15 + 30


def test_the_skewed_load_gives_three_quarters_to_component_0():
    before, after, end = loads.skewed(100, 120, 50, 250, 0.75)
    assert before.hot_share == 0 and end.rate_per_s == 0
    assert after.hot_share + (1 - after.hot_share) * 0.25 == pytest.approx(0.75)


def test_the_formula_policy_solves_the_formula():
    entries_for = formula.sizing(1e-5, 2, 0.1, 3e-5)
    load = np.array([20.0, 100.0, 200.0])
    for rate, entries in zip(load, entries_for(load), strict=True):
        assert rate * 3e-5 * formula.error(entries, rate * 0.1, 2) == pytest.approx(1e-5, rel=1e-6)


def test_early_dependencies_are_as_rare_as_drawn_delays_say():
    d = np.random.default_rng(1).normal(0.1, 0.02, (4, 2_000_000))
    drawn = np.maximum(d[0] - d[1] - d[2], 0).mean() + np.maximum(d[0] - d[3], 0).mean() / 1000
    assert formula.early_s(0.1, 0.02, 1000) == pytest.approx(drawn, rel=0.03)


def test_the_measured_policy_asks_for_more_under_more_load_and_for_fewer_errors():
    load = np.array([10.0, 100.0, 200.0])
    loose, strict = measured.sizing(1e-4)(load), measured.sizing(1e-6)(load)
    assert (np.diff(loose) > 0).all() and (strict > loose).all()
    assert loose[2] > 2 * loose[1], "faster than linearly, as Figure 5 has it"


def made_up_runs(scale=2e-4, load_power=1.5, error_power=-0.5):
    """Runs that follow the power law exactly."""
    rows = []
    for rate in (50.0, 100.0, 200.0):
        for entries in (100.0, 200.0, 400.0):
            error = (entries / (scale * rate**load_power)) ** (1 / error_power)
            rows += [(rate, entries, error * 1e9, 1e9, 100.0)] * 3
    return pd.DataFrame(rows, columns=["rate", "entries", *sizes.COUNTS])


def test_the_reduction_of_figure_5_finds_the_sizes_that_made_the_runs():
    runs = made_up_runs()
    assert sizes.fit(runs) == pytest.approx((2e-4, 1.5, -0.5))
    found = sizes.sizes(runs, [1e-4, 1e-5], draws=20)
    expected = 2e-4 * found.load**1.5 * found.target**-0.5
    assert np.allclose(found.entries, expected)
    assert (found.low <= found.entries + 1e-9).all() and (found.entries - 1e-9 <= found.high).all()


def test_a_load_without_violations_has_no_size():
    runs = made_up_runs().assign(violations=0.0)
    assert np.isnan(sizes.size_for(runs, 1e-5))


def test_factors_are_of_sums_over_seeds_and_their_interval_holds_them():
    rows = [("bell", e, seed, (3 if e else 1) * (10.0 + seed), 100.0) for e in (0, 90) for seed in range(9)]
    runs = pd.DataFrame(rows, columns=["load", "entries", "seed", "violations", "entries_mean"])
    runs["messages_violated"], runs["policy"] = 1.0, "ours"
    found = factors(runs).iloc[0]
    assert (found.fixed, found.seeds, found.entries_mean) == (90, 9, 100)
    assert found.factor == pytest.approx(3) == found.low == found.high, "seeds are drawn together"
    runs.loc[runs.entries == 90, "violations"] = np.arange(9) * 10.0
    found = factors(runs).iloc[0]
    assert found.low < found.factor < found.high


def test_every_policy_is_set_beside_the_fixed_clocks_of_its_load_and_of_no_other():
    rows = [
        ("bell", "ours", 0, 10.0),
        ("bell", "table", 0, 5.0),
        ("bell", "ours", 260, 40.0),
        ("peaks", "table", 0, 7.0),
    ]
    runs = pd.DataFrame(
        [(load, policy, entries, seed, n, 1.0, 200.0) for load, policy, entries, n in rows for seed in range(3)],
        columns=["load", "policy", "entries", "seed", "violations", "messages_violated", "entries_mean"],
    )
    found = factors(runs)
    found = found[found.what == "violations"]
    assert found[["load", "policy", "factor", "seeds"]].to_numpy().tolist() == [
        ["bell", "ours", 4.0, 3],
        ["bell", "table", 8.0, 3],
    ]
