"""The ns-3 edge: what happens on the real simulator, seen from the controller's side of the bridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from air_probe import (
    BUSY,
    FIRST_HOST,
    MS,
    ONE_CELL,
    REACH_MM,
    Flood,
    Log,
    Probe,
    S,
    distance_mm,
    network,
    one_after_the_other,
    positions,
)  # fmt: skip
from ns3_probe import ENGINE, needs_ns3, run

from bridge.engine import Finish, RunSpec
from bridge.errors import RunError, UserError
from bridge.events import Kind, unpack_position
from bridge.network import WIRE, WIRELESS_TCP, AbstractNetwork, constant_delay
from bridge.workload import Faults, Script, Segment, Workload
from pycontrol.node import EVERYONE, PerNode
from pycontrol.protocol import Context

pytestmark = needs_ns3


# ---- the radio ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("radio", "radio_bps"),
    [("wifi", 0), ("wifi", 1_000_000), ("wifi", 24_000_000), ("unitdisk", 0), ("unitdisk", 54_000_000)],
)
def test_a_lone_broadcast_reaches_everyone_within_120_metres_and_nobody_else(radio, radio_bps):
    net = network(30, radio=radio, radio_bps=radio_bps, workload=one_after_the_other(33))
    log, outcome = run(net, 4)
    heard = {(sender, node) for _, node, _, sender, _ in log.arrivals}
    at = positions(log)
    for a in range(33):
        for b in range(33):
            if a != b and abs(distance_mm(at[a], at[b]) - REACH_MM) > 2:
                assert ((a, b) in heard) == (distance_mm(at[a], at[b]) < REACH_MM)
    assert not log.lost
    assert outcome.finish.scalars["network", "loss_rate"] == 0
    assert outcome.finish.scalars["network", "copies_received"] == len(log.arrivals)


class StationsAtOnce(Probe):
    def on_start(self):
        if self.id in (1, 2):
            self.send(EVERYONE, "noise", 1000)


def test_on_the_unit_disk_two_overlapping_frames_are_lost_to_all_who_hear_both():
    log, outcome = run(network(60, radio="unitdisk"), 1, StationsAtOnce)
    at = positions(log)
    arrived, lost = {n for _, n, *_ in log.arrivals}, {n for _, n, _ in log.lost}
    hears = {n: [distance_mm(at[n], at[s]) < REACH_MM for s in (1, 2)] for n in range(FIRST_HOST, 63)}
    assert lost == {n for n, both in hears.items() if all(both)} != set()
    assert arrived & set(hears) == {n for n, both in hears.items() if any(both) and not all(both)}
    assert outcome.finish.scalars["network", "loss_rate"] == len(log.lost) / (len(log.lost) + len(log.arrivals))


def test_on_wifi_the_far_stronger_of_two_frames_survives():
    log, _ = run(network(60, radio="wifi"), 1, StationsAtOnce)
    at = positions(log)
    heard = {(n, sender) for _, n, _, sender, _ in log.arrivals}
    for n in range(FIRST_HOST, 63):
        near, far = sorted((1, 2), key=lambda s: distance_mm(at[n], at[s]))
        if distance_mm(at[n], at[near]) < REACH_MM and 5 * distance_mm(at[n], at[near]) < distance_mm(at[n], at[far]):
            assert (n, near) in heard
    assert log.lost


class LongPacketsAtOnce(Probe):
    def on_start(self):
        if self.id in (1, 2):
            self.send(EVERYONE, "noise", 10_000)


def test_a_packet_in_many_frames_arrives_whole_or_is_told_lost_once():
    log, _ = run(network(60, radio="unitdisk"), 1, LongPacketsAtOnce)
    arrived, lost = sorted((n, c) for _, n, c, *_ in log.arrivals), sorted((n, c) for _, n, c in log.lost)
    assert len(lost) > len({n for n, _ in lost})  # some lost both packets
    at = positions(log)
    owed = sorted((n, "noise") for n in range(63) for s in (1, 2) if n != s and distance_mm(at[n], at[s]) < REACH_MM)
    assert sorted(arrived + lost) == owed


class ToStationZero(Probe):
    def on_broadcast(self, number, size_bytes):
        if self.id != 0:
            self.send(0, number, size_bytes)


def test_a_unicast_reaches_its_addressee_only_or_is_told_lost():
    log, _ = run(network(30, workload=one_after_the_other(33)), 4, ToStationZero)
    at = positions(log)
    arrived, lost = {sender for *_, sender, _ in log.arrivals}, {content for _, _, content in log.lost}
    assert {n for _, n, *_ in log.arrivals} == {n for _, n, _ in log.lost} == {0}
    for n in range(1, 33):
        assert (n in arrived) == (distance_mm(at[n], at[0]) < REACH_MM)
        assert (n in lost) == (n not in arrived)


def test_what_the_radios_cannot_do_is_refused_in_one_line():
    with pytest.raises(RunError, match="choose another radio_bps"):
        run(network(2, radio_bps=7_000_000), 1)
    with pytest.raises(RunError, match="choose a lower radio_bps"):
        run(network(2, radio="wifi", radio_bps=54_000_000), 1)
    with pytest.raises(RunError, match="wifi and unitdisk, not 'laser'"):
        run(network(2, radio="laser"), 1)
    abstract = AbstractNetwork(2, constant_delay(1), Workload(2))
    with pytest.raises(UserError, match="mobile networks only"):
        ENGINE.open(RunSpec("test", {}, 1, abstract, reaction_ps=MS))


# ---- TCP ------------------------------------------------------------------------------------------------------------

SIZES = [1, 40, 100, 3000, 20_000, 7, 536, 100_000, *range(50, 150)]


class Burst(Probe):
    """Node 0 sends packets of all sizes to its peer at once, and the peer likewise."""

    peers = (0, 1)
    interface = WIRE

    def on_start(self):
        if self.id in self.peers:
            for i, size in enumerate(SIZES):
                self.send(sum(self.peers) - self.id, i, size, self.interface)


def test_tcp_keeps_the_order_and_takes_the_time_that_the_wire_takes():
    log, _ = run(network(1), 5, Burst)
    for receiver in (0, 1):
        arrivals = [
            (t, content) for t, node, content, _, interface in log.arrivals if (node, interface) == (receiver, WIRE)
        ]
        assert [content for _, content in arrivals] == list(range(len(SIZES)))
        sent_bytes = 0
        for time_ps, content in arrivals:
            sent_bytes += SIZES[content]
            assert time_ps >= MS + 3 * 10 * MS + sent_bytes * 8 * S // 10_000_000  # SYN, SYN-ACK, data: three crossings


class BurstOverRadio(Burst):
    peers = (0, FIRST_HOST)
    interface = WIRELESS_TCP


def test_tcp_over_the_radio_outlives_a_failure_of_the_host():
    host = 1
    faults = Faults(np.array([S // 20, 4 * S]), np.array([host, host], np.int32), np.array([0, 1], np.uint8))
    node = type("OneCell", (BurstOverRadio,), {"peers": (0, host)})
    log, outcome = run(network(1, **ONE_CELL, host_tcp=True, faults=faults), 60, node)
    got = [(t, content) for t, n, content, *_ in log.arrivals if n == host]
    assert [content for _, content in got] == list(range(len(SIZES)))
    assert not [t for t, _ in got if S // 20 <= t < 4 * S]
    assert got[-1][0] > 4 * S
    assert outcome.finish.scalars["network", "tcp_broken"] == 0


def one_host_down(from_ps: int, to_ps: int) -> dict[str, Any]:
    faults = Faults(np.array([from_ps, to_ps]), np.array([1, 1], np.int32), np.array([0, 1], np.uint8))
    return {**ONE_CELL, "host_tcp": True, "faults": faults}


def test_a_connection_that_cannot_be_opened_is_tried_again_until_it_can():
    node = type("OneCell", (BurstOverRadio,), {"peers": (0, 1)})
    log, outcome = run(network(1, **one_host_down(MS // 2, 400 * S)), 800, node)
    assert [content for _, node, content, *_ in log.arrivals if node == 1] == list(range(len(SIZES)))
    assert log.arrivals[0][0] > 400 * S
    assert outcome.finish.scalars["network", "tcp_broken"] > 0


class Hourly(Probe):
    """The station tells the host something now and then."""

    def on_broadcast(self, number, size_bytes):
        self.send(1, number, size_bytes, WIRELESS_TCP)


def test_what_a_broken_connection_held_is_told_lost_and_the_next_packet_opens_another():
    script = Script(np.array([1, 3, 4, 900]) * S, np.zeros(4, np.int32), np.full(4, 100, np.int32))
    log, outcome = run(network(1, **one_host_down(2 * S, 800 * S), workload=Workload(1, script=script)), 1000, Hourly)
    assert [content for _, _, content, *_ in log.arrivals] == [0, 3]
    assert [(node, content) for _, node, content in log.lost] == [(1, 1), (1, 2)]
    assert outcome.finish.scalars["network", "tcp_broken"] == 1
    assert outcome.finish.scalars["network", "tcp_opened"] == 2


def test_tcp_where_there_is_none_is_refused_in_one_line():
    with pytest.raises(RunError, match="but there is none"):
        run(network(1), 1, type("NoWire", (Burst,), {"peers": (1, 2)}))
    with pytest.raises(RunError, match="host_tcp=True"):
        run(network(1), 1, BurstOverRadio)


def test_nodes_that_do_not_exist_are_refused_in_one_line():
    with pytest.raises(RunError, match="the workload broadcasts from node 3; the network has nodes 0 to 2"):
        run(network(2, **ONE_CELL, workload=one_after_the_other(4)), 1)
    faults = Faults(np.array([S]), np.array([9], np.int32), np.array([0], np.uint8))
    with pytest.raises(RunError, match="a failure is scripted for node 9"):
        run(network(2, **ONE_CELL, faults=faults), 2)


# ---- failures and timers --------------------------------------------------------------------------------------------


class Ticking(Probe):
    def on_start(self):
        for tick in range(40):
            self.set_timer(tick, tick * 100 * MS)


def test_a_node_that_is_down_is_silent_and_deaf():
    host, down, up = 1, S, 3 * S
    faults = Faults(np.array([down, up]), np.array([host, host], np.int32), np.array([0, 1], np.uint8))
    segments = (Segment(0, 100.0),)
    net = network(10, **ONE_CELL, workload=Workload(11, size_bytes=100, segments=segments), faults=faults)
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


# ---- the contract ---------------------------------------------------------------------------------------------------


def test_no_event_at_or_after_the_horizon_is_simulated_before_the_answer():
    """Every window ends at its first active event + L, and holds nothing from there on."""
    spec = RunSpec("test", {}, 1, BUSY, reaction_ps=MS, duration_ps=S)
    session = ENGINE.open(spec)
    protocol = PerNode(lambda _: type("Logged", (Flood,), {"log": Log()})())
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
