"""Hosts of the ns-3 adapter walk as they should, and STATION events say so."""

from __future__ import annotations

import numpy as np

from causeway.network.workload import Faults
from tests.helpers.ns3_probe import needs_ns3, run
from tests.helpers.wireless_probe import WALKERS, S, distance_mm, misplaced, network

pytestmark = needs_ns3


def test_every_change_of_station_is_reported():
    """Between two reports that name the same station, the straight way never leads nearer to another one."""
    log, _ = run(network(40, speed_mm_s=20_000), 60)
    quiet, _ = run(WALKERS, 60)
    changes = {n: [(t, s) for t, s, _, _ in rows] for n, rows in log.places.items()}
    for n, rows in quiet.places.items():
        seen = [(t, s) for i, (t, s, _, _) in enumerate(rows) if i == 0 or rows[i - 1][1] != s]
        assert seen == changes[n]


def test_a_failed_host_stands_still_and_sends_nothing():
    hosts = range(3, 43)
    down, up = 10 * S, 30 * S
    faults = Faults(
        np.repeat([down, up], 40), np.array([*hosts, *hosts], np.int32), np.repeat([0, 1], 40).astype(np.uint8)
    )
    net = network(40, speed_mm_s=20_000, position_every_ps=S // 100, faults=faults)
    log, _ = run(net, 31)
    for rows in log.places.values():
        before, after = [r for r in rows if r[0] < up], [r for r in rows if r[0] >= up]
        assert before[-1][0] < down
        assert distance_mm(before[-1][2:], after[0][2:]) <= 2 * 20_000 // 100
        assert after[-1][2:] != after[0][2:]


def test_hosts_that_may_leave_the_cells_leave_them():
    log, _ = run(network(40, speed_mm_s=20_000, covered_only=False), 60)
    assert misplaced(log) == []
    assert any(station == -1 for rows in log.places.values() for _, station, _, _ in rows)
