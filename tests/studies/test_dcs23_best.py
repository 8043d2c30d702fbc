"""The most that any policy could gain under a load, and what runs of exact clocks say about components."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from causeway.studies.dcs23 import best, rare

FLAT = {100.0: (np.array([0, 0, 0, 0, 40.0]), 1e6), 200.0: (np.array([0] * 9 + [160.0]), 2e6)}
"""Waits by others, and deliveries, of two loads."""


def test_errors_of_components_are_those_of_all_ways_to_draw_component_and_entries():
    own = [(c, set(s)) for c in range(2) for s in itertools.combinations(range(3), 2)]
    component, wanted = own[0]
    hits = [
        wanted <= set().union(*(entries for c, entries in drawn if c == component))
        for drawn in itertools.product(own, repeat=3)
    ]
    waits = np.array([0, 0, 0, 1.0])
    found = rare.error_of_components(waits, 1.0, components=2, size=3)
    assert found == pytest.approx(np.mean(hits), abs=1e-12)


def test_one_component_is_a_fixed_clock_of_its_size():
    waits, deliveries = FLAT[200.0]
    one = rare.error_of_components(waits, deliveries, components=1, size=50)
    assert one == pytest.approx(rare.error(waits, deliveries, 50))


def test_others_spread_evenly_over_components_cover_less_than_others_drawn():
    waits = np.zeros(21)
    waits[20] = 1
    drawn, even = (rare.error_of_components(waits, 1.0, 10, by_number=by_number) for by_number in (False, True))
    assert even == pytest.approx(rare.covered(50, 2, np.array([2]))[0]) and even < 0.9 * drawn
    waits = np.array([0, 0, 0, 1.0])  # three others in two components: one or two in each
    half = (rare.covered(50, 2, np.array([1]))[0] + rare.covered(50, 2, np.array([2]))[0]) / 2
    assert rare.error_of_components(waits, 1.0, 2, by_number=True) == pytest.approx(half)


def test_between_two_loads_errors_are_a_power_of_the_load():
    errors = best.interpolated(FLAT, rare.error)
    low, middle, high = errors(np.array([100.0, np.sqrt(100 * 200), 200.0]), np.full(3, 60.0))
    assert low == pytest.approx(rare.error(*FLAT[100.0], 60)) and high == pytest.approx(rare.error(*FLAT[200.0], 60))
    assert middle == pytest.approx(np.sqrt(low * high))


def test_no_other_sizes_of_the_same_mean_have_fewer_violations():
    load, sets = np.array([100.0, 150.0, 200.0]), best.interpolated(FLAT, rare.error_of_components)
    found = best.best(load, 150.0, sets)
    assert found.sum() == 9
    violations = {
        sizes: (load * sets(load, np.array(sizes, float))).sum()
        for sizes in itertools.product(range(1, 8), repeat=3)
        if sum(sizes) == 9
    }
    assert violations[tuple(found)] == pytest.approx(min(violations.values()))


def test_under_a_constant_load_nothing_can_be_gained():
    load = np.full(10, 200.0)
    fixed, sets = (best.interpolated(FLAT, how) for how in (rare.error, rare.error_of_components))
    sizes = best.best(load, 200.0, sets)
    assert set(sizes) == {4}
    assert best.factor(load, sizes, sets, fixed, 200.0) < 1  # components collide
