"""A run that cannot be described to an engine is refused in words before anything starts."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from causeway.bridge.validation_spec import check_spec
from causeway.errors import UserError
from causeway.network.faults import LinkFailure, Partition
from causeway.network.links import Links
from causeway.network.networks import AbstractNetwork, MobileNetwork, constant_delay, normal_delay
from causeway.network.workload import Faults, Script, Segment, Workload
from tests.helpers.bridge_tools import small_spec


def script(time_ps: int = 0, node: int = 0, size_bytes: int = 0) -> Script:
    return Script(np.array([time_ps]), np.array([node]), np.array([size_bytes]))


def faults(*columns: Any) -> Faults:
    return Faults(*(np.array(column) for column in columns))


MOBILE = MobileNetwork(station_xy_mm=((0, 0), (5, 5)), wires=((0, 1),), hosts=2, workload=Workload(4))


def test_valid_descriptions_pass() -> None:
    check_spec(small_spec())
    check_spec(small_spec(network=MOBILE))


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"reaction_ps": 0}, r"the reaction time \(reaction_ps\) is 0; allowed: a whole number, 1 to"),
        ({"reaction_ps": 1.5}, r"the reaction time \(reaction_ps\) is 1.5; allowed: a whole number"),
        ({"duration_ps": -1}, r"the duration \(duration_ps\) is -1; allowed: a whole number, 0 to"),
        ({"seed": 1 << 63}, "the seed is 9223372036854775808; allowed: a whole number, 0 to 9223372036854775807"),
        ({"network": None}, "its network is NoneType; allowed: AbstractNetwork, MobileNetwork"),
    ],
)
def test_a_bad_run_is_refused(change: dict[str, Any], reported: str) -> None:
    with pytest.raises(UserError, match=reported):
        check_spec(small_spec(**change))


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"delay": constant_delay(math.nan)}, "the delay at quantile 0 is nan ns; allowed: 0 to"),
        ({"delay": np.sort(np.array([5e6, 1e6]))}, r"the delays' quantiles is float64, \(2,\); allowed: 16385 floats"),
        ({"delay": constant_delay(-1.0)}, "the delay at quantile 0 is -1000000.0 ns; allowed: 0 to"),
        ({"delay": constant_delay(1e18)}, r"the delay at quantile 0 is 1e\+24 ns; allowed: 0 to"),
        ({"loss": 1.5}, "the loss is 1.5; allowed: a number, 0 to 1"),
        ({"loss": math.nan}, "the loss is nan; allowed: a number, 0 to 1"),
        ({"send_ps": -1}, "send_ps is -1; allowed: a whole number, 0 to"),
        ({"send_ps_per_byte": 1 << 62}, "send_ps_per_byte is 4611686018427387904; allowed"),
        ({"nodes": 0}, "the number of nodes is 0; allowed: a whole number, 1 to 1048576"),
        ({"workload": Workload(4)}, "the workload's nodes is 4; allowed: a whole number, 0 to 3"),
        ({"workload": Workload(3, size_bytes=1 << 31)}, "the workload's size_bytes is 2147483648; allowed"),
        ({"workload": Workload(3, messages=5)}, r"the workload's messages is 5; allowed: 0 without a load, or a load"),
        ({"workload": Workload(3, segments=(Segment(0, math.inf),))}, "the rate_per_s of segment 0 .* is inf; allowed"),
        ({"workload": Workload(3, segments=(Segment(-5, 1.0),))}, "the start_ps of segment 0 .* is -5; allowed"),
        ({"workload": Workload(3, segments=(Segment(0.5, 1.0),))}, r"is 0.5; allowed: a whole number, .* picoseconds"),
        ({"workload": Workload(3, segments=(Segment(5, 1.0), Segment(2, 1.0)))}, "segment 2 .* is 2; .*in order"),
        ({"workload": Workload(3, segments=(7,))}, "segment 0 of the workload is a int; allowed: a Segment"),
        ({"workload": Workload(3, script=script(node=114))}, "the script's node, row 0, is 114; allowed: 0 to 2"),
        ({"workload": Workload(3, script=script(size_bytes=-1))}, "the script's size_bytes, row 0, is -1; allowed"),
        ({"workload": Workload(3, script=Script(np.zeros(2, int), np.zeros(1, int), np.zeros(2, int)))},
         "the script's node is 1 rows; allowed: 2 rows, as time_ps has"),
        ({"workload": Workload(3, script=Script(np.array([5, 4]), np.zeros(2, int), np.zeros(2, int)))},
         r"the script's time_ps, row 1, is 4; allowed: 5 and up \(ascending\)"),
        ({"faults": faults([5], [1_000_000], [0])}, "the faults' node, row 0, is 1000000; allowed: 0 to 2"),
        ({"faults": faults([5, 6], [1, 1], [0, 0])},
         r"the faults' row 1 is without effect \(node 1 goes down at 6 ps, but is down already\); allowed: down"),
        ({"faults": faults([5, 6, 7], [1, 2, 2], [0, 0, 0])}, "row 2 is without effect .node 2 goes down at 7 ps"),
        ({"faults": faults([5], [1], [1])}, "row 0 is without effect .node 1 goes up at 5 ps, but is up already"),
        ({"links": Links.graph(3, [(0, 1), (1, 2)]), "network_faults": (LinkFailure(0, 2, 5, 9),)},
         "network fault 0 is a failure of the link 0-2, which does not exist; allowed: links of the network"),
        ({"faults": faults([5], [1], [2])}, "the faults' up, row 0, is 2; allowed: 0 to 1"),
    ],
)  # fmt: skip
def test_a_bad_abstract_network_is_refused(change: dict[str, Any], reported: str) -> None:
    network = AbstractNetwork(3, delay=constant_delay(1.0), workload=Workload(3))
    with pytest.raises(UserError, match=reported):
        check_spec(small_spec(network=dataclasses.replace(network, **change)))


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"wires": ((0, 7),)}, "the station at an end of wire 0 is 7; allowed: a whole number, 0 to 1"),
        ({"wires": ((1, 1),)}, "wire 0 is from station 1 to itself; allowed: wires between two stations"),
        ({"wire_bps": 0}, "wire_bps is 0; allowed: a whole number, 1 to"),
        ({"wire_delay_ps": -5}, "wire_delay_ps is -5; allowed"),
        ({"speed_mm_s": -1}, "speed_mm_s is -1; allowed"),
        ({"station_xy_mm": ((1 << 31, 0), (0, 0))}, "the x of station 0, in mm is 2147483648; allowed"),
        ({"host_xy_mm": ((0.9, 0), (0, 0))}, "the x of host 0, in mm is 0.9; allowed: a whole number"),
        ({"host_xy_mm": ((0, 0), (0, math.nan))}, "the y of host 1, in mm is nan; allowed: a whole number"),
        ({"host_xy_mm": ((0, 0), (10**13, 0))}, "the x of host 1, in mm is 10000000000000; allowed"),
        ({"faults": 5}, "the network's faults is a int; allowed: Faults"),
        ({"hosts": -1}, "the workload's nodes is 4; allowed: a whole number, 0 to 1"),
    ],
)
def test_a_bad_mobile_network_is_refused(change: dict[str, Any], reported: str) -> None:
    with pytest.raises(UserError, match=reported):
        check_spec(small_spec(network=dataclasses.replace(MOBILE, **change)))


def test_failures_in_turns_and_of_links_that_exist_are_allowed() -> None:
    down_and_up = faults([5, 5, 6, 7, 7], [1, 2, 1, 1, 2], [0, 0, 1, 0, 1])
    failures = (LinkFailure(2, 1, 5, 9),)
    network = AbstractNetwork(
        3, workload=Workload(3), faults=down_and_up, links=Links.graph(3, [(0, 1), (1, 2)]), network_faults=failures
    )
    check_spec(small_spec(network=network))


def test_a_single_segment_in_place_of_a_tuple_is_reported() -> None:
    single: Any = Segment(0, 1.0)
    with pytest.raises(UserError, match=r"segments are a Segment; allowed: a tuple of Segment, as in segments=\(Seg"):
        Workload(3, segments=single)


def test_a_single_fault_in_place_of_a_tuple_is_reported() -> None:
    single: Any = Partition((0,), (1,), 0, 5)
    allowed = (
        r"network_faults is a Partition; allowed: a tuple of LinkFailure, Jammer and Partition, as in network_faults="
    )
    with pytest.raises(UserError, match=allowed):
        AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3), network_faults=single)
    with pytest.raises(UserError, match=allowed):
        MobileNetwork(station_xy_mm=((0, 0),), wires=(), hosts=2, workload=Workload(3), network_faults=single)


@pytest.mark.parametrize("given", [(-10, 3), (10, -3), (10, math.nan), (math.nan, 3), (10, 3, -1)])
def test_a_normal_delay_with_negative_parameters_is_refused(given: tuple[float, ...]) -> None:
    """A negative deviation used to count as 0, and a negative mean as the minimum."""
    with pytest.raises(UserError, match=r"_ms of a normal_delay is .*; allowed: 0 and up"):
        normal_delay(*given)


def test_a_first_segment_may_begin_at_a_number_of_numpy() -> None:
    assert Workload(3, segments=(Segment(np.int64(5), 1.0),)).segments[0] == Segment(0, 0.0)


@pytest.mark.parametrize(
    ("workload", "duration_ps", "ends"),
    [
        (Workload(3, segments=(Segment(0, 5.0),)), 0, False),
        (Workload(3, segments=(Segment(0, 0.0), Segment(5, 1.0))), 0, False),
        (Workload(3, segments=(Segment(0, 5.0),)), 10**12, True),
        (Workload(3, messages=1, segments=(Segment(0, 5.0),)), 0, True),
        (Workload(3, segments=(Segment(0, 5.0), Segment(5, 0.0))), 0, True),
        (Workload(3, script=script()), 0, True),
        (Workload(3), 0, True),
    ],
)
def test_a_load_without_end_needs_a_duration(workload: Workload, duration_ps: int, ends: bool) -> None:
    spec = small_spec(network=AbstractNetwork(3, delay=constant_delay(1), workload=workload), duration_ps=duration_ps)
    if ends:
        check_spec(spec)
        return
    with pytest.raises(UserError, match=r"the workload's messages is 0 .* and the run has no end; allowed: 1 and up"):
        check_spec(spec)
