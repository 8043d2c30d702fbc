"""Heights: positions, ways and ranges in three dimensions, equal on both packet-level engines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from causeway.errors import UserError
from causeway.network.faults import Jammer
from causeway.network.movement import place_at, trace
from causeway.network.networks import MobileNetwork
from causeway.pycontrol.heights import takes_height
from causeway.pycontrol.node import EVERYONE
from tests.bridge.test_movement_of_engines import both
from tests.helpers import inet_probe, ns3_probe
from tests.helpers.movement_probe import EVERY, ZIGZAG, ad_hoc
from tests.helpers.wireless_probe import MS, ONE_CELL, Probe, S, network

SPIRAL = trace((0, 0, 0, 10), (3, 80.5, 0, 33.333), (5.5, 80, 80, -4), (11, 0, 0.001, 120))
LOW, HIGH = (0, 0), (0, 0, 200_000)


class Seen(Probe):
    """Logs positions with heights."""

    def on_station(self, station, x_mm, y_mm, z_mm=0):
        self.log.places[self.id].append((self.now_ps, station, x_mm, y_mm, z_mm))


class Flown(Seen):
    """Node 1 is sent up, and on its way to another position."""

    def on_start(self):
        if self.id == 1:
            self.move(50_000, 5_000, 10_000, z_mm=60_000)
            self.set_timer("turn", 2 * S)

    def on_timer(self, key):
        self.move(5_000, 45_000, 20_000, 7_500)


class Calling(Seen):
    """Everybody calls once, one after the other."""

    def on_start(self):
        self.set_timer("call", self.id * 100 * MS)

    def on_timer(self, key):
        self.send(EVERYONE, self.id, 50)


def heard(probe, places, radio="unitdisk", **changes) -> set[tuple[int, int]]:
    """Return the pairs (sender, receiver) of nodes that hear each other with a range of 130 m."""
    net = MobileNetwork(hosts=len(places), host_xy_mm=places, cell_radius_mm=130_000, radio=radio, **changes)
    log, _ = probe.run(net, 2, Calling)
    return {(sender, node) for _, node, _, sender, _ in log.arrivals}


@both
def test_a_host_follows_a_trace_with_heights_to_the_millimetre(probe):
    net = ad_hoc((SPIRAL, ZIGZAG, None))
    log, _ = probe.run(net, 12, Seen)
    assert len(log.places[0]) == 120
    assert [row for row in log.places[0] if row[2:] != place_at(SPIRAL, row[0])] == []
    assert [row for row in log.places[1] if row[2:] != (*place_at(ZIGZAG, row[0]), 0)] == [], "a flat one beside it"
    assert {row[2:] for row in log.places[2]} == {(5_000, 5_000, 0)}
    assert place_at(SPIRAL, 15 * S // 10) == (40_250, 0, 21_667)


@both
def test_other_events_at_the_instant_of_a_report_do_not_change_it(probe):
    class Busy(Seen):
        def on_start(self):
            for tick in range(20):
                self.set_timer(tick, tick * EVERY - MS if tick else 0)

    log, _ = probe.run(ad_hoc((SPIRAL, None)), 2, Busy)
    assert {t for t, node, _ in log.other if node == 0} >= {t for t, *_ in log.places[0]} - {0}
    assert [row for row in log.places[0] if row[2:] != place_at(SPIRAL, row[0])] == []


@both
def test_a_moved_host_flies_straight_to_a_height_at_its_speed(probe):
    log, _ = probe.run(ad_hoc((None, None)), 12, Flown)
    at = {t: np.array(place) for t, _, *place in log.places[1]}
    way = np.array([45_000, 0, 60_000])
    started = MS  # one reaction time after on_start
    for time_ps in (S, 2 * S):
        there = (5_000, 5_000, 0) + way / math.hypot(*way) * 10_000 * (time_ps - started) / S
        assert np.abs(at[time_ps] - there).max() <= 1
    assert at[12 * S - EVERY].tolist() == [5_000, 45_000, 7_500]


@both
def test_nodes_start_and_stand_at_their_heights(probe):
    places = ((1_000, 2_000, 30_001), (3_000, 4_000), (50, 60, -7))
    net = network(3, station_xy_mm=((0, 0, 15_000),), wires=(), host_xy_mm=places, places_every_ps=S)
    log, outcome = probe.run(net, 3, Seen)
    assert [log.places[n][0][2:] for n in (1, 2, 3)] == [places[0], (*places[1], 0), places[2]]
    heights = {module: values for (module, name), (_, values) in outcome.samples.items() if name == "z_m"}
    assert heights == {"place[0]": [15.0], "place[1]": [30.001], "place[2]": [0.0], "place[3]": [-0.007]}


@both
def test_a_walking_host_keeps_its_height(probe):
    net = ad_hoc((None, None), speed_mm_s=5_000, area_mm=(0, 0, 90_000, 90_000))
    net = MobileNetwork(**{**vars(net), "host_xy_mm": ((5_000, 5_000, 40_000), (5_000, 5_000))})
    log, _ = probe.run(net, 10, Seen)
    assert {row[4] for row in log.places[0]} == {40_000} and {row[4] for row in log.places[1]} == {0}
    assert len({row[2:] for row in log.places[0]}) > 50


@both
@pytest.mark.parametrize("radio", ["unitdisk", "wifi"])
def test_the_range_of_a_radio_is_a_distance_in_space(probe, radio):
    """With a range of 130 m, a node 120 m above another one hears it, and one 200 m above does not."""
    assert heard(probe, (LOW, HIGH), radio) == set()
    assert heard(probe, (LOW, (0, 0, 120_000)), radio) == {(0, 1), (1, 0)}
    assert heard(probe, (LOW, (100_000, 0, 100_000)), radio) == set(), "141 m"
    assert heard(probe, (LOW, (90_000, 0, 90_000)), radio) == {(0, 1), (1, 0)}, "127 m"


@both
def test_the_nearest_station_is_the_nearest_in_space(probe):
    """A host that climbs leaves the cell 100 m above its middle; another one is nearer to the higher station."""
    net = network(
        2, station_xy_mm=((0, 0), (400_000, 0, 0), (430_000, 0, 100_000)), wires=(), cell_radius_mm=100_000,
        traces=(trace((0, 0, 0, 0), (10, 0, 0, 200)), trace((0, 415, 0, 0), (10, 415, 0, 100))),
    )  # fmt: skip
    log, _ = probe.run(net, 11, Seen)
    stations = {node: [(t, station) for t, station, *_ in rows] for node, rows in log.places.items()}
    assert [station for _, station in stations[3]] == [0, -1] and abs(stations[3][1][0] - 5 * S) <= 100 * MS
    assert [station for _, station in stations[4]] == [1, 2] and abs(stations[4][1][0] - 5 * S) <= 100 * MS


@both
def test_a_jammer_disturbs_a_ball(probe):
    jammer = Jammer(0, 0, 50_000, 0, 10 * S, z_mm=100_000)
    places = ((0, 0, 100_000), LOW, (10_000, 0, 90_000))
    got = heard(probe, places, network_faults=(jammer,))
    assert got == {(0, 1), (2, 1)}, "the two in the ball hear nothing, and the one on the ground hears both"


@pytest.mark.ns3
@pytest.mark.skipif(ns3_probe.ENGINE.missing() is not None, reason=str(ns3_probe.ENGINE.missing()))
@pytest.mark.omnet
@pytest.mark.skipif(inet_probe.WHY_NOT is not None, reason=str(inet_probe.WHY_NOT))
def test_heights_are_equal_on_both_engines():
    net = ad_hoc((SPIRAL, None, None), host_speeds_mm_s=(0, 0, 1500), area_mm=(0, 0, 50_000, 50_000))
    ours, theirs = (probe.run(net, 12, Flown) for probe in (inet_probe, ns3_probe))
    for node in range(2):
        assert ours[0].places[node] == theirs[0].places[node]
    assert ours[1].digest == theirs[1].digest


@both
def test_a_handler_without_heights_is_called_as_before(probe):
    log, _ = probe.run(ad_hoc((SPIRAL,)), 2)
    assert [row for row in log.places[0] if row[2:] != place_at(SPIRAL, row[0])[:2]] == []


def test_the_argument_of_a_handler_decides():
    class Wrapped(Probe):
        def on_station(self, *places):
            pass

    assert takes_height(Seen) and takes_height(Wrapped) and not takes_height(Probe)


def test_a_frame_of_a_flat_network_has_no_heights():
    """So recordings and digests of flat networks stay."""
    from causeway.bridge.engine import RunSpec
    from causeway.bridge.framing import decode, encode_setup

    def mobile(**fields):
        return decode(encode_setup(RunSpec("test", {}, 1, network(1, **ONE_CELL, **fields), MS))).setup.mobile_network

    flat = mobile(host_xy_mm=((1, 2, 0),), traces=(trace((0, 1, 2, 0), (1, 2, 3, 0)),))
    assert (flat.station_z_mm, flat.host_z_mm, flat.trace_z_mm) == (b"", b"", b"")
    high = mobile(host_xy_mm=((1, 2, 3),), traces=(trace((0, 1, 2, 0), (1, 2, 3, 4)),))
    assert (len(high.station_z_mm), len(high.host_z_mm), len(high.trace_z_mm)) == (0, 4, 8)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"host_xy_mm": ((1, 2, 3, 4),)}, r"host_xy_mm is .*; allowed: a tuple of positions, x and y or x, y and z"),
        ({"host_xy_mm": ((1, 2, 2**31),)}, "the z of host 0, in mm is 2147483648; allowed"),
        ({"station_xy_mm": ((0, 0, 0.5),)}, "the z of station 0, in mm is 0.5; allowed: a whole number"),
        ({"traces": (np.array([[0, 1, 2, 2**31]]),)}, "the trace of host 0, z_mm, row 0, is 2147483648; allowed"),
        ({"network_faults": (Jammer(0, 0, 1, 0, 1, z_mm=0.5),)}, "the z_mm of network fault 0 is 0.5; allowed"),
    ],
)
def test_a_wrong_height_is_refused_in_one_line(fields, message):
    from causeway.bridge.engine import RunSpec
    from causeway.bridge.validation_spec import check_spec

    with pytest.raises(UserError, match=message) as error:
        check_spec(RunSpec("test", {}, 1, network(1, **{**ONE_CELL, **fields}), MS, S))
    assert "\n" not in str(error.value)


@both
def test_an_animation_has_heights_only_if_a_node_has_one(probe, tmp_path):
    from causeway.analysis import animation
    from tests.analysis.animation.test_scene import data_of, ints, write_run

    for folder, ways in (("high", (SPIRAL, ZIGZAG)), ("flat", (ZIGZAG,))):
        _, outcome = probe.run(ad_hoc(ways, places_every_ps=S // 2), 6, Seen)
        series = {key: list(zip(*points, strict=True)) for key, points in outcome.samples.items()}
        write_run(tmp_path / folder, series, unit_ps=1)
        (name,) = [name for _, name in animation.write_all(tmp_path / folder, (), tmp_path / folder)[0]]
        page = (tmp_path / folder / name).read_text()
        nodes = data_of(page)["nodes"]
        assert ('<canvas id="elevation"' in page) == all("z" in node for node in nodes) == (folder == "high")
        if folder == "high":
            assert ints(nodes[0]["z"])[:4] == [10_000, 13_889, 17_778, 21_667] and set(ints(nodes[1]["z"])) == {0}
            assert ints(nodes[0]["trace"]["z"]) == [10_000, 33_333, -4_000, 120_000]
            shown_from_the_side(tmp_path / folder / name)


def shown_from_the_side(page):
    """Look at the page in a browser, if there is one."""
    from tests.helpers.browser import CHROMIUM, DRIVER, browser, faults, show

    try:
        import selenium  # noqa: F401
    except ImportError:
        return
    if not (CHROMIUM and DRIVER):
        return
    with browser() as driver:
        show(driver, page)
        assert faults(driver) == []
        painted = "return [...$('elevation').getContext('2d').getImageData(0, 0, 2000, 400).data].some(v => v > 0)"
        assert driver.execute_script(painted)
        driver.execute_script("select(0)")
        assert "z 10.000 m" in driver.execute_script("return $('facts').textContent")
