"""VCube: clusters and trees are those of the papers; the failure detector is perfect."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, uniform_delay
from causeway.network.workload import Faults, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocols.icpp18.kernel import height_below
from causeway.pycontrol.protocols.vcube import tree as vcube
from causeway.pycontrol.protocols.vcube.detector import REPLY, Detector
from tests.helpers.drawn import examples

UNIT = 10**9


def c(i: int, s: int) -> list[int]:
    """The papers' recursive definition."""
    first = i ^ (1 << (s - 1))
    return [first] + [j for k in range(1, s) for j in c(first, k)]


def correct_of(processes: int, crashed: set[int]) -> bytearray:
    return bytearray(i not in crashed for i in range(processes))


def test_clusters_are_those_of_the_recursive_definition():
    for i in range(64):
        for s in range(1, 7):
            assert list(vcube.cluster(i, s)) == c(i, s)
            assert all(vcube.cluster_of(i, j) == s for j in c(i, s))


def test_the_papers_examples_hold():
    assert [next(vcube.cluster(0, s)) for s in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert vcube.ff_neighbor(0, 2, correct_of(16, {2})) == 3
    assert vcube.ff_neighbor(0, 1, correct_of(16, {1})) == -1
    assert sorted(vcube.subtree(4, vcube.cluster_of(4, 0) - 1, correct_of(8, set()))) == [5, 6]


@given(st.integers(1, 7), st.data())
def test_a_tree_reaches_every_correct_process_once_after_any_crashes(d: int, data: st.DataObject):
    n = 1 << d
    source = data.draw(st.integers(0, n - 1))
    crashed = data.draw(st.sets(st.integers(0, n - 1).filter(lambda i: i != source)))
    reached = [child for _, child in vcube.tree(source, n, correct_of(n, crashed))]
    assert sorted([source, *reached]) == [i for i in range(n) if i not in crashed]


@given(st.integers(1, 6), st.data())
def test_every_process_has_one_correct_tester_in_each_cluster_that_has_one(d: int, data: st.DataObject):
    n = 1 << d
    crashed = data.draw(st.sets(st.integers(0, n - 1)))
    correct = correct_of(n, crashed)
    testers = {(j, vcube.cluster_of(i, j)): 0 for i in range(n) for j in range(n) if i != j}
    for i in range(n):
        for j in vcube.tested_by(i, n, correct) if correct[i] else ():
            testers[j, vcube.cluster_of(i, j)] += 1
    for (j, s), count in testers.items():
        someone = any(correct[i] for i in vcube.cluster(j, s))
        assert count == (1 if correct[j] and someone else 0)


def test_the_bit_trick_for_children_agrees_with_the_trees():
    n = 32
    for root in range(n):
        edges = set(vcube.tree(root, n, correct_of(n, set())))
        assert edges == {(i, i ^ (1 << b)) for i in range(n) for b in range(height_below(i, root, n, False))}


def test_a_number_of_processes_that_is_no_power_of_two_is_refused():
    assert vcube.dimension(4096) == 12
    for processes in (0, 1, 3, 100, 8192):
        with pytest.raises(UserError, match="power of two"):
            vcube.dimension(processes)


# ---- the failure detector ------------------------------------------------------------------------------------------
ROUND_UNITS = 45


class Forgetful(Detector):
    """A mutant: its replies carry no news."""

    def send(self, peer, content, size_bytes, interface=0):
        super().send(peer, (content[0], 0) if content[0] == REPLY else content, size_bytes, interface)


class Hasty(Detector):
    """A mutant: waits half a unit for a reply."""

    def await_next(self):
        self.timeout_ps = UNIT // 2
        super().await_next()


def suspicions(n: int, crash_at: dict[int, int], seed: int, make: type[Detector] = Detector) -> list[set[int]]:
    """Return the suspected processes of each detector after log2(n)**2 + 1 rounds. Delays are uniform in 0.1..0.8."""
    found: list[set[int]] = [set() for _ in range(n)]
    end_ps = (vcube.dimension(n) ** 2 + 2) * ROUND_UNITS * UNIT
    protocol = PerNode(lambda i: make(i, n, 30 * UNIT, 4 * UNIT, found[i].add, lambda: protocol.now_ps < end_ps))
    rows = sorted((t, i) for i, t in crash_at.items())
    faults = Faults(
        np.array([t for t, _ in rows], np.int64),
        np.array([i for _, i in rows], np.int32),
        np.zeros(len(rows), np.uint8),
    )
    network = AbstractNetwork(
        n, delay=uniform_delay(0.1, 0.8), workload=Workload(n), send_ps=UNIT // 10, recv_ps=UNIT // 10, faults=faults
    )
    run_protocol(InlineEngine(), RunSpec("test", {}, seed, network, UNIT // 10), protocol, [])
    return found


@settings(max_examples=examples(60))
@given(st.sampled_from([2, 4, 8, 16]), st.integers(0, 10**6), st.data())
def test_every_correct_process_learns_of_every_crash_and_suspects_nobody_else(n: int, seed: int, data: st.DataObject):
    crashes = st.dictionaries(st.integers(0, n - 1), st.integers(0, 60 * UNIT), max_size=n - 1)
    crash_at = data.draw(crashes)
    for i, suspected in enumerate(suspicions(n, crash_at, seed)):
        if i not in crash_at:
            assert suspected == set(crash_at)
        else:
            assert suspected <= set(crash_at)


def test_without_crashes_in_replies_a_crash_stays_unknown_to_some():
    assert suspicions(8, {5: 0}, 1)[2] == {5}
    assert suspicions(8, {5: 0}, 1, Forgetful)[2] == set()


def test_with_too_short_a_timeout_correct_processes_are_suspected():
    assert any(suspicions(8, {}, 1, Hasty))
