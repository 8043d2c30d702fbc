"""The requirements of the mobile network for every packet-level engine, INET and ns-3."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.events import Kind, unpack_position
from causeway.errors import RunError
from causeway.network.networks import WIRELESS_TCP
from causeway.network.workload import Faults, Segment, Workload
from causeway.pycontrol.node import EVERYONE, PerNode
from causeway.pycontrol.protocol import Context
from tests.helpers import inet_probe, ns3_probe
from tests.helpers.wireless_probe import (
    BUSY,
    FIRST_HOST,
    MS,
    ONE_CELL,
    REACH_MM,
    SIZES,
    WALKERS,
    Burst,
    Flood,
    Probe,
    S,
    Ticking,
    ToStationZero,
    check_order_on_wires,
    distance_mm,
    logged,
    misplaced,
    network,
    one_after_the_other,
    positions,
)  # fmt: skip


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
    whole, batched = (run(BUSY, 2, Flood, cap=c)[1] for c in (0, cap))
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


@pytest.mark.parametrize("radio", ["unitdisk", "wifi"])
def test_a_unicast_reaches_its_addressee_only_or_is_reported_lost(run, radio):
    log, _ = run(network(30, radio=radio, workload=one_after_the_other(33)), 4, ToStationZero)
    at = positions(log)
    arrived, lost = {sender for *_, sender, _ in log.arrivals}, {content for _, _, content in log.lost}
    assert {n for _, n, *_ in log.arrivals} == {n for _, n, _ in log.lost} == {0}
    for n in range(1, 33):
        assert (n in arrived) == (distance_mm(at[n], at[0]) < REACH_MM)
        assert (n in lost) == (n not in arrived)


def test_tcp_keeps_the_order_and_takes_the_time_that_the_wire_takes(run):
    log, outcome = run(network(1), 5, Burst)
    check_order_on_wires(log, outcome, peers=(0, 1), hops=1)


def test_tcp_over_the_radio_outlives_a_failure_of_the_host(run):
    host = 1
    faults = Faults(np.array([S // 20, 4 * S]), np.array([host, host], np.int32), np.array([0, 1], np.uint8))
    node = type("OneCell", (Burst,), {"peers": (0, host), "interface": WIRELESS_TCP})
    log, outcome = run(network(1, **ONE_CELL, host_tcp=True, faults=faults), 60, node)
    got = [(t, content) for t, n, content, *_ in log.arrivals if n == host]
    assert [content for _, content in got] == list(range(len(SIZES)))
    assert not [t for t, _ in got if S // 20 <= t < 4 * S]
    assert got[-1][0] > 4 * S
    assert outcome.finish.scalars["network", "tcp_broken"] == 0


@pytest.mark.parametrize("radio", ["unitdisk", "wifi"])
def test_a_node_that_is_down_is_silent_and_deaf(run, radio):
    host, down, up = 1, S, 3 * S
    faults = Faults(np.array([down, up]), np.array([host, host], np.int32), np.array([0, 1], np.uint8))
    segments = (Segment(0, 100.0),)
    net = network(10, **ONE_CELL, radio=radio, workload=Workload(11, size_bytes=100, segments=segments), faults=faults)
    log, _ = run(net, 4, Ticking)
    of_host = [(t, what) for t, n, what in log.other if n == host] + [
        (t, "arrival") for t, n, *_ in log.arrivals if n == host
    ]
    during = [what for t, what in of_host if down <= t < up]
    assert during == ["down"]
    after, before = {w for t, w in of_host if t >= up}, {w for t, w in of_host if t < down}
    assert before == {"broadcast", "timer", "arrival"}
    assert after == {"up", "broadcast", "arrival"}  # PerNode drops the timers of a node that fails
    from_host = [t for t, _, _, sender, _ in log.arrivals if sender == host]
    assert not [t for t in from_host if down + 5 * MS <= t < up] and max(from_host) > up


def test_no_event_at_or_after_the_horizon_is_simulated_before_the_answer(run):
    """Every window ends at its first active event + L, and contains no later event."""
    spec = RunSpec("test", {}, 1, BUSY, reaction_ps=MS, duration_ps=S)
    session = run.args[0].open(spec)
    protocol = PerNode(logged(Flood))
    windows = []
    try:
        protocol.start(Context(BUSY.nodes, 1, MS))
        while not isinstance(window := session.next(), Finish):
            windows.append(window)
            session.answer(protocol.on_window(window))
    finally:
        session.close()
    assert [w.number for w in windows] == list(range(len(windows)))
    assert len(windows[0]) == 0 and windows[0].end_ps == 0
    for w in windows[1:]:
        assert w.reply and w.time_ps[0] >= windows[w.number - 1].end_ps
        assert w.time_ps[-1] < w.end_ps == w.time_ps[0] + MS or w is windows[-1]
        order = list(zip(w.time_ps.tolist(), w.kind.tolist(), w.node.tolist(), w.ref.tolist(), strict=True))
        assert order == sorted(order)
    places = [unpack_position(r) for w in windows for r in w.ref[w.kind == Kind.STATION].tolist()]
    assert all(-120_000 <= x <= 300_000 and -120_000 <= y <= 300_000 for x, y in places)


class Flood500(Probe):
    """The first host sends 500 packets at once, which its queue cannot hold."""

    def on_start(self):
        if self.id == FIRST_HOST:
            for number in range(500):
                self.send(EVERYONE, number, 1000)


def test_packets_that_a_full_queue_drops_are_counted(run):
    log, outcome = run(network(1, radio="wifi"), 20, Flood500)
    scalars = {name: value for (module, name), value in outcome.finish.scalars.items() if module == "network"}
    assert scalars["never_sent"] > 100
    assert scalars["never_sent"] + scalars["host_frames"] == 500
    assert len({content for _, _, content, *_ in log.arrivals}) <= scalars["host_frames"]


@pytest.mark.parametrize(("size_bytes", "refused"), [(65507, False), (65508, True)])
def test_a_datagram_that_ipv4_cannot_carry_is_refused(run, size_bytes, refused):
    def on_start(self):
        if self.id == FIRST_HOST:
            self.send(FIRST_HOST + 1, 0, size_bytes)

    node = type("Large", (Probe,), {"on_start": on_start})
    net = network(2, host_xy_mm=((0, 10_000), (0, 20_000)))
    if refused:
        with pytest.raises(RunError, match=r"UDP packet .*65508 bytes|65508 bytes, but 65507 at most"):
            run(net, 5, node)
    else:
        assert [row[2] for row in run(net, 5, node)[0].arrivals] == [0]
