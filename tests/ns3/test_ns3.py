"""The ns-3 adapter: what happens on the real simulator, seen from the controller's side of the bridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import causeway as cw
from causeway.bridge.engine import RunSpec
from causeway.errors import RunError, UserError
from causeway.network.networks import WIRELESS_TCP, AbstractNetwork, constant_delay
from causeway.network.workload import Faults, Script, Workload
from tests.helpers.ns3_probe import ENGINE, needs_ns3, run
from tests.helpers.wireless_probe import (
    FIRST_HOST,
    MS,
    ONE_CELL,
    REACH_MM,
    SIZES,
    Burst,
    Probe,
    S,
    StationsAtOnce,
    check_who_heard,
    distance_mm,
    network,
    one_after_the_other,
    positions,
)  # fmt: skip

pytestmark = needs_ns3


# ---- the radio ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("radio", "radio_bps"),
    [("wifi", 0), ("wifi", 1_000_000), ("wifi", 24_000_000), ("unitdisk", 0), ("unitdisk", 54_000_000)],
)
def test_a_lone_broadcast_reaches_everyone_within_120_metres_and_nobody_else(radio, radio_bps):
    net = network(30, radio=radio, radio_bps=radio_bps, workload=one_after_the_other(33))
    log, outcome = run(net, 4)
    check_who_heard(log, outcome, border_mm=2, miscounted=0)


@pytest.mark.parametrize("radio", ["wifi", "unitdisk"])
def test_the_radio_reaches_the_edge_of_a_smaller_cell_and_no_farther(radio):
    log, outcome = run(network(60, radio=radio, cell_radius_mm=60_000, workload=one_after_the_other(63)), 7)
    check_who_heard(log, outcome, border_mm=2, miscounted=0, reach_mm=60_000)


class Call(cw.Node):
    """Host 0 sends to `peer` once a second; all count what they receive, and what the engine calls lost."""

    def __init__(self, peer: int) -> None:
        self.peer, self.heard, self.lost = peer, 0, 0

    def on_start(self) -> None:
        if self.id == 0:
            self.every(S, self.send, self.peer, "call", 100)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        self.heard += 1

    def on_lost(self, content: str, interface: int) -> None:
        self.lost += 1


@pytest.mark.parametrize(("away_km", "peer"), [(1, cw.EVERYONE), (2, cw.EVERYONE), (900, cw.EVERYONE), (2, 1), (30, 1)])
@pytest.mark.parametrize("radio", ["wifi", "unitdisk"])
def test_a_copy_that_arrives_is_not_lost_however_long_its_way_is(radio, away_km, peer):
    places = ((0, 0), (cw.km(away_km), 0))
    net = cw.MobileNetwork(hosts=2, host_xy_mm=places, radio=radio, cell_radius_mm=cw.km(away_km) + 1)
    result = cw.run(lambda _: Call(peer), net, until=5 * S, engine="ns3")
    frames = result.scalars["host_frames"]
    assert frames >= 4
    assert (result.scalars["copies_received"], result.scalars["copies_lost"]) == (frames, 0)
    assert (result.nodes[1].heard, result.nodes[1].lost) == (4, 0)


def test_a_radio_that_only_inet_has_is_refused_in_one_line():
    with pytest.raises(UserError, match=r"no radio 'acking'.*--engine omnet"):
        run(network(3, radio="acking"), 1)


def test_on_the_unit_disk_two_overlapping_frames_are_lost_at_all_receivers_of_both():
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


def test_a_packet_in_many_frames_arrives_whole_or_is_reported_lost_once():
    log, _ = run(network(60, radio="unitdisk"), 1, type("Long", (StationsAtOnce,), {"size_bytes": 10_000}))
    arrived, lost = sorted((n, c) for _, n, c, *_ in log.arrivals), sorted((n, c) for _, n, c in log.lost)
    assert len(lost) > len({n for n, _ in lost})  # some lost both packets
    at = positions(log)
    owed = sorted((n, "noise") for n in range(63) for s in (1, 2) if n != s and distance_mm(at[n], at[s]) < REACH_MM)
    assert sorted(arrived + lost) == owed


def test_impossible_settings_of_radios_are_refused_in_one_line():
    with pytest.raises(RunError, match="choose another radio_bps"):
        run(network(2, radio_bps=7_000_000), 1)
    with pytest.raises(RunError, match="choose a lower radio_bps"):
        run(network(2, radio="wifi", radio_bps=54_000_000), 1)
    with pytest.raises(UserError, match="no radio 'laser', it has unitdisk and wifi"):
        run(network(2, radio="laser"), 1)
    abstract = AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2))
    with pytest.raises(UserError, match="mobile networks only"):
        ENGINE.open(RunSpec("test", {}, 1, abstract, reaction_ps=MS))


# ---- TCP ------------------------------------------------------------------------------------------------------------


class BurstOverRadio(Burst):
    peers = (0, FIRST_HOST)
    interface = WIRELESS_TCP


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


def test_packets_in_a_broken_connection_are_reported_lost_and_the_next_one_opens_another():
    script = Script(np.array([1, 3, 4, 900]) * S, np.zeros(4, np.int32), np.full(4, 100, np.int32))
    log, outcome = run(network(1, **one_host_down(2 * S, 800 * S), workload=Workload(1, script=script)), 1000, Hourly)
    assert [content for _, _, content, *_ in log.arrivals] == [0, 3]
    assert [(node, content) for _, node, content in log.lost] == [(1, 1), (1, 2)]
    assert outcome.finish.scalars["network", "tcp_broken"] == 1
    assert outcome.finish.scalars["network", "tcp_opened"] == 2


def test_tcp_without_a_wire_or_radio_for_it_is_refused_in_one_line():
    with pytest.raises(RunError, match="but there is none"):
        run(network(1), 1, type("NoWire", (Burst,), {"peers": (1, 2)}))
    with pytest.raises(RunError, match="host_tcp=True"):
        run(network(1), 1, BurstOverRadio)


def test_nodes_that_do_not_exist_are_refused_in_one_line():
    with pytest.raises(UserError, match="the workload's nodes is 4; allowed: a whole number, 0 to 3"):
        run(network(2, **ONE_CELL, workload=one_after_the_other(4)), 1)
    faults = Faults(np.array([S]), np.array([9], np.int32), np.array([0], np.uint8))
    with pytest.raises(UserError, match="the faults' node, row 0, is 9; allowed: 0 to 2"):
        run(network(2, **ONE_CELL, faults=faults), 2)
