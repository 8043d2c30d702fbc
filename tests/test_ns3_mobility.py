"""Hosts of the ns-3 edge walk as they should, and STATION events say so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from ns3_probe import REACH_MM, STATIONS, Log, S, distance_mm, needs_ns3, network, run

from bridge.workload import Faults

pytestmark = needs_ns3


def misplaced(log: Log, reach_mm: int = REACH_MM) -> list[str]:
    """STATION events that the geometry does not bear out. Within 2 mm of a border both sides are right."""
    wrong = []
    for node, rows in log.places.items():
        for time_ps, station, x, y in rows:
            far = [distance_mm((x, y), s) for s in STATIONS]
            right = {i for i, d in enumerate(far) if d <= reach_mm + 2 and d <= min(far) + 2}
            if min(far) > reach_mm - 2:
                right.add(-1)
            if station not in right:
                wrong.append(f"node {node} at {time_ps} ps")
    return wrong


WALKERS = network(40, speed_mm_s=20_000, position_every_ps=S // 2)


def test_station_events_name_the_nearest_station_in_reach():
    log, _ = run(WALKERS, 60)
    assert misplaced(log) == []
    assert sum(a[1] != b[1] for rows in log.places.values() for a, b in pairwise(rows)) > 100
    assert misplaced(log, reach_mm=100_000), "the check must notice another reach"


def test_no_change_of_station_goes_untold():
    """Between two reports that name the same station, the straight way never leads nearer to another one."""
    log, _ = run(network(40, speed_mm_s=20_000), 60)
    quiet, _ = run(WALKERS, 60)
    changes = {n: [(t, s) for t, s, _, _ in rows] for n, rows in log.places.items()}
    for n, rows in quiet.places.items():
        seen = [(t, s) for i, (t, s, _, _) in enumerate(rows) if i == 0 or rows[i - 1][1] != s]
        assert seen == changes[n]


def test_hosts_walk_at_their_speed_and_stay_where_a_cell_covers_them():
    log, _ = run(WALKERS, 60)
    for rows in log.places.values():
        assert all(station >= 0 for _, station, _, _ in rows)
        steps = [(b[0] - a[0], distance_mm(a[2:], b[2:])) for a, b in pairwise(rows)]
        assert all(way <= 20_000 * dt / S + 2 for dt, way in steps)
        assert sum(way for _, way in steps) > 0.8 * 20_000 * 59  # corners shorten the sum of the chords a little


def test_a_host_that_is_down_stands_and_says_nothing():
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


def test_hosts_that_may_leave_the_cells_do():
    log, _ = run(network(40, speed_mm_s=20_000, covered_only=False), 60)
    assert misplaced(log) == []
    assert any(station == -1 for rows in log.places.values() for _, station, _, _ in rows)
