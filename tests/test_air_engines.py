"""What every packet-level engine must do with the mobile network: INET and ns-3 alike."""

from __future__ import annotations

from itertools import pairwise

import inet_probe
import ns3_probe
import pytest
from air_probe import BUSY, WALKERS, Flood, S, distance_mm, misplaced


@pytest.fixture(
    params=[
        pytest.param(inet_probe.run, id="inet", marks=inet_probe.needs_inet),
        pytest.param(ns3_probe.run, id="ns3", marks=ns3_probe.needs_ns3),
    ]
)
def run(request):
    """Runs a probe on the engine."""
    return request.param


def test_the_same_seed_gives_the_same_run_and_another_seed_another(run):
    first, again, other = (run(BUSY, 2, Flood, seed)[1] for seed in (1, 1, 2))
    assert first.digest == again.digest
    assert first.finish == again.finish
    assert first.digest != other.digest


@pytest.mark.parametrize("cap", [1, 16])
def test_the_outcome_does_not_depend_on_how_events_are_batched(run, cap):
    whole, batched = run(BUSY, 2, Flood)[1], run(BUSY, 2, Flood, cap=cap)[1]
    assert batched.windows > whole.windows
    assert batched.digest == whole.digest
    assert batched.finish == whole.finish


def test_station_events_name_the_nearest_station_in_reach(run):
    log, _ = run(WALKERS, 60)
    assert misplaced(log) == []
    assert sum(a[1] != b[1] for rows in log.places.values() for a, b in pairwise(rows)) > 100
    assert misplaced(log, reach_mm=100_000), "the check must notice another reach"


def test_hosts_walk_at_their_speed_and_stay_where_a_cell_covers_them(run):
    log, _ = run(WALKERS, 60)
    for rows in log.places.values():
        assert all(station >= 0 for _, station, _, _ in rows)
        steps = [(b[0] - a[0], distance_mm(a[2:], b[2:])) for a, b in pairwise(rows)]
        assert all(way <= 20_000 * dt / S + 2 for dt, way in steps)
        assert sum(way for _, way in steps) > 0.8 * 20_000 * 59  # corners shorten the sum of the chords a little
