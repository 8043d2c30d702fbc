"""Causal broadcast with aggregation: causal in every order of events, the same over columns as written in the paper."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.bridge.events import Window
from causeway.errors import RunError, UserError
from causeway.explore import exhaustive
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import PerNode
from causeway.pycontrol.protocol import Context, Protocol
from causeway.pycontrol.protocols.icpp18.compared import compare
from causeway.pycontrol.protocols.icpp18.node import CausalNode, causal_nodes, children, first_child
from causeway.pycontrol.protocols.icpp18.vectorized import CausalAggregation, Wire
from causeway.pycontrol.state_arrays import fields
from causeway.studies.icpp18 import exploration
from causeway.studies.icpp18.study import UNIT_PS, Icpp18Params, Icpp18Study
from causeway.studies.runner import Job, run_job
from causeway.studies.trial import Trial
from tests.helpers.drawn import examples

STUDY = Icpp18Study()


def run(params: Icpp18Params, seed: int = 1, protocol: Protocol | None = None, cap: int = 0) -> Outcome:
    """One run on the inline engine, checked for causality."""
    spec = RunSpec("icpp18", {}, seed, STUDY.network(params, seed), STUDY.reaction_ps(params), cap=cap)
    checker = CausalityChecker(params.nodes)
    return run_protocol(InlineEngine(), spec, protocol or STUDY.protocol(params), [checker])


def as_in_the_paper(params: Icpp18Params) -> PerNode:
    wire = Wire(params.message_size, mtu_bytes=params.mtu)
    return causal_nodes(params.nodes, params.aggregation, params.trees == "single", wire)


points = st.builds(
    Icpp18Params,
    nodes=st.sampled_from([2, 4, 8, 16]),
    aggregation=st.booleans(),
    trees=st.sampled_from(["multi", "single"]),
    messages=st.integers(1, 4),
    mtu=st.sampled_from([200, 1500]),
    spread=st.sampled_from([10.0, 300.0, 2000.0]),
    delay_sd=st.sampled_from([0.0, 25.0, 90.0]),
    start=st.sampled_from(["triangular", "uniform"]),
)


# ---- correct -------------------------------------------------------------------------------------------------------
@settings(max_examples=examples(60))
@given(points, st.integers(0, 10**6))
def test_everything_is_delivered_once_in_causal_order_and_both_implementations_agree(params, seed):
    columns, paper = run(params, seed), run(params, seed, as_in_the_paper(params))
    assert columns.digest == paper.digest
    for scalars in (columns.scalars, paper.scalars):
        assert scalars["violations"] == scalars["duplicates"] == 0
        assert scalars["deliveries"] == params.nodes**2 * params.messages
    if not params.aggregation and params.trees == "multi":
        assert columns.scalars["packets"] == params.messages * params.nodes * (params.nodes - 1)


def test_both_implementations_agree_where_bitsets_span_words():
    for more in ({"mtu": 200}, {"trees": "single"}):
        params = Icpp18Params(nodes=128, **more)
        assert run(params).digest == run(params, protocol=as_in_the_paper(params)).digest


def test_windows_of_any_size_give_the_same_run():
    params = Icpp18Params(nodes=64)
    assert run(params).digest == run(params, cap=1).digest == run(params, cap=50).digest


def test_no_packet_is_bigger_than_the_mtu_and_full_ones_are_split():
    small, big = Icpp18Params(nodes=64, mtu=300), Icpp18Params(nodes=64)
    assert run(big).scalars["packets_full"] == 0 < run(small).scalars["packets_full"]
    assert run(small).scalars["packets_to_400_bytes"] == run(small).scalars["packets_over_400_bytes"] == 0
    assert run(small).scalars["packets"] > run(big).scalars["packets"]


def test_a_message_that_fits_no_packet_is_refused():
    with pytest.raises(UserError, match="do not fit an mtu of 1500"):
        run(Icpp18Params(message_size=1500))


def test_aggregation_saves_packets_and_the_single_tree_saves_less():
    saved = 64 * 63 - run(Icpp18Params(nodes=64)).scalars["packets"]
    single = 64 * 63 + 63 - run(Icpp18Params(nodes=64, trees="single")).scalars["packets"]
    assert saved > 200 and 0 < single < saved / 2


def test_children_are_those_of_the_papers_examples_in_its_order():
    assert children(0, 0, 3) == [1, 2, 4]
    assert children(4, 0, 3) == [5, 6]
    assert children(4, 2, 3) == [5]


class CountsHeld(CausalNode):
    """Looks into `pending` after every packet."""

    held = largest = 0
    not_state = frozenset({"held", "largest"})

    def on_packet(self, content, sender, interface):
        super().on_packet(content, sender, interface)
        CountsHeld.held += sum(m in self.pending for m in content)
        CountsHeld.largest = max(CountsHeld.largest, len(self.pending))


@pytest.mark.parametrize("trees", ["multi", "single"])
def test_held_counts_messages_that_cannot_be_delivered_after_their_whole_packet(trees, monkeypatch):
    monkeypatch.setattr(CountsHeld, "held", 0)
    monkeypatch.setattr(CountsHeld, "largest", 0)
    params = Icpp18Params(nodes=32, trees=trees, delay_sd=60.0)
    run(params, protocol=PerNode(lambda i: CountsHeld(i, 32, True, trees == "single", Wire())))
    scalars = run(params).scalars
    assert (scalars["messages_held"], scalars["buffered_max"]) == (CountsHeld.held, CountsHeld.largest)
    assert scalars["messages_held"] > 0


class CountsQueues(CausalNode):
    """Every packet carries when it was to leave; what it took longer than the wire, it waited for the sender's CPU."""

    waited_ps = packets = 0
    not_state = frozenset({"waited_ps", "packets"})

    def send(self, k, content, size):
        super().send(k, (content, self.now_ps + STUDY.reaction_ps(None)), size)

    def on_packet(self, content, sender, interface):
        CountsQueues.waited_ps += self.now_ps - content[1] - UNIT_PS - 100 * UNIT_PS
        CountsQueues.packets += 1
        super().on_packet(content[0], sender, interface)


@pytest.mark.parametrize("aggregation", [True, False])
def test_the_queueing_time_is_the_rest_of_a_packets_latency(aggregation, monkeypatch):
    monkeypatch.setattr(CountsQueues, "waited_ps", 0)
    monkeypatch.setattr(CountsQueues, "packets", 0)
    params = Icpp18Params(nodes=32, aggregation=aggregation, delay_sd=0.0, spread=100.0)
    run(params, protocol=PerNode(lambda i: CountsQueues(i, 32, aggregation, False, Wire())))
    assert CountsQueues.waited_ps > CountsQueues.packets * UNIT_PS // 2, "there are queues"
    assert run(params).scalars["queue_wait_ps"] == CountsQueues.waited_ps / CountsQueues.packets


def test_a_broadcast_alone_waits_for_its_own_copies_only():
    """Three children are served one after the other: they wait 0, 1 and 2 units; those below them less."""
    params = Icpp18Params(nodes=8, aggregation=False, delay_sd=0.0, spread=1e6)
    waits = [0 + 1 + 2, 0 + 1, 0]  # the source; who heads four nodes; who heads two
    assert run(params).scalars["queue_wait_ps"] == pytest.approx(sum(waits) / 7 * UNIT_PS)


# ---- compared with none aggregated ---------------------------------------------------------------------------------
def test_a_compared_run_is_the_run_itself_beside_the_one_without_aggregation():
    compared = run(Icpp18Params(nodes=64, compare=True))
    with_, without = run(Icpp18Params(nodes=64)), run(Icpp18Params(nodes=64, aggregation=False))
    assert compared.digest == with_.digest
    assert compared.scalars["pairs"] == round(with_.scalars["packets_of_2"] * with_.scalars["packets"] / 100) > 0
    for latency in ("reception", "delivery"):
        name = f"{latency}_latency_ps"
        change = 100 * (with_.scalars[name] / without.scalars[name] - 1)
        assert compared.scalars[f"{latency}_change"] == pytest.approx(change)
    longer = 100 * (without.scalars["queue_wait_ps"] / with_.scalars["queue_wait_ps"] - 1)
    assert compared.scalars["queue_wait_longer"] == pytest.approx(longer)
    shares = ("independent_share", "dependencies_1_4", "dependencies_5_9", "dependencies_10_12", "dependencies_over_12")
    change = max(abs(with_.scalars[s] - without.scalars[s]) for s in shares)
    assert compared.scalars["dependencies_change"] == pytest.approx(change) and change > 0


def test_pairs_are_compared_with_the_same_copies_sent_alone():
    born_ps = np.array([100, 200])
    nothing, kept = (0, 0, 0), fields(company="i8", came_ps="i8", delivered_ps="i8")
    empty = {"entries": np.ones(2, np.int32), "counts": np.zeros(1, [("queue_ps", "i8"), ("packets", "i8")])}
    with_ = SimpleNamespace(
        **empty, born_ps=born_ps, kept=np.array([[nothing, (2, 260, 260)], [(2, 160, 180), (1, 230, 240)]], kept)
    )  # node, slot
    without = SimpleNamespace(
        **empty, born_ps=born_ps, kept=np.array([[nothing, (1, 230, 240)], [(1, 150, 180), (1, 220, 240)]], kept)
    )
    changes = compare(with_, without)  # type: ignore[arg-type]
    assert changes["pairs"] == 1
    assert changes["pair_reception_change"] == pytest.approx(100 * (60 + 60) / (30 + 50) - 100)
    assert changes["pair_delivery_change"] == pytest.approx(100 * (60 + 80) / (40 + 80) - 100)
    assert changes["pair_wait_change"] == pytest.approx(100 * (0 + 20) / (10 + 30) - 100)
    assert changes["wait_change"] == pytest.approx(100 * (0 + 20 + 10) / (10 + 30 + 20) - 100)


def test_only_aggregation_can_be_compared_with_none():
    with pytest.raises(ValueError, match="set aggregation=true"):
        Icpp18Params(aggregation=False, compare=True)


# ---- every order of events -----------------------------------------------------------------------------------------
def covered(aggregate: bool = True, trees: str = "multi") -> exhaustive.Covered:
    """Every schedule of 3 messages among 4 nodes, whoever broadcasts."""
    trial = Trial("icpp18", {"aggregation": aggregate, "trees": trees}, budget={"broadcasts": 3}, every=True)
    return exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 1000.0)


@pytest.mark.parametrize("aggregate,trees", [(True, "multi"), (False, "multi"), (True, "single")])
def test_every_schedule_of_events_of_3_messages_among_4_nodes_is_causal_and_complete(aggregate, trees):
    found = covered(aggregate, trees)
    assert (found.complete, found.broken) == (True, None) and found.states > 10_000


# ---- printed lines that fail, and mutants --------------------------------------------------------------------------
class NoFirstCluster(exploration.Counting):
    """Algorithm 1, line 3 as printed: 1 < s."""

    def children_of(self, source):
        return [k for k in super().children_of(source) if k != first_child(self.i, 1)]


class SmallerThanItsOwnEntry(exploration.Counting):
    """Line 30 without an exception for the sender: every entry must be covered, its own too."""

    def deliverable(self, m):
        return super().deliverable(m) and all(x <= y for x, y in zip(m.vc, self.vector_clock, strict=True))


class Eager(exploration.Counting):
    """A mutant: delivers what is next from its sender, whatever else it depends on."""

    def deliverable(self, m):
        return m.vc[m.s] == self.vector_clock[m.s] + 1


class SendsTwice(CausalNode):
    """A mutant without the first condition of line 26: what was sent before is sent again."""

    def check_agg(self, k, m):
        never = [0] * self.node_count
        return super().check_agg(k, type(m)(m.s, tuple(never), m.number, m.size_bytes))


class WaitsForOthers(exploration.Counting):
    """A mutant of line 26: waits for messages that somebody else forwards to the child."""

    def check_agg(self, k, m):
        return [o for o in super().check_agg(k, m) if all(a <= b for a, b in zip(o.vc, self.vector_max, strict=True))]


@pytest.mark.parametrize(
    "mutant,what",
    [
        (NoFirstCluster, "never delivers"),
        (SmallerThanItsOwnEntry, "never delivers"),
        (Eager, "causal order"),
        (WaitsForOthers, "never delivers"),
    ],
)
def test_mutants_and_printed_lines_are_caught(mutant, what, monkeypatch):
    monkeypatch.setattr(exploration, "Counting", mutant)
    assert what in covered().broken


def test_without_the_first_condition_of_line_26_messages_travel_twice():
    params = Icpp18Params(nodes=32)
    wasteful = run(params, protocol=PerNode(lambda i: SendsTwice(i, 32, True, False, Wire())))
    assert wasteful.scalars["packets"] > run(params).scalars["packets"]


# ---- on OMNeT++ ----------------------------------------------------------------------------------------------------
@pytest.mark.omnet
@pytest.mark.parametrize("point", [{"nodes": 64}, {"nodes": 32, "trees": "single", "messages": 2}])
def test_digests_are_equal_on_omnet(point):
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    digests = {run_job(Job("icpp18", point, 1, engine)).outcome.digest for engine in ("inline", "omnet")}
    assert len(digests) == 1


# ---- what its kernel has no room for --------------------------------------------------------------------------------
def test_more_broadcasts_of_a_node_than_there_is_room_for_are_refused():
    protocol = CausalAggregation(1, True, False, Wire())
    protocol.start(Context(4, 1, 1))
    columns = ([5, 5], [0, 1], [3, 3], [0, 1], [0, 0])
    types = (np.uint8, np.int64, np.int32, np.int64, np.int32)
    window = Window(7, 2, True, *(np.array(c, t) for c, t in zip(columns, types, strict=True)))
    with pytest.raises(RunError, match=r"window 7 is wrong: .* broadcast 2 of node 3; allowed: 1 of each node"):
        protocol.on_window(window)


def test_a_packet_in_the_queue_takes_in_later_messages_to_the_same_child():
    alone, grown = (
        run_job(Job("icpp18", {"nodes": 32, "aggregation": False, "in_queue": q, "spread": 20.0}, 1, "inline")).scalars
        for q in (False, True)
    )
    assert alone["packets"] == 32 * 31
    assert grown["packets"] < alone["packets"]
    assert grown["largest_aggregate"] > 1
    assert grown["deliveries"] == 32 * 32
    assert grown["violations"] == grown["missing"] == grown["duplicates"] == 0


def test_a_queue_in_which_nothing_waits_changes_nothing():
    plain, queueing = (
        run_job(Job("icpp18", {"nodes": 2, "in_queue": q, "spread": 5000.0}, 1, "inline")).outcome.digest
        for q in (False, True)
    )
    assert plain == queueing


def test_nodes_that_differ_delay_messages_and_keep_their_order():
    equal, differing = (
        run_job(Job("icpp18", {"nodes": 32, "slow": slow}, 1, "inline")).scalars for slow in (0.0, 200.0)
    )
    assert differing["reception_latency"] > equal["reception_latency"] + 50
    assert differing["violations"] == differing["missing"] == 0


def test_the_first_broadcasts_are_left_out_of_the_dependencies():
    whole, later = (
        run_job(Job("icpp18", {"nodes": 32, "messages": 3, "warmup": first}, 1, "inline")).scalars for first in (0, 2)
    )
    assert whole["packets"] == later["packets"]
    assert later["independent_share"] < whole["independent_share"], "only the very first ones have no dependency"


def test_delays_may_be_truncated_to_whole_units():
    """Cutting makes a delay half a unit shorter on average; nearly all times are then whole units."""
    cut, whole = (Icpp18Study().network(Icpp18Params(nodes=8, whole_units=w), 1).delay for w in (True, False))
    assert (cut % 1_000_000 == 0).all() and ((whole - cut) >= 0).all()
    assert (whole - cut).mean() == pytest.approx(500_000, rel=0.02)
    between = np.mean(cut[1:] != cut[:-1])
    assert between < 1 / 80, "what is drawn between two units"
    digests = {
        run_job(Job("icpp18", {"nodes": 16, "whole_units": w}, 1, "inline")).outcome.digest for w in (True, False)
    }
    assert len(digests) == 2
