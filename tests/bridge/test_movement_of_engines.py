"""Hosts follow traces and go where they are sent: at the same millimetre on every engine and in the record."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.errors import RunError, UserError
from causeway.network.movement import place_at, trace
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import PerNode
from tests.helpers import inet_probe, ns3_probe
from tests.helpers.movement_probe import EVERY, LATE, ZIGZAG, Chatty, Sent, ad_hoc, off_trace
from tests.helpers.wireless_probe import MS, ONE_CELL, Probe, S, network

PROBES = [
    pytest.param(inet_probe, id="inet", marks=inet_probe.needs_inet),
    pytest.param(ns3_probe, id="ns3", marks=ns3_probe.needs_ns3),
]
both = pytest.mark.parametrize("probe", PROBES)


@both
def test_a_host_follows_its_trace_to_the_millimetre(probe):
    net = ad_hoc((ZIGZAG, LATE, None))
    log, _ = probe.run(net, 12)
    assert off_trace(log, net) == []
    assert {len(rows) for rows in log.places.values()} == {120}
    assert log.places[0][73][2:] == place_at(ZIGZAG, 73 * EVERY) == (-30_000, 100_000)
    assert {row[2:] for row in log.places[2]} == {(5_000, 5_000)}, "one without a trace stands"


@both
def test_a_moved_host_goes_to_its_target_at_its_speed_and_stays(probe):
    log, _ = probe.run(ad_hoc((None, None)), 12, Sent)
    at = {t: (x, y) for t, _, x, y in log.places[1]}
    assert at[1 * S] == (14_990, 5_000), "10 m/s, one reaction time (1 ms) after it said so"
    assert at[2 * S] == (24_990, 5_000)
    turned_at = 2 * S + 2 * MS  # the timer was set at 1 ms, and it acts 1 ms later
    way_m = 20 * (3 * S - turned_at) / S
    x, y = at[3 * S]
    assert abs(np.hypot(x - 25_010, y - 5_000) - way_m * 1000) <= 2
    assert at[12 * S - EVERY] == (5_000, 45_000)
    assert {row[2:] for row in log.places[0]} == {(5_000, 5_000)}


@both
def test_a_host_that_was_sent_somewhere_no_longer_follows_its_trace_nor_walks(probe):
    log, _ = probe.run(ad_hoc((None, ZIGZAG, None), host_speeds_mm_s=(0, 0, 3000), area_mm=(0, 0, 9000, 9000)), 9, Sent)
    assert log.places[1][-1][2:] == (5_000, 45_000)
    walked = {row[2:] for row in log.places[2]}
    assert len(walked) > 50 and all(0 <= x <= 9000 and 0 <= y <= 9000 for x, y in walked), "walkers keep to the area"


@both
def test_the_receivers_of_a_packet_follow_from_the_traces(probe):
    """Two hosts that meet hear each other while they are within reach, and at no other time."""
    far, reach_m = 400.0, 120.0
    meet = trace((0, far, 0), (4, 0, 0), (8, far, 0))
    log, _ = probe.run(ad_hoc((trace((0, 0, 0)), meet)), 9, Chatty)
    heard = [t for t, node, *_ in log.arrivals if node == 0]
    near_from = (far - reach_m) / 100 * S
    assert heard and min(heard) >= near_from and max(heard) <= 8 * S - near_from + 10 * MS
    assert len(heard) >= 20
    assert len([t for t, node, *_ in log.arrivals if node == 1]) >= 20


@pytest.mark.ns3
@pytest.mark.skipif(ns3_probe.ENGINE.missing() is not None, reason=str(ns3_probe.ENGINE.missing()))
@pytest.mark.omnet
@pytest.mark.skipif(inet_probe.WHY_NOT is not None, reason=str(inet_probe.WHY_NOT))
def test_traces_moves_and_walks_are_equal_on_both_engines():
    net = ad_hoc((ZIGZAG, None, LATE, None), host_speeds_mm_s=(0, 0, 0, 1500), area_mm=(0, 0, 50_000, 50_000))
    ours, theirs = (probe.run(net, 12, Sent) for probe in (inet_probe, ns3_probe))
    for node in range(3):
        assert ours[0].places[node] == theirs[0].places[node]
    for one, other in zip(ours[0].places[3], theirs[0].places[3], strict=True):
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 1, "walks: each engine adds up its own steps"
    assert ours[1].digest == theirs[1].digest


@both
def test_hosts_that_pass_by_get_events_with_the_nearest_station(probe):
    net = network(1, **ONE_CELL, traces=(trace((0, 300, 0), (10, -300, 0)),))
    log, _ = probe.run(net, 11)
    stations = [(t, station) for t, station, _, _ in log.places[1]]
    assert [station for _, station in stations] == [-1, 0, -1]
    assert abs(stations[1][0] - 3 * S) <= 100 * MS and abs(stations[2][0] - 7 * S) <= 100 * MS


@both
def test_a_node_that_cannot_move_is_reported_so(probe):
    class Wanderer(Probe):
        def on_start(self):
            if self.id == 0:
                self.move(1, 1, 1000)

    with pytest.raises(RunError, match="node 0 cannot move; allowed: hosts, 1 to 1"):
        probe.run(network(1, **ONE_CELL), 1, Wanderer)


def test_moving_on_the_abstract_network_is_an_error():
    from causeway.bridge.engines.inline import InlineEngine
    from causeway.network.networks import AbstractNetwork, constant_delay

    spec = RunSpec("test", {}, 1, AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2)), MS)
    with pytest.raises(RunError, match="only hosts of a MobileNetwork can move, not nodes of an AbstractNetwork"):
        run_protocol(InlineEngine(), spec, PerNode(_Mover), [])


class _Mover(Probe):
    def on_start(self):
        if self.id == 1:
            self.move(1, 1, 1000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"traces": (ZIGZAG,)}, r"traces has 1 traces for 2 hosts; allowed: one for each host, or none"),
        ({"host_speeds_mm_s": (1,)}, r"host_speeds_mm_s has 1 speeds for 2 hosts"),
        ({"traces": (ZIGZAG[::-1], None)}, r"the trace of host 0, time_ps, row 1, is 9\d+; allowed: 11\d+ and up"),
        ({"traces": (ZIGZAG[[0, 0]], None)}, r"the trace of host 0, row 1, is 0 ps again; allowed: each time once"),
        ({"traces": (np.zeros((2, 2), np.int64), None)}, r"the trace of host 0 is int64, \(2, 2\); allowed"),
        ({"area_mm": (0, 0, 0, 9)}, r"area_mm is \(0, 0, 0, 9\); allowed: the lower corner first"),
        (
            {"host_xy_mm": ()},
            r"there are no stations, and the start position of host 0 is not set; allowed: area_mm, host_",
        ),
        ({"speed_mm_s": 5}, r"there are no stations, and the area in which host 0 walks is not set; allowed: area_mm"),
    ],
)
def test_impossible_movements_are_refused_in_one_line(changes, message):
    from causeway.bridge.validation_spec import check_spec

    with pytest.raises(UserError, match=message) as error:
        net = ad_hoc((None, None))
        check_spec(RunSpec("test", {}, 1, type(net)(**{**vars(net), **changes}), MS))
    assert "\n" not in str(error.value)


def test_no_two_hosts_share_their_randomness():
    """Two walkers of one run go different ways."""
    net = ad_hoc((None, None), speed_mm_s=2000, area_mm=(0, 0, 90_000, 90_000))
    probe = next((p for p in (ns3_probe, inet_probe) if p.ENGINE.missing(net) is None), None)
    if probe is None:
        pytest.skip("no packet-level engine here")
    log, _ = probe.run(net, 5)
    assert all(a[2:] != b[2:] for a, b in itertools.islice(zip(log.places[0], log.places[1], strict=True), 20, None))
