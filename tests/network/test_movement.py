"""Traces of other tools: ns-2 files as SUMO writes them, BonnMotion files, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from causeway.errors import UserError
from causeway.network.movement import place_at, read_traces, trace
from tests.bridge.test_movement_of_engines import both
from tests.helpers import inet_probe
from tests.helpers.inet_traces import places_on_inet, write_bonnmotion
from tests.helpers.movement_probe import ad_hoc, off_trace
from tests.helpers.wireless_probe import S

CITY = Path(__file__).parents[2] / "examples" / "city.ns2"
"""Five cars on a grid of streets, made with SUMO (netgenerate, randomTrips, traceExporter)."""
WALK = """
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
$ns_ at 1.0 "$node_(0) setdest 60.0 20.0 10.0"
$ns_ at 10.0 "$node_(0) setdest 60.0 90.0 7.0"
$ns_ at 12.0 "$node_(0) setdest 60.0 90.0 0.0"
$ns_ at 25.0 "$node_(0) setdest 0.5 0.25 3.0"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "trace"
    path.write_text(text)
    return path


def test_an_ns2_command_holds_until_the_next_one_or_until_the_node_is_there(tmp_path: Path) -> None:
    (walk,) = read_traces(written(tmp_path, WALK))
    at = {s: place_at(walk, s * S) for s in (0, 1, 2, 6, 9, 11, 12, 20, 25, 1000)}
    assert at[0] == at[1] == (10_000, 20_000)
    assert at[2] == (20_000, 20_000) and at[6] == at[9] == (60_000, 20_000)
    assert at[11] == (60_000, 27_000), "on its way"
    assert at[12] == at[20] == at[25] == (60_000, 34_000), "stopped before it was there"
    assert at[1000] == (500, 250)


def test_the_cars_of_sumo_are_a_step_later_where_sumo_has_them() -> None:
    """A setdest of SUMO's exporter names where the car is at that instant; so it gets there in the second after it."""
    cars = read_traces(CITY)
    assert len(cars) == 5
    for line in CITY.read_text().splitlines():
        if "setdest" in line:
            time, node, x, y = line.split()[2], line.split("(")[1].split(")")[0], *line.split()[5:7]
            seen = place_at(cars[int(node)], round((float(time) + 1) * S))
            assert np.hypot(seen[0] - float(x) * 1000, seen[1] - float(y) * 1000) <= 50, "speeds have two digits"


def test_a_bonnmotion_file_describes_the_same_trace(tmp_path: Path) -> None:
    cars = read_traces(CITY)
    write_bonnmotion(cars, tmp_path / "cars.movements")
    again = read_traces(tmp_path / "cars.movements")
    assert all(np.array_equal(a[:, 1:], b[:, 1:]) for a, b in zip(cars, again, strict=True))
    assert all(np.abs(a[:, 0] - b[:, 0]).max() <= 1 for a, b in zip(cars, again, strict=True))


def test_an_ns2_file_has_one_height_for_each_node(tmp_path: Path) -> None:
    flat, high = WALK, WALK.replace("(0)", "(1)").replace("Z_ 0.0", "Z_ 7.25")
    low, flying = read_traces(written(tmp_path, flat + high))
    assert low.shape[1] == 3 and flying.shape[1] == 4 and np.array_equal(low, flying[:, :3])
    assert set(flying[:, 3]) == {7_250}


def test_a_bonnmotion_file_has_heights_if_it_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "0 1 2 3 10 5 6 7\n0 0 0 0.5\n")
    one, other = read_traces(path, heights=True)
    assert one.tolist() == [[0, 1_000, 2_000, 3_000], [10 * S, 5_000, 6_000, 7_000]]
    assert other.tolist() == [[0, 0, 0, 500]] and place_at(one, 5 * S) == (3_000, 4_000, 5_000)
    with pytest.raises(UserError, match=r"line 1: has 8 numbers, but a node's line has three .* has heights"):
        read_traces(path)
    with pytest.raises(UserError, match="line 1: has 7 numbers, but a node's line has four"):
        read_traces(written(tmp_path, "0 1 2 3 10 5 6\n"), heights=True)


@both
def test_real_traces_are_followed_to_the_millimetre(probe) -> None:
    net = ad_hoc(read_traces(CITY))
    log, _ = probe.run(net, 50)
    assert off_trace(log, net) == []
    assert sum(len(rows) for rows in log.places.values()) == 5 * 500


@pytest.mark.omnet
@pytest.mark.skipif(inet_probe.WHY_NOT is not None, reason=str(inet_probe.WHY_NOT))
def test_inets_bonnmotionmobility_has_the_hosts_at_the_same_places(tmp_path: Path) -> None:
    write_bonnmotion(read_traces(CITY), tmp_path / "cars.movements")
    cars = read_traces(tmp_path / "cars.movements")
    log = places_on_inet(tmp_path, "BonnMotionMobility", tmp_path / "cars.movements", len(cars), 50)
    rows = [(node, t, x, y) for node, places in log.places.items() for t, _, x, y in places]
    assert len(rows) == 5 * 500
    assert [row for row in rows if place_at(cars[row[0]], row[1]) != row[2:]] == []


@pytest.mark.omnet
@pytest.mark.skipif(inet_probe.WHY_NOT is not None, reason=str(inet_probe.WHY_NOT))
def test_inets_ns2motionmobility_agrees_except_where_it_is_late(tmp_path: Path) -> None:
    """It never breaks off a way under way. After its last command it would hang: it gets one that never comes."""
    path, text = tmp_path / "city.ns2", CITY.read_text()
    path.write_text(text + "".join(f'$ns_ at 999.0 "$node_({n}) setdest 1 1 1"\n' for n in range(5)))
    cars = read_traces(path)
    log = places_on_inet(tmp_path, "Ns2MotionMobility", path, len(cars), 50)
    off = [
        np.hypot(*(np.array(place_at(cars[node], t)) - (x, y)))
        for node, places in log.places.items()
        for t, _, x, y in places
    ]
    assert len(off) == 2500 and max(off) <= 20 and np.mean(np.array(off) < 1.5) > 0.8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2 5 3\n", "line 1: has 5 numbers, but a node's line has three for each position"),
        ("0 1 2 5 nan 4\n", "line 1: a number is missing: time 5 s, position \\(nan, 4\\) m"),
        ("0 1 2\n5 1 1 3 2 2\n", "line 2: goes back in time, from 5 to 3 s"),
        ("0 1 2 0 3 4\n", "line 1: is at two positions at 0 s; hosts cannot jump"),
        ("once upon a time\n", "line 1: is neither ns-2 nor BonnMotion"),
        ("", "contains no trace"),
        ("-1 0 0\n", "line 1: time -1 s, position .* is out of range; allowed: 0 s and up"),
        (WALK.replace("at 25.0", "at 5.0"), "line 8: goes back in time, from 12 to 5 s"),
        (WALK.replace("set X_ 10.0", "set X_ 10.0 m"), "line 2: is not ns-2 movement"),
        (WALK.replace("$node_(0) set X_ 10.0", ""), "node 0: has no start position"),
        (WALK.replace("(0)", "(2)"), "has a node 2 but no node 0; nodes must be numbered from 0 on"),
        (WALK.replace("60.0 20.0 10.0", "60.0 20.0 -1"), "line 5: has a speed of -1 m/s; allowed: 0 and up"),
        (WALK + '$ns_ at 30.0 "$node_(0) set X_ 5.0"\n', "line 9: moves a node at once at 30.0 s; nodes cannot jump"),
        (WALK + "hello world\n\nand so on\n", "lines 9, 11: are not ns-2 movement \\(hello world\\)"),
        (WALK.replace("0.5 0.25 3.0", "0.5 0.25 1e-300"), "node 0: time .*e\\+30. s, position .* is out of range"),
        (WALK.replace("0.5 0.25 3.0", "1e300 20.0 10.0"), "node 0: .* is out of range"),
        (WALK.replace("0.5 0.25 3.0", "1e308 -1e308 10.0"), "node 0: "),
        ("0 1e300 2\n", "line 1: time 0 s, position \\(1e\\+300, 2\\) m is out of range"),
    ],
)
def test_a_bad_trace_is_reported_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message) as error:
        read_traces(written(tmp_path, text))
    assert "\n" not in str(error.value)


def test_a_missing_trace_or_one_of_the_wrong_length_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read as a trace"):
        read_traces(tmp_path / "none")
    with pytest.raises(UserError, match="traces has 5 traces for 4 hosts; allowed: one for each host, or none"):
        type(ad_hoc((None,)))(**{**vars(ad_hoc((None,) * 4)), "traces": read_traces(CITY)})


def test_lines_of_other_tools_in_an_ns2_file_are_skipped(tmp_path: Path) -> None:
    others = """# nodes: 1, max x: 100
set ns_ [new Simulator]
set val(nn) 1
set node_(0) [$ns_ node]
$god_ set-dist 0 1 2
$ns_ at 3.5 "$god_ set-dist 0 1 3"
$ns_ at 50.0 "stop"
puts "ready"
"""
    assert np.array_equal(read_traces(written(tmp_path, others + WALK)), read_traces(written(tmp_path, WALK)))


@pytest.mark.parametrize("waypoint", [(0, 1), (0, 1, 2, 3), 5, ("a", 1, 2), (0, None, 1)])
def test_a_waypoint_that_is_no_time_and_place_is_named(waypoint) -> None:
    with pytest.raises(UserError, match=r"waypoint 1 .* is .*; allowed: \(time in s, x in m, y in m\)"):
        trace((0, 0, 0), waypoint)


def test_places_between_waypoints_are_on_the_line() -> None:
    one = trace((1, 0, 0), (3, 10, -10))
    assert place_at(one, 0) == (0, 0) and place_at(one, 2 * S) == (5_000, -5_000) and place_at(one, 9 * S)[0] == 10_000
