"""Rare violations from runs of exact clocks: the probability, what is counted, and that plain simulation agrees."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from causeway.pycontrol.protocol import BROADCAST, DELIVER, HELD
from causeway.studies.dcs23 import rare
from causeway.studies.runner import Job, run_job


@pytest.mark.parametrize(("size", "increments", "others"), [(4, 1, 2), (4, 2, 1), (4, 2, 2), (5, 2, 3), (5, 3, 2)])
def test_the_probability_of_being_covered_is_that_of_all_ways_to_draw_the_entries(size, increments, others):
    sets = [set(s) for s in itertools.combinations(range(size), increments)]
    wanted = sets[0]
    hits = [wanted <= set().union(*drawn) for drawn in itertools.product(sets, repeat=others)]
    assert rare.covered(size, increments, np.array([others]))[0] == pytest.approx(np.mean(hits), abs=1e-12)


def test_without_other_processes_nothing_is_covered():
    assert rare.covered(50, 2, np.array([0]))[0] == 0


def waits(rows):
    """Return the counts when three processes observe these rows of (op, node, message)."""
    watch = rare.Exposed(3)
    op, node, message = (np.array(c) for c in zip(*rows, strict=True))
    watch.observe(op, None, node, message)
    return watch.scalars()


SENT = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0), (BROADCAST, 1, 1), (DELIVER, 1, 1)]
"""Message 1 depends on message 0."""
LATE = [(DELIVER, 2, 0), (DELIVER, 2, 1)]


def test_a_wait_without_other_deliveries_cannot_be_covered():
    assert waits([*SENT, (HELD, 2, 1), *LATE]) == {"exposed_0": 1.0, "exposed_several": 0.0}


def test_messages_that_only_the_receiver_delivered_may_cover_the_missing_one_until_it_arrives():
    own = [(BROADCAST, 2, 2), (DELIVER, 2, 2)]
    assert waits([*SENT, *own, (HELD, 2, 1), *LATE])["exposed_1"] == 1
    assert waits([*SENT, (HELD, 2, 1), *own, *LATE])["exposed_1"] == 1
    assert waits([*SENT, (HELD, 2, 1), *LATE, *own])["exposed_0"] == 1


def test_two_messages_of_one_process_cover_no_more_than_one():
    own = [(BROADCAST, 2, 2), (DELIVER, 2, 2), (BROADCAST, 2, 3), (DELIVER, 2, 3)]
    assert waits([*SENT, *own, (HELD, 2, 1), *LATE])["exposed_1"] == 1


def test_a_message_that_waits_behind_another_lacks_only_what_has_not_come():
    again = [(BROADCAST, 1, 2), (DELIVER, 1, 2), (HELD, 2, 1), (HELD, 2, 2), *LATE, (DELIVER, 2, 2)]
    assert waits([*SENT, *again]) == {"exposed_0": 2.0, "exposed_several": 0.0}


def test_two_messages_on_their_way_are_not_covered_at_once():
    rows = [*SENT, (HELD, 2, 1), *LATE]
    two = [(BROADCAST, 1, 2), (DELIVER, 1, 2), (DELIVER, 0, 1), (DELIVER, 0, 2), (BROADCAST, 0, 3), (DELIVER, 0, 3)]
    held = [*SENT, *two, (HELD, 2, 3), (HELD, 2, 2), (HELD, 2, 1), (DELIVER, 2, 0), (DELIVER, 2, 1)]
    assert waits(rows)["exposed_several"] == 0
    assert waits([*held, (DELIVER, 2, 2), (DELIVER, 2, 3)])["exposed_several"] == 0
    late = [*SENT, *two, (HELD, 2, 3), (DELIVER, 2, 0), (DELIVER, 2, 1), (DELIVER, 2, 2), (DELIVER, 2, 3)]
    assert waits(late)["exposed_0"] == 1  # when only message 2 is missing


POINT = {"load": "constant", "rate": 100.0, "processes": 100, "messages": 4000}
SEEDS = range(1, 13)


@pytest.fixture(scope="module")
def exact():
    """Waits and deliveries of runs of exact clocks."""
    waits, deliveries = np.zeros(rare.MOST + 1), 0.0
    for seed in SEEDS:
        found = run_job(Job("dcs23", {**POINT, "clock": "vector"}, seed, "inline")).scalars
        assert found["violations"] == 0
        for name, count in found.items():
            if name.removeprefix("exposed_").isdigit():
                waits[int(name.removeprefix("exposed_"))] += count
        deliveries += found["deliveries"]
    return waits, deliveries


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 60])
def test_plain_simulation_has_the_errors_that_exact_runs_foretell(exact, size):
    """Violations come in clusters, so the interval is over runs: four standard errors of their mean."""
    plain = [run_job(Job("dcs23", {**POINT, "entries": size}, seed, "inline")).scalars for seed in SEEDS]
    errors = np.array([run["violations"] / run["deliveries"] for run in plain])
    standard_error = errors.std(ddof=1) / np.sqrt(len(errors))
    assert standard_error < errors.mean() / 4  # else the test could not fail
    assert abs(rare.error(*exact, size) - errors.mean()) < 4 * standard_error


def test_the_size_for_an_error_has_that_error(exact):
    for target in (1e-4, 1e-6):
        assert rare.error(*exact, rare.size_for(*exact, target)) == pytest.approx(target, rel=1e-6)


def test_sizes_are_one_row_a_load_and_target_with_an_interval_around_it(exact):
    waits, deliveries = exact
    row = {f"exposed_{d}": n for d, n in enumerate(waits) if n}
    runs = pd.DataFrame([{"rate": 100.0, "deliveries": deliveries, **row}] * 3)
    found = rare.sizes(runs, draws=20)
    assert list(found.target) == list(rare.TARGETS) and set(found.runs) == {3}
    assert np.allclose(found.low, found.entries) and np.allclose(found.high, found.entries)
    assert found.entries.is_monotonic_increasing


def test_too_few_messages_looked_back_on_are_an_error():
    watch = rare.Exposed(2)
    rows = [(BROADCAST, 0, m) for m in range(rare.RECENT + 1)]
    op, node, message = (np.array(c) for c in zip(*rows, strict=True))
    with pytest.raises(Exception, match="exact clocks lag behind"):
        watch.observe(op, None, node, message)
