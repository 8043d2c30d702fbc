"""Vector and probabilistic clocks: their guarantees, and violations that the checker detects."""

from __future__ import annotations

import numpy as np
import pytest

from causeway.errors import UserError
from causeway.pycontrol.protocols.clocks.entries import draw_entries
from causeway.pycontrol.protocols.clocks.node import ProbabilisticNode, ProbabilisticProcesses, VectorProcesses
from causeway.pycontrol.protocols.clocks.vector import VectorClock
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from tests.helpers.clock_runs import run


def test_a_process_counts_in_distinct_entries_of_its_own():
    f = draw_entries(7, 500, 50, 3)
    assert f.min() >= 0 and f.max() < 50
    assert (np.diff(f, axis=1) > 0).all(), "distinct, ascending"
    assert len({tuple(row) for row in f.tolist()}) > 400, "drawn for each process"
    assert np.bincount(f.ravel(), minlength=50).min() > 10, "every entry is used alike"
    assert (draw_entries(7, 10, 50, 3) == f[:10]).all() and not (draw_entries(8, 500, 50, 3) == f).all()


def test_a_process_may_have_all_entries():
    assert draw_entries(1, 3, 4, 4).tolist() == [[0, 1, 2, 3]] * 3


def test_too_many_entries_are_refused_in_words():
    with pytest.raises(UserError, match=r"entries=5 .* 4"):
        ProbabilisticClock(4, 5)


def test_vector_clocks_deliver_everything_once_and_in_causal_order():
    found = run(VectorClock()).scalars
    assert found["deliveries"] == 300 * 20
    assert found["violations"] == found["duplicates"] == found["missing"] == found["undelivered"] == 0
    assert found["arrivals_out_of_order"] == found["waited"] > 0, "the network does disorder messages"


def test_probabilistic_clocks_deliver_everything_once_and_some_of_it_out_of_order():
    found = run(ProbabilisticClock(10, 2)).scalars
    assert found["deliveries"] == 300 * 20
    assert found["duplicates"] == found["missing"] == 0
    assert found["violations"] > 0


@pytest.mark.parametrize("detect", [False, True])
def test_columns_and_nodes_give_the_same_digest(detect):
    columns, nodes = run(ProbabilisticClock(12, 2, detect)), run(ProbabilisticProcesses(12, 2, detect))
    assert columns.digest == nodes.digest
    assert columns.scalars["flagged"] == nodes.scalars["flagged"]
    assert (columns.scalars["flagged"] > 0) is detect


def test_vector_columns_and_nodes_give_the_same_digest():
    assert run(VectorClock()).digest == run(VectorProcesses()).digest


@pytest.mark.parametrize("cap", [1, 16])
def test_the_digest_does_not_depend_on_how_events_are_batched(cap):
    assert run(ProbabilisticClock(12, 2, True), cap=cap).digest == run(ProbabilisticClock(12, 2, True)).digest


def test_other_seed_other_digest():
    assert run(ProbabilisticClock(12, 2)).digest != run(ProbabilisticClock(12, 2), seed=2).digest


def test_the_authors_detector_flags_only_messages_ahead_in_every_entry():
    slow = run(ProbabilisticClock(12, 2, True), rate_per_s=2, messages=40).scalars
    assert slow["flagged"] == 0, "one message at a time: nothing concurrent, nothing to suspect"


class PrintedDetector(ProbabilisticNode):
    """The condition as printed: an error if some entry is just one behind."""

    def suspicious(self, m):
        return any(self.V[x] == m.V[x] - 1 for x in self.f[m.sender])


def test_the_detector_as_printed_flags_every_message_that_comes_in_order():
    class Printed(ProbabilisticProcesses):
        node_class = PrintedDetector

    found = run(Printed(12, 2, True), rate_per_s=2, messages=40).scalars
    assert found["violations"] == 0 and found["flagged"] == 40 * 19


def test_losses_do_not_corrupt_the_state():
    protocol = ProbabilisticClock(12, 2)
    found = run(protocol, loss=0.01).scalars
    lost_or_waiting = found["missing"]
    assert found["deliveries"] + lost_or_waiting == 300 * 20 and found["undelivered"] < lost_or_waiting


def test_memory_depends_on_the_messages_in_flight_not_on_all_messages():
    few, many = ProbabilisticClock(12, 2), ProbabilisticClock(12, 2)
    run(few, messages=200)
    run(many, messages=6000)
    assert len(many._s.need) <= 2 * len(few._s.need) and len(many._s.lines.spare) <= 4 * len(few._s.lines.spare)


@pytest.mark.slow
def test_vector_clocks_never_violate_in_ten_million_deliveries():
    found = run(VectorClock(), nodes=200, rate_per_s=100, messages=50_000).scalars
    assert found["deliveries"] == 10_000_000 and found["violations"] == 0


class TestMutants:
    """The checker catches each line of Algorithm 1 when it is broken."""

    def scalars(self, node_class):
        mutant = type("Mutant", (VectorProcesses,), {"node_class": node_class})
        return run(mutant(), rate_per_s=400).scalars

    def test_the_original_passes(self):
        found = self.scalars(ProbabilisticNode)
        assert found["violations"] == found["missing"] == 0

    def test_not_waiting(self):
        class Mutant(ProbabilisticNode):
            def deliverable(self, m):
                return True

        assert self.scalars(Mutant)["violations"] > 0

    def test_not_looking_at_the_other_entries(self):
        class Mutant(ProbabilisticNode):
            def deliverable(self, m):
                return all(self.V[x] >= m.V[x] - 1 for x in self.f[m.sender])

        assert self.scalars(Mutant)["violations"] > 0

    def test_not_looking_at_the_senders_entries(self):
        class Mutant(ProbabilisticNode):
            def deliverable(self, m):
                return all(self.V[x] >= m.V[x] for x in range(len(self.V)) if x not in self.f[m.sender])

        assert self.scalars(Mutant)["violations"] > 0

    def test_counting_a_delivery_twice(self):
        class Mutant(ProbabilisticNode):
            def deliver_remote(self, m):
                super().deliver_remote(m)
                self.V[self.f[m.sender][0]] += 1

        assert self.scalars(Mutant)["violations"] > 0

    def test_not_counting_deliveries(self):
        class Mutant(ProbabilisticNode):
            def deliver_remote(self, m):
                self.deliver(m.id)

        assert self.scalars(Mutant)["missing"] > 0

    def test_not_counting_own_broadcasts(self):
        class Mutant(ProbabilisticNode):
            def on_broadcast(self, number, size_bytes):
                super().on_broadcast(number, size_bytes)
                self.V[self.id] -= 1

        assert self.scalars(Mutant)["violations"] > 0

    def test_not_looking_again_after_a_delivery(self):
        class Mutant(ProbabilisticNode):
            def deliver_waiting(self):
                pass

        assert self.scalars(Mutant)["missing"] > 0

    def test_columns_that_compare_with_nothing(self):
        class Mutant(VectorClock):
            def on_window(self, window):
                actions = super().on_window(window)
                self._s.need[:] = 0
                return actions

        assert run(Mutant()).scalars["violations"] > 0
