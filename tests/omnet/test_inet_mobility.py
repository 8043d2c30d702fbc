"""Hosts of the INET adapter walk as they should, and STATION events say so."""

from __future__ import annotations

import numpy as np
import pytest

from causeway.network.workload import Faults
from tests.helpers import ns3_probe
from tests.helpers.inet_probe import needs_inet, run
from tests.helpers.wireless_probe import REACH_MM, WALKERS, S, distance_mm, misplaced, network

pytestmark = needs_inet


def test_a_change_of_station_is_reported_as_soon_as_it_is_checked_for():
    """Changes come at multiples of 100 ms, and reports of the position change nothing about them."""
    log, _ = run(network(40, speed_mm_s=20_000), 60)
    often, _ = run(WALKERS, 60)
    changes = {n: [(t, s) for t, s, _, _ in rows] for n, rows in log.places.items()}
    assert all(t % (S // 10) == 0 for rows in changes.values() for t, _ in rows)
    for n, rows in often.places.items():
        assert [(t, s) for i, (t, s, _, _) in enumerate(rows) if i == 0 or rows[i - 1][1] != s] == changes[n]


@pytest.mark.ns3
@pytest.mark.skipif(ns3_probe.ENGINE.missing() is not None, reason=str(ns3_probe.ENGINE.missing()))
def test_hosts_walk_the_same_ways_on_ns3():
    """Same seed, same walks: what differs between the engines is not where hosts are."""
    ours, external = run(WALKERS, 20)[0], ns3_probe.run(WALKERS, 20)[0]
    for n, rows in ours.places.items():
        there = {t: (x, y) for t, _, x, y in external.places[n]}
        assert all(distance_mm((x, y), there[t]) <= 2 for t, _, x, y in rows if t % (S // 2) == 0)


PLACES = ((10_000, 20_000), (150_000, -30_500), (85_000, 100_001))


@pytest.mark.parametrize("speed_mm_s", [0, 20_000])
@pytest.mark.parametrize("probe", [
    pytest.param(run, id="inet"),
    pytest.param(ns3_probe.run, id="ns3", marks=ns3_probe.needs_ns3),
])  # fmt: skip
def test_hosts_start_where_the_network_puts_them(probe, speed_mm_s):
    log, _ = probe(network(3, host_xy_mm=PLACES, speed_mm_s=speed_mm_s, position_every_ps=S // 2), 5)
    assert tuple(log.places[n][0][2:] for n in (3, 4, 5)) == PLACES
    assert all((rows[-1][2:] == rows[0][2:]) == (speed_mm_s == 0) for rows in log.places.values())


@pytest.mark.parametrize("probe", [
    pytest.param(run, id="inet"),
    pytest.param(ns3_probe.run, id="ns3", marks=ns3_probe.needs_ns3),
])  # fmt: skip
def test_positions_are_reported_at_an_interval_that_is_no_multiple_of_the_check_of_stations(probe):
    """INET looks for the nearest station every 100 ms, which 250 ms is no multiple of."""
    log, _ = probe(network(3, host_xy_mm=PLACES, speed_mm_s=20_000, position_every_ps=S // 4), 5)
    for rows in log.places.values():
        assert {k * S // 4 for k in range(20)} <= {t for t, *_ in rows}


@pytest.mark.skipif(ns3_probe.ENGINE.missing() is not None, reason=str(ns3_probe.ENGINE.missing()))
def test_hosts_with_a_given_start_walk_the_same_ways_on_ns3():
    walkers = network(3, host_xy_mm=PLACES, speed_mm_s=20_000, position_every_ps=S // 2)
    ours, external = run(walkers, 20)[0], ns3_probe.run(walkers, 20)[0]
    for n, rows in ours.places.items():
        there = {t: (x, y) for t, _, x, y in external.places[n]}
        assert all(distance_mm((x, y), there[t]) <= 2 for t, _, x, y in rows if t % (S // 2) == 0)


def test_hosts_stand_where_they_started_if_they_do_not_walk():
    log, outcome = run(network(40), 60)
    assert [len(rows) for rows in log.places.values()] == [1] * 40
    assert len({rows[0][2:] for rows in log.places.values()}) == 40
    assert outcome.finish.events < 5000, "a network in which nothing happens must cost nothing"


def test_a_failed_host_stands_still_and_sends_nothing():
    hosts = range(3, 43)
    down, up = 10 * S, 30 * S
    faults = Faults(
        np.repeat([down, up], 40), np.array([*hosts, *hosts], np.int32), np.repeat([0, 1], 40).astype(np.uint8)
    )
    log, _ = run(network(40, speed_mm_s=20_000, position_every_ps=S // 10, faults=faults), 32)
    for rows in log.places.values():
        before, after = [r for r in rows if r[0] < up], [r for r in rows if r[0] >= up]
        assert before[-1][0] < down
        assert distance_mm(before[-1][2:], after[0][2:]) <= 2 * 20_000 // 10
        assert after[-1][2:] != after[0][2:]


def test_hosts_that_may_leave_the_cells_leave_them():
    log, _ = run(network(40, speed_mm_s=20_000, covered_only=False), 60)
    assert misplaced(log, REACH_MM) == []
    assert any(station == -1 for rows in log.places.values() for _, station, _, _ in rows)
