"""The study dcs23: its loads, its sizings, the reduction of Figure 5, and the same digests on OMNeT++."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causeway.bridge import engines
from causeway.pycontrol.protocols.dcs.policies import formula, measured
from causeway.studies.dcs23 import loads, sizes
from causeway.studies.dcs23.factors import factors
from causeway.studies.runner import Job, run_job

SMALL = {"processes": 30, "duration_s": 12.0, "rate": 60.0, "low_rate": 2.0, "component_size": 10, "target_error": 1e-4}
POINTS = {
    "bell": SMALL,
    "random": {**SMALL, "load": "random", "duration_s": 130.0, "rate": 30.0, "target_error": 1e-5},
    "messages": {**SMALL, "load": "constant", "messages": 300},
    "skewed": {**SMALL, "load": "skewed", "components": 4, "skewed_from_s": 4.0, "balance_every_s": 4.0},
    "plain": {**SMALL, "entries": 40},
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
    runs["messages_violated"] = 1.0
    found = factors(runs).iloc[0]
    assert (found.fixed, found.seeds, found.entries_mean) == (90, 9, 100)
    assert found.factor == pytest.approx(3) == found.low == found.high, "seeds are drawn together"
    runs.loc[runs.entries == 90, "violations"] = np.arange(9) * 10.0
    found = factors(runs).iloc[0]
    assert found.low < found.factor < found.high
