"""Dynamic Clock Sets over columns: the same as the plain process by process version, and as a probabilistic clock."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, normal_delay, uniform_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.dcs.policies.balance import Balance
from causeway.pycontrol.protocols.dcs.policies.base import Policy, Wish, may_start
from causeway.pycontrol.protocols.dcs.policies.sized import Sized
from causeway.pycontrol.protocols.dcs.vectorized import DynamicClockSet
from tests.helpers.dcs_reference import ReferenceClockSet
from tests.helpers.drawn import examples

S_PS = 10**12


def up_and_down(low: float, high: float, duration_s: int) -> tuple[Segment, ...]:
    """A load that steps up, down, up and down again, then ends."""
    rates = [low, high, low, high, low]
    step = duration_s * S_PS // len(rates)
    return (*(Segment(i * step, r) for i, r in enumerate(rates)), Segment(duration_s * S_PS, 0.0))


def run(protocol, nodes=12, seed=1, load=(2.0, 40.0, 10), delay=None, cap=0):
    network = AbstractNetwork(
        nodes,
        delay=normal_delay(100, 20) if delay is None else delay,
        workload=Workload(nodes, segments=up_and_down(*load)),
    )
    spec = RunSpec("test", {}, seed, network, 10**9, (load[2] + 5) * S_PS, cap, passive_mask(protocol))
    return run_protocol(InlineEngine(), spec, protocol, [CausalityChecker(nodes)])


def dynamic(**kwargs):
    """A clock that grows and shrinks several times in a run of a few seconds."""
    policy = Sized(lambda load: load * 0.8, 4, 6)
    settings = {"component_size": 4, "capacity": 6, "memory_ps": S_PS // 2, "period_ps": S_PS // 10, **kwargs}
    return DynamicClockSet(policy, **settings)


class Anything(Policy):
    """Expands, moves and starts rounds at random, several at once."""

    ticks = True

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity

    def wish(self, view):
        wish, x = Wish.none(len(view.nodes)), view.draw()
        wish.grow_to = np.where(x < 0.05, np.minimum(view.active + 1, self.capacity), 0).astype(np.int32)
        wish.assign_below = np.where((x > 0.1) & (x < 0.6), np.maximum(view.active - 1, 1), -1).astype(np.int32)
        wish.avoid = np.where((x > 0.6) & (x < 0.65), view.s_incr[:, 0], -1)
        wish.deactivate, wish.remove = x > 0.93, (x > 0.86) & (x < 0.93)
        return wish


def test_the_clock_follows_the_load_and_every_round_and_message_completes():
    outcome = run(dynamic(), load=(2.0, 40.0, 20))
    found = outcome.scalars
    sizes = outcome.samples["dcs", "entries"][1]
    assert max(sizes) > 3 * sizes[-1]
    assert found["rounds"] > found["rounds_refused"]
    assert found["removed"] > 0
    for nothing in ("stuck", "undelivered", "duplicates", "missing", "rounds_open"):
        assert found[nothing] == 0, nothing
    assert found["deliveries"] == 12 * found["messages"] == found["handled"]


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize("assigned", [1, 2])
def test_the_vectorized_implementation_equals_the_reference(assigned, by_id):
    columns = run(dynamic(assigned=assigned, by_id=by_id))
    plain = run(ReferenceClockSet(dynamic(assigned=assigned, by_id=by_id)))
    assert columns.scalars["rounds"] > 5
    assert columns.digest == plain.digest


@settings(max_examples=examples(12))
@given(st.integers(0, 2**40), st.integers(2, 9), st.integers(2, 5), st.integers(1, 2), st.booleans())
def test_vectorized_and_reference_implementation_agree_for_any_policy(seed, nodes, size, assigned, wild):
    delay = uniform_delay(1, 400) if wild else None

    def make():
        return DynamicClockSet(
            Anything(4), component_size=size, capacity=4, increments=min(2, size), assigned=assigned,
            period_ps=S_PS // 10, memory_ps=S_PS,
        )  # fmt: skip

    columns = run(make(), nodes, seed, (5.0, 20.0, 5), delay)
    plain = run(ReferenceClockSet(make()), nodes, seed, (5.0, 20.0, 5), delay)
    assert columns.digest == plain.digest
    for nothing in ("stuck", "undelivered", "duplicates", "missing"):
        assert columns.scalars[nothing] == 0, nothing


@settings(max_examples=examples(12))
@given(st.integers(0, 2**40), st.integers(2, 6), st.booleans())
def test_with_an_entry_for_each_process_causality_holds_for_any_policy(seed, nodes, at_once):
    class Exact(DynamicClockSet):
        def start(self, context):
            super().start(context)
            self.s.f[:] = np.arange(nodes)[:, None]

    protocol = Exact(
        Anything(4), component_size=nodes, capacity=4, increments=1, period_ps=S_PS // 10, remove_at_once=at_once
    )
    found = run(protocol, nodes, seed, (5.0, 20.0, 5), uniform_delay(1, 400)).scalars
    assert found["arrivals_out_of_order"] > 0
    assert found["violations"] == found["stuck"] == found["missing"] == 0


def test_one_remove_round_is_about_all_inactive_components():
    for at_once in (False, True):
        protocol = dynamic(remove_at_once=at_once)
        found = run(protocol, load=(2.0, 40.0, 20)).scalars
        several = [r for r in protocol.mailroom.rounds if r.accepted and r.k < r.last]
        assert bool(several) == at_once
        assert found["removed"] > 0
        assert found["stuck"] == found["missing"] == 0


def test_components_chosen_by_process_number_are_used_equally_often():
    protocol = dynamic(by_id=True)
    run(protocol, nodes=12)
    last = protocol.s.limit > 1
    assert protocol.s.counts["assigned"][0] > 12
    assert (protocol.s.s_incr[last, 0] == np.arange(12)[last] % protocol.s.limit[last]).all()


def test_the_outcome_does_not_depend_on_where_windows_end():
    assert run(dynamic()).digest == run(dynamic(), cap=7).digest


def test_a_clock_of_one_component_is_a_probabilistic_clock():
    one = run(DynamicClockSet(Policy(), component_size=20)).scalars
    plain = run(ProbabilisticClock(20, 2)).scalars
    same = ("messages", "deliveries", "violations", "messages_violated", "arrivals_out_of_order", "waited")
    assert one["violations"] > 0
    assert {k: one[k] for k in same} == {k: plain[k] for k in same}


def test_balancing_moves_processes_off_the_busy_component():
    def outcome(policy):
        network = AbstractNetwork(
            40, delay=normal_delay(100, 20),
            workload=Workload(40, segments=(Segment(0, 50.0, 2 / 3, 10), Segment(30 * S_PS, 0.0))),
        )  # fmt: skip
        protocol = DynamicClockSet(policy, component_size=10, components=4, capacity=4, period_ps=S_PS)
        spec = RunSpec("test", {}, 1, network, 10**9, 33 * S_PS, 0, passive_mask(protocol))
        run_protocol(InlineEngine(), spec, protocol, [CausalityChecker(40)])
        return (protocol.s.s_incr[:10, 0] == 0).sum()

    assert outcome(Policy()) == 10
    assert outcome(Balance(every=5)) < 5


def test_the_turn_to_start_a_round_goes_to_each_process():
    nodes = np.arange(10, dtype=np.int32)

    def view(tick):
        return type("V", (), {"tick": tick, "nodes": nodes, "all_nodes": 10})()

    turns = [np.flatnonzero(may_start(view(t))).tolist() for t in range(10)]
    assert sorted(turns) == [[i] for i in range(10)]
