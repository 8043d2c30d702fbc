"""The hash error detector: its deliveries and its requests, vectorized and as nodes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.hash.near import _put
from causeway.pycontrol.protocols.hash.node import App, HashDetectorNode, HashDetectorProcesses, Req, Rsp
from causeway.pycontrol.protocols.hash.search import find_dependencies, hash_of
from causeway.pycontrol.protocols.hash.state import Choices, Config, Near, Search
from causeway.pycontrol.protocols.hash.vectorized import HashDetector
from causeway.pycontrol.state_arrays import allocate
from tests.helpers.clock_runs import run
from tests.helpers.drawn import examples

LIMIT = 1000
SOME = {"nodes": 20, "rate_per_s": 60, "messages": 300}
FEW = {"nodes": 10, "rate_per_s": 60, "messages": 150}
"""For nodes, which try sets of messages one by one, in Python."""
MASK = np.uint64((1 << 64) - 1)


def test_nothing_is_delivered_out_of_order_and_nothing_is_left_out():
    found = run(HashDetector(20, 2, LIMIT), **SOME).scalars
    assert found["deliveries"] == 300 * 20
    assert found["violations"] == found["duplicates"] == found["missing"] == found["undelivered"] == 0
    assert found["requests"] == found["flagged"] >= found["flagged_and_violated"] > 0


def test_a_clock_alone_would_have_delivered_some_of_it_out_of_order():
    assert run(ProbabilisticClock(20, 2), **SOME).scalars["violations"] > 0


@pytest.mark.parametrize(
    ("clock_size", "limit", "retest"), [(16, 100, False), (6, 20, False), (20, 1000, False), (14, 20, True)]
)
def test_columns_and_nodes_give_the_same_digest(clock_size, limit, retest):
    columns = run(HashDetector(clock_size, 2, limit, retest=retest), **FEW)
    nodes = run(HashDetectorProcesses(clock_size, 2, limit, retest=retest), **FEW)
    assert columns.digest == nodes.digest
    assert columns.scalars["flagged"] == nodes.scalars["flagged"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clock_size", "limit", "near", "one_request", "retest"),
    [(16, 200, 30, False, False), (16, 8, 30, False, True), (12, 8, 40, True, False), (12, 8, 40, True, True),
     (12, 200, 0, True, False)],
)  # fmt: skip
def test_the_other_order_and_one_request_at_a_time_are_the_same_over_columns_and_as_nodes(
    clock_size, limit, near, one_request, retest
):
    given_ = {"retest": retest, "choices": Choices(near, one_request)}
    columns = run(HashDetector(clock_size, 2, limit, **given_), **FEW)
    nodes = run(HashDetectorProcesses(clock_size, 2, limit, **given_), **FEW)
    assert columns.digest == nodes.digest
    assert columns.scalars["flagged"] == nodes.scalars["flagged"] > 0
    assert columns.scalars["missing"] == columns.scalars["undelivered"] == 0


def test_a_full_list_of_near_messages_keeps_the_nearest() -> None:
    near = allocate(Near, node=1, near=1, entry=1, mate=2, set=1)
    for mate, distance in ((10, 3), (11, 1), (12, 9), (13, 2)):
        _put(near, 0, mate, distance)
    assert near.mates[0].tolist() == [11, 13] and near.distance[0].tolist() == [1, 2]
    _put(near, 0, 14, 2)
    assert near.mates[0].tolist() == [11, 13], "of equal distances, the lower id comes first"


def test_messages_beyond_the_reach_of_the_near_search_count_as_delivered():
    short, long = (run(HashDetector(12, 2, 8, choices=Choices(near)), **SOME).scalars for near in (10, 200))
    assert short["violations"] > 0 == long["violations"]


def test_leaving_out_near_messages_asks_for_sets_that_the_search_by_counts_finds():
    counts, near = (run(HashDetector(20, 2, 200, choices=Choices(near)), **SOME).scalars for near in (0, 60))
    assert near["requests"] > 2 * counts["requests"]
    assert near["flagged_and_violated"] / near["flagged"] < counts["flagged_and_violated"] / counts["flagged"]
    assert near["violations"] == near["missing"] == 0


def test_a_higher_limit_leaves_out_more_of_the_near_messages():
    requests = [
        run(HashDetector(20, 2, limit, choices=Choices(60)), **SOME).scalars["requests"] for limit in (1, 16, 4096)
    ]
    assert requests[0] > requests[1] > requests[2]


def test_a_quiet_process_skips_its_broadcasts_while_it_waits_for_an_answer():
    columns = run(HashDetector(12, 2, 8, choices=Choices(200, True, True)), **FEW)
    nodes = run(HashDetectorProcesses(12, 2, 8, choices=Choices(200, True, True)), **FEW)
    assert columns.digest == nodes.digest
    assert columns.scalars["messages"] == 150 - columns.scalars["skipped"] < 150
    assert columns.scalars["missing"] == columns.scalars["violations"] == 0


@pytest.mark.parametrize(("one_request", "at_once"), [(True, {1}), (False, {1, 2, 3})])
def test_with_one_request_at_a_time_the_next_one_waits_for_the_answer(one_request, at_once):
    seen = set()

    class Watched(HashDetectorNode):
        on_their_way = 0

        def send(self, peer, content, size_bytes):
            if isinstance(content, Req):
                self.on_their_way += 1
                seen.add(self.on_their_way)
            super().send(peer, content, size_bytes)

        def on_packet(self, content, sender, interface):
            self.on_their_way -= isinstance(content, Rsp)
            super().on_packet(content, sender, interface)

    made = type("Made", (HashDetectorProcesses,), {"node_class": Watched})
    assert run(made(12, 2, 8, choices=Choices(0, one_request)), **FEW).scalars["missing"] == 0
    assert seen >= at_once if not one_request else seen == at_once


@pytest.mark.parametrize("cap", [1, 2])
def test_the_digest_does_not_depend_on_how_events_are_batched(cap):
    capped, free = (run(HashDetector(20, 2, LIMIT), cap=c, **SOME) for c in (cap, 0))
    assert capped.digest == free.digest
    assert capped.windows > free.windows


def test_a_low_limit_costs_requests_but_no_causality():
    low, high = (run(HashDetector(20, 2, limit), **SOME).scalars for limit in (3, LIMIT))
    assert low["requests"] > 2 * high["requests"]
    assert low["flagged_and_violated"] < low["flagged"]
    assert low["violations"] == 0


def test_testing_again_saves_waiting_but_no_causality():
    once, again = (run(HashDetector(20, 2, LIMIT, retest=r), **SOME).scalars for r in (False, True))
    assert again["violations"] == again["missing"] == again["undelivered"] == 0
    assert again["requests"] < once["requests"]


def test_errors_that_a_short_hash_misses_are_counted():
    assert run(HashDetector(20, 2, LIMIT, choices=Choices(hash_bits=1)), **SOME).scalars["violations"] > 0


def test_looking_back_on_too_little_costs_requests_but_no_causality():
    short, long = (run(HashDetector(20, 2, LIMIT, remember=r), **SOME).scalars for r in (4, 4096))
    assert short["violations"] == 0
    assert short["requests"] > 2 * long["requests"]


def test_memory_depends_on_the_messages_in_flight_not_on_all_messages():
    few, many = HashDetector(40, 2, LIMIT), HashDetector(40, 2, LIMIT)
    run(few, messages=200, rate_per_s=40)
    run(many, messages=2000, rate_per_s=40)
    assert len(many._s.sender) <= 2 * len(few._s.sender)
    assert len(many._packets.kind) <= 4 * len(few._packets.kind)


# ---- Algorithm 3 against all subsets -----------------


def every_subset(senders, f, wanted, rest):
    """Return whether some subset of the deliveries counts `wanted` and has the hash `rest`, by trying all."""
    for size in range(len(senders) + 1):
        for subset in itertools.combinations(range(len(senders)), size):
            counted = np.zeros(len(wanted), int)
            for i in subset:
                counted[f[senders[i]]] += 1
            hashes = sum(int(hash_of(i)) for i in subset) & int(MASK)
            if (counted == wanted).all() and hashes == rest:
                return True
    return False


@settings(max_examples=examples(150))
@given(
    st.lists(st.integers(0, 5), min_size=0, max_size=8), st.integers(0, 255), st.integers(0, 3), st.integers(0, 5),
)  # fmt: skip
def test_the_search_finds_a_set_exactly_if_some_subset_matches(senders, members, lie, clock_shift):
    f = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 3]], np.int32)
    inside = [i for i in range(len(senders)) if members >> i & 1]
    wanted, rest = np.zeros(4, np.int32), 0
    for i in inside:
        wanted[f[senders[i]]] += 1
        rest += int(hash_of(i))
    if lie == 0:  # a dependency was not delivered: one more is in the sender's hash, and the clocks hide it
        rest -= int(hash_of(99))
        wanted[f[clock_shift]] -= 1
        if wanted.min() < 0:
            return
    rest &= int(MASK)
    ring_senders, ring_messages = np.zeros((1, 16), np.int32), np.zeros((1, 16), np.int64)
    ring_senders[0, : len(senders)], ring_messages[0, : len(senders)] = senders, range(len(senders))
    clock, need = wanted[None, :].copy(), np.zeros((1, 4), np.int32)
    given_ = {"clock": clock, "f": f, "need": need, "senders": ring_senders, "messages": ring_messages}
    search = allocate(Search, given_, node=1, own=2, entry=4, recent=16)
    search.delivered[0] = len(senders)
    config = Config(0, 0, 0, 0, MASK, 100_000, False)
    found, hashes = find_dependencies(search, config, 0, 0, np.uint64(rest))
    assert found == every_subset(senders, f, wanted, rest)
    assert hashes <= 2 ** len(senders)


# ---- broken on purpose -----------------


def mutant(node_class, limit=30):
    made = type("Mutant", (HashDetectorProcesses,), {"node_class": node_class})
    return run(made(16, 2, limit), **FEW | {"messages": 250}).scalars


def test_as_printed_some_messages_wait_for_ever_since_only_line_21_adds_to_deliv():
    class Printed(HashDetectorNode):
        def ready(self, waiting):
            received = {id_ for id_, sender in self.Deliv.items() if sender != self.id}
            return waiting.dep <= received if waiting.dep is not None else super().ready(waiting)

    assert mutant(Printed)["missing"] > 0, "an answer names a message of the process that asked"


class TestMutants:
    """The checker catches each line of Algorithms 2 and 3 when it is broken."""

    def test_the_original_passes(self):
        found = mutant(HashDetectorNode)
        assert found["violations"] == found["missing"] == 0

    def test_never_suspecting(self):
        class Mutant(HashDetectorNode):
            def error(self, m):
                return False

        assert mutant(Mutant)["violations"] > 0

    def test_delivering_on_the_answer_without_waiting_for_the_dependencies(self):
        class Mutant(HashDetectorNode):
            def ready(self, waiting):
                return waiting.dep is not None or super().ready(waiting)

        assert mutant(Mutant)["violations"] > 0

    def test_answering_with_the_dependencies_of_the_next_message(self):
        class Mutant(HashDetectorNode):
            def on_broadcast(self, number, size_bytes):
                super().on_broadcast(number, size_bytes)
                self.S_dep[max(self.S_dep)] = frozenset()

        assert mutant(Mutant)["violations"] > 0

    def test_never_answering(self):
        class Mutant(HashDetectorNode):
            def on_packet(self, content, sender, interface):
                if isinstance(content, App):
                    super().on_packet(content, sender, interface)

        assert mutant(Mutant)["missing"] > 0

    def test_a_hash_that_forgets_a_delivery_is_no_hash(self):
        class Mutant(HashDetectorNode):
            def handle(self, m):
                before = self.hash
                super().handle(m)
                self.hash = before

        made = type("Mutant", (HashDetectorProcesses,), {"node_class": Mutant})
        calm = {"nodes": 10, "rate_per_s": 5, "messages": 60}
        assert run(HashDetectorProcesses(30, 2, 100), **calm).scalars["flagged"] == 0
        assert run(made(30, 2, 100), **calm).scalars["flagged"] > 300
