"""A field of another type or shape than declared is an error of one line, and never a traceback or another meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.validation_spec import check_spec
from causeway.errors import UserError
from causeway.network.faults import Partition
from causeway.network.networks import (
    AbstractNetwork,
    InetNetwork,
    MobileNetwork,
    constant_delay,
    normal_delay,
    uniform_delay,
)
from causeway.network.workload import Faults, Script, Segment, Workload

S_PS = 10**12


def abstract(**fields: Any) -> AbstractNetwork:
    return AbstractNetwork(**{"nodes": 4, "delay": constant_delay(1), "workload": Workload(4), **fields})


def mobile(**fields: Any) -> MobileNetwork:
    load = Workload(2, first_node=2, messages=5, segments=(Segment(0, 10.0),))
    places, wires = ((0, 0), (100_000, 0)), ((0, 1),)
    return MobileNetwork(**{"station_xy_mm": places, "wires": wires, "hosts": 2, "workload": load, **fields})


def inet(**fields: Any) -> InetNetwork:
    return InetNetwork(**{"nodes": 4, "ini": "omnetpp.ini", "workload": Workload(4), **fields})


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "hosts as a float": (lambda: mobile(hosts=2.0), "hosts is 2.0; allowed: a whole number"),
    "hosts as text": (lambda: mobile(hosts="2"), "hosts is '2'; allowed: a whole number"),
    "no hosts": (lambda: mobile(hosts=None), "hosts is None; allowed: a whole number"),
    "a flag as text": (lambda: mobile(covered_only="no"), "covered_only is 'no'; allowed: True or False"),
    "TCP as text": (lambda: mobile(host_tcp="no"), "host_tcp is 'no'; allowed: True or False"),
    "no radio": (lambda: mobile(radio=None), "radio is None; allowed: text"),
    "one place": (lambda: mobile(station_xy_mm=(0, 1)), r"station_xy_mm is \(0, 1\); allowed: a tuple of positions"),
    "places of one number": (lambda: mobile(host_xy_mm=((0,), (1,))), "host_xy_mm is .* a tuple of positions"),
    "no places": (lambda: mobile(station_xy_mm=None), "station_xy_mm is None; allowed: a tuple of positions"),
    "one wire": (lambda: mobile(wires=(0, 1)), r"wires is \(0, 1\); allowed: a tuple of pairs"),
    "a wire of three": (lambda: mobile(wires=((0, 1, 2),)), "wires is .*; allowed: a tuple of pairs"),
    "one speed": (lambda: mobile(host_speeds_mm_s=5), "host_speeds_mm_s is 5; allowed: a tuple of whole numbers"),
    "an array of speeds": (
        lambda: mobile(host_speeds_mm_s=np.array([0, 3])),
        "host_speeds_mm_s is .* a tuple of whole",
    ),
    "no area": (lambda: mobile(area_mm=None), "area_mm is None; allowed: a tuple of whole numbers"),
    "no traces": (lambda: mobile(traces=None), "traces is None; allowed: a tuple with a trace"),
    "a ragged trace": (lambda: mobile(traces=([(0, 1, 2), (1, 2)], None)), "trace of host 0 is rows of several len"),
    "no workload": (lambda: abstract(workload=None), r"workload is None; allowed: a Workload, as in Workload\("),
    "a number of messages": (lambda: mobile(workload=7), "workload is 7; allowed: a Workload"),
    "a script of numbers": (lambda: Script(1, 0, 5), "Script: time_ps is 1; allowed: an array"),  # type: ignore[arg-type]
    "faults of numbers": (lambda: Faults(1, 0, 0), "Faults: time_ps is 1; allowed: an array"),  # type: ignore[arg-type]
    "a side that is a node": (
        lambda: abstract(network_faults=(Partition(0, 1, 0, 5),)),  # type: ignore[arg-type]
        r"a side of network fault 0 is \(0, 1\); allowed: a tuple of nodes",
    ),
    "a delay as text": (lambda: constant_delay("5"), "delay_ms of a constant_delay is '5'; allowed: a number"),  # type: ignore[arg-type]
    "a mean as text": (lambda: normal_delay("5", 1), "the mean_ms of a normal_delay is 5; allowed: 0 and up"),  # type: ignore[arg-type]
    "a bound as text": (lambda: uniform_delay("5", 1), "low_ms of a uniform_delay is '5'; allowed: a number"),  # type: ignore[arg-type]
    "patterns in a tuple": (lambda: inet(hosts=("a", "b")), r"hosts is \('a', 'b'\); allowed: text"),
    "one NED folder": (lambda: inet(ned_path="src"), "ned_path is 'src'; allowed: a tuple of texts"),
    "one library": (lambda: inet(libs="mine"), "libs is 'mine'; allowed: a tuple of texts"),
    "no ini": (lambda: inet(ini=None), "ini is None; allowed: text"),
    "a run as a float": (lambda: inet(run=1.0), "run is 1.0; allowed: a whole number"),
    "endless positions": (lambda: mobile(position_every_ps=1), "position_every_ps is 1; allowed: 0 .never., or 1,000,"),
    "endless records": (lambda: mobile(places_every_ps=999_999_999), "places_every_ps is 999999999; allowed: 0"),
    "places of other nodes": (
        lambda: abstract(node_xy_mm=((0, 0),)),
        "node_xy_mm has 1 positions for 4 nodes; allowed: one for each node, or none",
    ),
    "a place far away": (
        lambda: abstract(node_xy_mm=((0, 0), (0, 1 << 31), (0, 0), (0, 0))),
        "the y of node 1, in mm is 2147483648; allowed: a whole number",
    ),
    "an animation without places": (lambda: abstract(places_every_ps=S_PS), "which needs node_xy_mm; set both"),
    "endless records of one's own": (lambda: inet(places_every_ps=5), "places_every_ps is 5; allowed: 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_is_refused_in_one_line(name: str) -> None:
    make, expected = WRONG[name]
    with pytest.raises(UserError, match=expected) as error:
        check_spec(RunSpec("test", {}, 1, make(), 10**9, S_PS))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "network",
    [
        mobile(host_xy_mm=[[0, 0], [5, 5]], host_speeds_mm_s=[0, 3]),
        mobile(hosts=np.int64(2), covered_only=np.bool_(False), position_every_ps=10**9),
        mobile(station_xy_mm=tuple(np.array([[0, 0], [5, 5]]))),
        abstract(faults=Faults([1], [0], [0])),  # type: ignore[arg-type]
    ],
)
def test_lists_and_arrays_may_stand_for_tuples(network: Any) -> None:
    check_spec(RunSpec("test", {}, 1, network, 10**9, S_PS))
