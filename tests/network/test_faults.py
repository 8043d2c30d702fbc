"""Link failures, jammers and partitions on both packet-level engines and the abstract network, scripted or drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.bridge.validation_spec import check_spec
from causeway.errors import UserError
from causeway.network.faults import (
    Jammer,
    LinkFailure,
    Partition,
    random_jammers,
    random_link_failures,
    random_partitions,
)
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.stays import Stays
from causeway.network.workload import Faults, Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import PerNode
from causeway.studies.run_warnings import early_events, late_events
from tests.bridge.test_movement_of_engines import both
from tests.helpers.movement_probe import Chatty, Wired, ad_hoc
from tests.helpers.wireless_probe import MS, Log, S, logged, network

FROM, TO = 2 * S, 4 * S
PLACES = ((0, 0), (40_000, 0), (80_000, 0))


def times(log: Log, node: int, sender: int) -> list[int]:
    return [t for t, to, _, frm, _ in log.arrivals if (to, frm) == (node, sender)]


def during(rows: list[int]) -> list[int]:
    return [t for t in rows if FROM <= t < TO]


@both
def test_a_jammed_node_receives_nothing_and_is_still_received(probe):
    net = ad_hoc((None,) * 3, network_faults=(Jammer(-20_000, 0, 30_000, FROM, TO),))
    log, outcome = probe.run(type(net)(**{**vars(net), "host_xy_mm": PLACES}), 6, Chatty)
    quiet, _ = probe.run(type(net)(**{**vars(net), "host_xy_mm": PLACES, "network_faults": ()}), 6, Chatty)
    assert during(times(log, 0, 1)) == []
    assert len(times(log, 0, 1)) >= 35, "before and after it hears"
    assert times(log, 1, 0) == times(quiet, 1, 0), "it is heard by those outside"
    lost = [t for t, node, _ in log.lost if node == 0]
    assert len(during(lost)) == len(during(times(quiet, 0, 1))) + len(during(times(quiet, 0, 2)))
    assert outcome.finish.scalars["network", "copies_lost"] >= len(lost)


@both
def test_a_partition_separates_only_its_two_sides(probe):
    net = ad_hoc((None,) * 3, network_faults=(Partition((0,), (1,), FROM, TO),))
    log, _ = probe.run(type(net)(**{**vars(net), "host_xy_mm": PLACES}), 6, Chatty)
    assert during(times(log, 0, 1)) == during(times(log, 1, 0)) == []
    assert len(during(times(log, 2, 0))) == len(during(times(log, 2, 1))) == 20
    assert len(during(times(log, 0, 2))) == 20
    assert len(times(log, 0, 1)) >= 35


@both
def test_a_failed_link_loses_every_packet_until_its_repair(probe):
    log, outcome = probe.run(network(1, network_faults=(LinkFailure(0, 1, FROM, TO),)), 15, Wired)
    cut, whole = times(log, 1, 0), times(log, 2, 0)
    assert [t for t in cut if FROM + 20 * MS <= t < TO] == []
    assert len(during(whole)) == 20, "the other wire goes on"
    contents = [content for _, node, content, *_ in log.arrivals if node == 1]
    assert contents == list(range(100)), "TCP repeats what was lost, in order"
    assert outcome.finish.scalars["network", "tcp_broken"] == 0


@both
def test_a_partition_fails_the_wires_between_its_sides(probe):
    log, _ = probe.run(network(1, network_faults=(Partition((0,), (1, 3), FROM, TO),)), 6, Wired)
    assert [t for t in times(log, 1, 0) if FROM + 20 * MS <= t < TO] == []
    assert len(during(times(log, 2, 0))) == 20


@both
def test_faults_do_not_depend_on_windows(probe):
    net = ad_hoc((None,) * 3, network_faults=(Jammer(0, 0, 30_000, FROM, TO), Partition((1,), (2,), S, 5 * S)))
    net = type(net)(**{**vars(net), "host_xy_mm": PLACES})
    digests = {probe.run(net, 6, Chatty, cap=cap)[1].digest for cap in (0, 1)}
    assert len(digests) == 1


def test_on_the_abstract_network_copies_sent_during_a_fault_are_lost():
    network_faults = (LinkFailure(0, 1, FROM, TO), Partition((2,), (0, 1), 3 * S, 5 * S))
    log = Log()
    spec = RunSpec(
        "test",
        {},
        1,
        AbstractNetwork(3, delay=constant_delay(5), workload=Workload(3), network_faults=network_faults),
        MS,
        8 * S,
    )
    run_protocol(InlineEngine(), spec, PerNode(logged(Chatty, log)), [])
    left = {pair: [t - 5 * MS for t in times(log, *pair)] for pair in ((0, 1), (1, 0), (0, 2), (2, 1))}
    for pair in ((0, 1), (1, 0)):
        assert during(left[pair]) == [] and len(left[pair]) == 60
    for pair in ((0, 2), (2, 1)):
        assert [t for t in left[pair] if 3 * S <= t < 5 * S] == [] and len(left[pair]) == 60
    assert len(log.lost) == 2 * 20 + 4 * 20, "each copy is reported"


@pytest.mark.parametrize(
    "wrong", [{"per_s": math.inf}, {"per_s": -1.0}, {"mean_s": math.nan}, {"mean_s": -1.0}, {"until_s": math.inf}]
)
def test_a_rate_without_an_end_is_refused(wrong):
    with pytest.raises(UserError, match=f"{next(iter(wrong))} .*; allowed: "):
        random_link_failures(((0, 1),), 7, **{"per_s": 1.0, "mean_s": 1.0, "until_s": 10.0, **wrong})


def test_faults_at_a_rate_come_from_the_seed():
    made = random_link_failures(((0, 1), (1, 2)), 7, per_s=2.0, mean_s=0.5, until_s=1000.0)
    assert made == random_link_failures(((0, 1), (1, 2)), 7, per_s=2.0, mean_s=0.5, until_s=1000.0)
    assert made != random_link_failures(((0, 1), (1, 2)), 8, per_s=2.0, mean_s=0.5, until_s=1000.0)
    assert 1800 < len(made) < 2200
    assert 0.45 < sum(one.to_ps - one.from_ps for one in made) / len(made) / S < 0.55
    assert {(one.a, one.b) for one in made} == {(0, 1), (1, 2)}
    assert all(one.from_ps < 1000 * S for one in made)
    jammers = random_jammers((0, 100, 5000, 200), 10, 7, per_s=1.0, mean_s=1.0, until_s=500.0)
    assert all(0 <= one.x_mm < 5000 and 100 <= one.y_mm < 200 and one.radius_mm == 10 for one in jammers)
    parts = random_partitions(range(10), 7, per_s=1.0, mean_s=1.0, until_s=100.0)
    assert all(sorted(one.one + one.other) == list(range(10)) for one in parts)
    assert random_link_failures((), 7, 1.0, 1.0, 10.0) == () == random_link_failures(((0, 1),), 7, 0.0, 1.0, 10.0)


@pytest.mark.parametrize(
    ("network_faults", "message"),
    [
        (
            LinkFailure(1, 2, 0, S),
            "network fault 0 is a link failure between 1 and 2, which no wire joins; allowed: 0-1, 0-2",
        ),
        (LinkFailure(0, 1, S, S), r"the to_ps of network fault 0 is 10+; allowed: a whole number, 10+1 to"),
        (Jammer(0, 0, 0, 0, S), "the radius_mm of network fault 0 is 0; allowed"),
        (
            Partition((0, 1), (1, 2), 0, S),
            "network fault 0 is a partition that names a node twice; allowed: each node once, on one side",
        ),
        (Partition((0,), (9,), 0, S), "a node of network fault 0 is 9; allowed: a whole number, 0 to 4"),
        ("rain", "network fault 0 is str; allowed: LinkFailure, Jammer, Partition"),
    ],
)
def test_impossible_faults_are_refused_in_one_line(network_faults, message):
    with pytest.raises(UserError, match=message):
        check_spec(RunSpec("test", {}, 1, network(2, network_faults=(network_faults,)), MS))


def test_the_abstract_network_has_no_place_for_a_jammer():
    network_ = AbstractNetwork(
        2, delay=constant_delay(1), workload=Workload(2), network_faults=(Jammer(0, 0, 5, 0, S),)
    )
    with pytest.raises(
        UserError, match="network fault 0 is a jammer; allowed: LinkFailure, Partition: the abstract network has no"
    ):
        check_spec(RunSpec("test", {}, 1, network_, MS))


def test_faults_after_the_end_of_the_run_are_a_warning() -> None:
    faults = Faults(np.array([S, 9 * S, 9 * S]), np.array([0, 1, 2]), np.array([0, 0, 0]))
    network = AbstractNetwork(3, faults=faults, network_faults=(LinkFailure(0, 1, 5 * S, 9 * S),))
    assert late_events(network, 5 * S) == [
        "2 of 3 failures of nodes are after the end of the run, 5 s",
        "1 of 1 network faults are after the end of the run, 5 s",
    ]
    assert late_events(network, 0) == late_events(network, 10 * S) == []


def test_a_drawn_partition_has_nodes_on_both_sides() -> None:
    found = random_partitions(range(2), 1, per_s=5.0, mean_s=1.0, until_s=10.0)
    assert found and all(one.one and one.other for one in found)


def test_times_in_seconds_are_a_warning() -> None:
    """A fault from 2 to 5 ps has no effect: its author forgot `seconds`."""
    stays = Stays([0], [0], [5])
    script = Script(np.array([1, 2]), np.array([0, 0]), np.array([8, 8]))
    faults = (LinkFailure(0, 1, 2, 5),)
    network = AbstractNetwork(3, network_faults=faults, stays=stays, workload=Workload(script=script))
    end = "in the first microsecond; times are picoseconds, as seconds(2) or ms(300) return them"
    assert early_events(network) == [
        f"2 of 2 broadcasts of the script are {end}",
        f"1 of 1 network faults end {end}",
        f"1 of 1 stays of nodes last less than a microsecond;{end.partition(';')[2]}",
    ]
    later = AbstractNetwork(3, faults=Faults(np.array([0, S]), np.array([0, 0]), np.array([0, 1])))
    assert early_events(later) == []


def test_drawn_faults_take_seconds_and_ids() -> None:
    with pytest.raises(UserError, match=r"more than 1,000,000 random link failures.*until_s are numbers of seconds"):
        random_partitions(range(3), 7, per_s=1.0, mean_s=1.0, until_s=10 * S)
    with pytest.raises(UserError, match=r"random_partitions: nodes is 3; allowed: a list of whole numbers, as in"):
        random_partitions(3, 7, per_s=1.0, mean_s=1.0, until_s=10.0)
