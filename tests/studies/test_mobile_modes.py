"""The modes of mobile20 that are off by default: each one changes what it says, and nothing else."""

from __future__ import annotations

from math import dist

import numpy as np
import pytest

from causeway.network.hexagons import hexagonal_places
from causeway.pycontrol.protocols.mobile import Timing
from causeway.studies import registry
from causeway.studies.mobile20.start_positions import host_places
from causeway.studies.mobile20.study import Mobile20Params, Mobile20Study, MobileRun
from causeway.studies.mobile20.walks import TURN_S, turning

S_PS = 10**12
MS_PS = 10**9


def test_the_slope_of_the_retry_line_is_independent_of_the_window():
    both = Timing(outstanding=400)
    apart = Timing(outstanding=400, retry_full=150)
    assert both.retry_ps(150) > both.retry_min_ps == apart.retry_ps(150) == apart.retry_ps(400)
    assert Timing().retry_ps(75) == apart.retry_ps(75) == 600 * MS_PS, "half way from 1 s to 200 ms"


def test_a_turning_walk_goes_straight_for_5_s_and_stays_in_the_cells():
    stations = hexagonal_places(7, 208_000)
    starts = host_places(stations, 70, 1)
    walks = turning(stations, starts, 120_000, 1_389, 60, 1)
    for start, walk in zip(starts, walks, strict=True):
        assert tuple(walk[0, 1:]) == start
        assert np.array_equal(np.diff(walk[:, 0]), np.full(60 // TURN_S, TURN_S * S_PS))
        steps = [dist(a, b) for a, b in zip(walk[:-1, 1:], walk[1:, 1:], strict=True)]
        assert np.allclose(steps, 1_389 * TURN_S, atol=2)
        assert all(min(dist(place, station) for station in stations) <= 120_000 for place in walk[:, 1:])
    assert len({tuple(walk[1, 1:]) for walk in walks}) == 70, "each host has its own direction"


def test_victims_of_the_start_are_the_ten_hosts_of_the_cell_of_station_3():
    params = Mobile20Params(experiment="faults", victims="start")
    victims = MobileRun(params, None).failures.of_start
    starts = host_places(params.stations, params.hosts, 1)
    assert len(victims) == 10
    assert all(dist(starts[host - params.cells], params.stations[3]) <= 115_000 for host in victims)
    assert MobileRun(Mobile20Params(experiment="faults"), None).failures.of_start == ()


def test_the_modes_need_hosts_that_begin_in_a_cell():
    for mode in ({"walk": "turning"}, {"victims": "start"}):
        with pytest.raises(ValueError, match="placement=cells"):
            Mobile20Params(placement="anywhere", **mode)


def test_the_reach_is_that_of_the_network():
    study = registry.get("mobile20")
    assert isinstance(study, Mobile20Study)
    assert study.network(Mobile20Params(reach_m=125.0), 1).cell_radius_mm == 125_000
    assert study.network(Mobile20Params(), 1).cell_radius_mm == 120_000
