"""The INET adapter: what happens on the real simulator, seen from the controller's side of the bridge."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.omnet_inet import INET_ADAPTER, plain_command
from causeway.errors import RunError, UserError
from causeway.network.networks import WIRELESS_TCP
from causeway.pycontrol.node import EVERYONE
from causeway.toolchain.omnet_find import find_omnetpp
from tests.helpers.inet_probe import ENGINE, needs_inet, run
from tests.helpers.wireless_probe import (
    FIRST_HOST,
    MS,
    ONE_CELL,
    REACH_MM,
    Burst,
    Probe,
    S,
    StationsAtOnce,
    check_order_on_wires,
    check_who_heard,
    distance_mm,
    network,
    one_after_the_other,
    positions,
)  # fmt: skip

pytestmark = needs_inet


# ---- the radio ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("radio", ["unitdisk", "acking", "wifi"])
def test_a_lone_broadcast_reaches_everyone_within_120_metres_and_nobody_else(radio):
    log, outcome = run(network(30, radio=radio, workload=one_after_the_other(33)), 4)
    check_who_heard(log, outcome, border_mm=20, miscounted=2)


@pytest.mark.parametrize("radio", ["unitdisk", "acking", "wifi"])
def test_the_radio_reaches_the_edge_of_a_smaller_cell_and_no_farther(radio):
    log, outcome = run(network(60, radio=radio, cell_radius_mm=60_000, workload=one_after_the_other(63)), 7)
    check_who_heard(log, outcome, border_mm=20, miscounted=4, reach_mm=60_000)


@pytest.mark.parametrize(("radio", "disturbed_mm"), [("unitdisk", 65_000), ("csma", 60_000), ("acking", 60_000)])
def test_in_a_smaller_cell_a_frame_disturbs_no_farther_than_in_proportion(radio, disturbed_mm):
    """The hosts between stations 1 and 2 (170 m apart): how far from the other station a lost copy can be."""
    places = tuple((127_500 + x, 73_500 - round(x * 147 / 85)) for x in range(-30_000, 30_000, 1000))
    log, _ = run(network(60, radio=radio, cell_radius_mm=110_000, host_xy_mm=places), 1, StationsAtOnce)
    at = positions(log)
    far = {n: max(distance_mm(at[n], at[s]) for s in (1, 2)) for n in range(FIRST_HOST, 63)}
    hears = {n for n in far if min(distance_mm(at[n], at[s]) for s in (1, 2)) < 110_000}
    spoilt = disturbed_mm * 110 / 60
    assert {n for _, n, _ in log.lost} == {n for n in hears if far[n] < spoilt} not in (set(), hears)


def test_without_medium_access_control_a_frame_is_sent_during_others_and_received_by_a_sender():
    """Two hosts near each other speak at once: on `acking` a third loses both, and they hear one another (20 B of MAC,
    12 of the radio; 4 Mb/s)."""

    class AtOnce(Probe):
        def on_start(self):
            if self.id in (1, 2):
                self.send(EVERYONE, self.id, 100)

    net = network(3, **ONE_CELL, radio="acking", host_xy_mm=((0, 50_000), (0, 51_000), (50_000, 0)))
    log, _ = run(net, 1, AtOnce)
    airtime_ps = 160 * 8 * S // 4_000_000
    heard = {(n, sender): time_ps - MS for time_ps, n, _, sender, _ in log.arrivals}
    assert set(heard) == {(1, 2), (2, 1)}
    assert all(0 <= wait - airtime_ps < MS // 1_000_000 * 4 for wait in heard.values())
    assert {n for _, n, _ in log.lost} == {0, 3}


@pytest.mark.parametrize("radio_bps", [1_000_000, 2_000_000])
def test_a_frame_takes_the_time_that_its_bits_take(radio_bps):
    """100 bytes, 8 of UDP, 20 of IPv4, 20 of MAC, 12 of the radio; before it, a backoff of 0 to 31 slots of 20 us."""
    net = network(5, radio_bps=radio_bps, workload=one_after_the_other(8))
    log, _ = run(net, 2)
    sent = {content: MS + (content + 1) * 100 * MS for content in range(8)}
    waits = {time_ps - sent[content] - 160 * 8 * S // radio_bps for time_ps, _, content, _, _ in log.arrivals}
    assert len(waits) > 3
    assert all(0 <= wait <= 31 * 20 * MS // 1000 + MS // 1000 for wait in waits)


DISTURBED_MM = 130_000
"""Up to here a frame that is too far away to be received still spoils another one."""


def test_on_the_unit_disk_two_overlapping_frames_are_lost_at_all_receivers_of_both():
    log, outcome = run(network(60), 1, StationsAtOnce)
    at = positions(log)
    arrived, lost = {n for _, n, *_ in log.arrivals}, {n for _, n, _ in log.lost}
    far = {n: sorted(distance_mm(at[n], at[s]) for s in (1, 2)) for n in range(FIRST_HOST, 63)}
    hears = {n for n, (near, _) in far.items() if near < REACH_MM}
    disturbed = {n for n in hears if far[n][1] < DISTURBED_MM}
    assert lost == disturbed != set()
    assert any(far[n][1] > REACH_MM for n in disturbed)
    assert arrived & set(far) == hears - disturbed
    assert outcome.finish.scalars["network", "loss_rate"] == len(log.lost) / (len(log.lost) + len(log.arrivals))


def test_on_wifi_the_far_stronger_of_two_frames_survives():
    log, _ = run(network(60, radio="wifi"), 1, StationsAtOnce)
    at = positions(log)
    heard = {(n, sender) for _, n, _, sender, _ in log.arrivals}
    near_ones = 0
    for n in range(FIRST_HOST, 63):
        near, far = sorted((1, 2), key=lambda s: distance_mm(at[n], at[s]))
        if distance_mm(at[n], at[near]) < REACH_MM and 3 * distance_mm(at[n], at[near]) < distance_mm(at[n], at[far]):
            assert (n, near) in heard
            near_ones += 1
    assert near_ones and log.lost


def test_wifi_runs_at_the_configured_rate():
    """At four times the rate a frame is there in less than half the time; preamble and waiting stay."""
    workload = one_after_the_other(8)
    slow, fast = (run(network(5, radio="wifi", radio_bps=bps, workload=workload), 2)[0] for bps in (0, 24_000_000))
    took = [min(t - MS - (content + 1) * 100 * MS for t, _, content, *_ in log.arrivals) for log in (slow, fast)]
    assert took[1] < took[0] / 2


def test_unknown_radios_and_rates_are_refused_in_one_line():
    with pytest.raises(UserError, match="has no rate of 7000000 b/s"):
        ENGINE.open(RunSpec("test", {}, 1, network(2, radio="wifi", radio_bps=7_000_000), MS))
    with pytest.raises(UserError, match="no radio 'laser'; it has unitdisk, csma, acking, wifi"):
        ENGINE.open(RunSpec("test", {}, 1, network(2, radio="laser"), MS))


# ---- TCP ------------------------------------------------------------------------------------------------------------


def test_tcp_goes_from_one_outer_station_to_another_over_two_wires():
    log, outcome = run(network(1), 10, type("Two", (Burst,), {"peers": (1, 2)}))
    check_order_on_wires(log, outcome, peers=(1, 2), hops=2)


class Faithful(Probe):
    """Hosts send a packet over TCP every 200 ms to the station they are at."""

    def on_start(self):
        self.at, self.sent = -1, 0
        self.set_timer("send", S // 5)

    def on_station(self, station, x_mm, y_mm):
        super().on_station(station, x_mm, y_mm)
        self.at = station

    def on_timer(self, key):
        if self.id >= FIRST_HOST and self.at >= 0:
            self.send(self.at, (self.id, self.sent), 100, WIRELESS_TCP)
            self.sent += 1
        self.set_timer("send", S // 5)


def test_a_host_that_walks_to_another_station_talks_to_it_over_a_new_connection():
    log, _ = run(network(4, speed_mm_s=20_000, host_tcp=True), 30, Faithful)
    stays = 0
    for host in range(FIRST_HOST, 7):
        for (begin, station, *_), (end, *_) in pairwise([*log.places[host], (30 * S, -1)]):
            if end - begin > 6 * S:
                stays += 1
                assert [1 for t, n, (who, _), *_ in log.arrivals if (who, n) == (host, station) and begin < t <= end]
        numbers = [number for _, _, (sender, number), *_ in log.arrivals if sender == host]
        assert numbers == sorted(set(numbers))
    assert stays > 4


# ---- without a controller -------------------------------------------------------------------------------------------


def opp_run(config: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    found = find_omnetpp()
    assert found is not None
    command = plain_command(found, config, *arguments)
    return subprocess.run(command, cwd=INET_ADAPTER, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("config", ["PlainUnitDisk", "PlainWifi"])
def test_the_same_network_runs_by_itself_with_plain_traffic(config, tmp_path):
    ran = opp_run(config, "--sim-time-limit=2s", f"--result-dir={tmp_path}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = next(tmp_path.glob("*.sca")).read_text().splitlines()
    numbers = {line.split()[2]: float(line.split()[3]) for line in lines if line.startswith("scalar ")}
    assert 100 < numbers["host_frames"] < 350
    assert 0 < numbers["loss_rate"] < 0.3


@pytest.mark.parametrize(
    ("config", "medium"), [("PlainUnitDisk", "UnitDiskRadioMedium"), ("PlainWifi", "Ieee80211ScalarRadioMedium")]
)
def test_the_medium_with_a_spatial_index_gives_the_numbers_of_inets_own(config, medium, tmp_path):
    """Walking hosts, on INET's medium (which asks every radio) and on ours: every scalar is equal."""
    options = {"typename": medium, "rangeFilter": "interferenceRange", "sameTransmissionStartTimeCheck": "ignore"}
    own = tuple(f'--*.radioMedium.{name}="{value}"' for name, value in options.items())
    found = []
    for name, options in (("ours", ()), ("inets", own)):
        ran = opp_run(config, "--sim-time-limit=3s", f"--result-dir={tmp_path / name}", *options)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        lines = next((tmp_path / name).glob("*.sca")).read_text().splitlines()
        found.append([line for line in lines if line.startswith("scalar ")])
    assert found[0] == found[1]
    assert any("lost" in line and float(line.split()[-1]) > 10 for line in found[0])


def test_a_bridged_configuration_without_a_controller_names_the_remedy():
    ran = opp_run("UnitDisk")
    assert ran.returncode != 0
    assert "start this simulation with `causeway run" in ran.stderr


# ---- somebody's own NED and ini -------------------------------------------------------------------------------------


class MastTalks(Probe):
    def on_start(self):
        if self.id == 0:
            self.set_timer("say", S // 2)

    def on_timer(self, key):
        self.send(EVERYONE, "still there?", 100)
        self.set_timer("say", S // 2)


def test_the_modules_work_in_a_users_own_network():
    own = Path(__file__).parents[1] / "helpers" / "inet_own" / "omnetpp.ini"
    log, _ = run(network(2, **ONE_CELL), 4, MastTalks, ini=own)
    heard = {n: [t for t, node, *_ in log.arrivals if node == n] for n in (1, 2)}
    assert len(heard[1]) == 7
    assert 3 <= len(heard[2]) <= 4 and max(heard[2]) <= 2.1 * S
    assert [station for _, station, *_ in log.places[2]] == [0, -1]
    assert abs(log.places[2][1][0] - 2 * S) <= S // 10


def test_a_network_of_another_size_than_the_controllers_is_refused():
    own = Path(__file__).parents[1] / "helpers" / "inet_own" / "omnetpp.ini"
    with pytest.raises(RunError, match="the study has 4 nodes, the network of the ini file has 3"):
        run(network(3, **ONE_CELL), 1, ini=own)
