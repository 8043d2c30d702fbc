"""The causality checker against full dependency sets, on histories no protocol would make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.pycontrol import checker as checker_module
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD, JOINED, LEFT
from causeway.pycontrol.slots import give_back
from tests.helpers.brute_checker import BruteChecker, Row
from tests.helpers.drawn import examples


def feed(checker: CausalityChecker, rows: list[Row]) -> list[bool]:
    """Pass all rows at once; return which of them are violations."""
    op, node, message = (np.array(c) for c in zip(*rows, strict=True))
    checker.observe(op.astype(np.uint8), np.zeros(len(rows), np.int64), node.astype(np.int32), message.astype(np.int64))
    return checker.last_violating.tolist()


def scalars_of(nodes: int, rows: list[Row]) -> dict[str, float]:
    checker = CausalityChecker(nodes)
    feed(checker, rows)
    return dict(checker.scalars())


@st.composite
def histories(draw, nodes: int = 4, longest: int = 60, changes: int = 1) -> list[Row]:
    """Broadcasts, and deliveries of anything broadcast so far in any order; with members that come and go.

    `changes` of 19 + `changes` steps are changes of the membership.
    """
    rows: list[Row] = []
    messages = 0
    steps = st.tuples(st.integers(0, 18 + changes), st.integers(0, nodes - 1), st.integers(0, 8), st.booleans())
    for choice, node, age, own in draw(st.lists(steps, min_size=1, max_size=longest)):
        if choice < 5 or messages == 0:
            rows.append((BROADCAST, node, messages))
            if own:
                rows.append((DELIVER, node, messages))
            messages += 1
        elif choice >= 19:
            rows.append((JOINED if own else LEFT, node, -1))
        else:
            op = {17: FLAGGED, 18: HELD}.get(choice, DELIVER)
            rows.append((op, node, max(0, messages - 1 - age)))
    return rows


def brute(nodes: int, rows: list[Row]) -> BruteChecker:
    other = BruteChecker(nodes)
    for row in rows:
        other.add(*row)
    return other


@settings(max_examples=examples(400))
@given(histories() | histories(nodes=4, changes=12), st.integers(1, 7))
def test_it_equals_full_dependency_sets_on_any_history(rows, batch):
    expected = brute(4, rows)
    checker = CausalityChecker(4)
    violating = []
    for first in range(0, len(rows), batch):
        violating += feed(checker, rows[first : first + batch])
    assert violating == expected.violating
    assert dict(checker.scalars()) == expected.scalars()


def random_history(seed: int, messages: int, nodes: int, backlog: int, lost: float = 0.002) -> list[Row]:
    """Return a history in which slots are recycled and grow: each node delivers up to `backlog` messages late."""
    random = np.random.default_rng(seed)
    rows: list[Row] = []
    waiting: list[list[int]] = [[] for _ in range(nodes)]
    for message in range(messages):
        sender = int(random.integers(nodes))
        rows += [(BROADCAST, sender, message), (DELIVER, sender, message)]
        for node in range(nodes):
            if node != sender and random.random() >= lost:
                waiting[node].append(message)
            while waiting[node] and (len(waiting[node]) > backlog or random.random() < 0.8):
                oldest = 0 if random.random() < 0.98 else int(random.integers(len(waiting[node])))
                rows.append((DELIVER, node, waiting[node].pop(oldest)))
    return rows


@pytest.mark.parametrize(("messages", "backlog"), [(600, 5), (400, 150)])
def test_it_equals_full_dependency_sets_while_slots_are_recycled_and_grow(messages, backlog):
    rows = random_history(1, messages, 5, backlog)
    expected = brute(5, rows)
    checker = CausalityChecker(5)
    assert feed(checker, rows) == expected.violating
    assert dict(checker.scalars()) == expected.scalars()
    assert expected.count["violations"] > 20, "the history is meant to violate causality"
    assert checker.capacity < messages, "slots are meant to be recycled"


def test_a_delivery_before_a_direct_cause_is_a_violation():
    rows = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0), (BROADCAST, 1, 1), (DELIVER, 1, 1), (DELIVER, 2, 1)]
    assert scalars_of(3, rows)["violations"] == 1


def test_a_cause_of_a_cause_counts_even_if_the_sender_itself_never_delivered_it():
    rows = [
        (BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0), (BROADCAST, 1, 1), (DELIVER, 1, 1),
        (DELIVER, 2, 1), (BROADCAST, 2, 2),  # node 2 missed message 0, but message 1 makes it a cause
        (DELIVER, 3, 2),
    ]  # fmt: skip
    found = scalars_of(4, rows)
    assert (found["violations"], found["messages_violated"]) == (2, 2)


def test_concurrent_messages_may_come_in_any_order():
    rows = [(BROADCAST, 0, 0), (BROADCAST, 1, 1), (DELIVER, 2, 1), (DELIVER, 2, 0), (DELIVER, 3, 0), (DELIVER, 3, 1)]
    assert scalars_of(4, rows)["violations"] == 0


def test_duplicates_and_missing_deliveries_are_counted():
    rows = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0), (DELIVER, 1, 0)]
    found = scalars_of(3, rows)
    assert (found["deliveries"], found["duplicates"], found["missing"]) == (2, 1, 1)


def test_a_duplicate_is_seen_after_everybody_has_delivered():
    rows = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0), (DELIVER, 1, 0)]
    assert scalars_of(2, rows)["duplicates"] == 1


def test_a_node_that_joined_is_owed_only_what_comes_after_and_one_that_left_nothing():
    rows = [
        (LEFT, 2, -1), (BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0),
        (JOINED, 2, -1), (BROADCAST, 0, 1), (DELIVER, 0, 1), (LEFT, 1, -1),
    ]  # fmt: skip
    assert scalars_of(3, rows)["missing"] == 1  # message 1 at node 2


def test_a_flag_is_right_if_delivering_at_that_moment_would_violate():
    rows = [
        (BROADCAST, 0, 0), (DELIVER, 0, 0), (BROADCAST, 0, 1), (DELIVER, 0, 1),
        (FLAGGED, 1, 1), (DELIVER, 1, 0), (FLAGGED, 1, 1), (DELIVER, 1, 1),
    ]  # fmt: skip
    found = scalars_of(2, rows)
    assert (found["flagged"], found["flagged_and_violated"], found["violations"]) == (2, 1, 0)
    assert found["arrivals_out_of_order"] == 1


def test_impossible_rows_are_refused_with_a_message():
    with pytest.raises(ValueError, match="the next message must be 0"):
        scalars_of(2, [(BROADCAST, 0, 1)])
    with pytest.raises(ValueError, match="has not been broadcast yet"):
        scalars_of(2, [(DELIVER, 0, 0)])


def test_memory_depends_on_the_messages_in_flight_not_on_all_messages():
    few, many = CausalityChecker(3), CausalityChecker(3)
    feed(few, random_history(2, 200, 3, 4, lost=0))
    feed(many, random_history(2, 20_000, 3, 4, lost=0))
    assert many.capacity == few.capacity


class TestMutants:
    """The comparison above detects seeded mistakes of the checker."""

    def disagrees(self) -> bool:
        rows = random_history(1, 300, 5, 5)
        return feed(CausalityChecker(5), rows) != brute(5, rows).violating

    def test_not_clearing_recycled_slots(self, monkeypatch):
        def sweep_without_clearing(s):
            for slot in s.dead[: s.now["dead"][0]]:
                give_back(s.slots, slot)
            s.now["dead"] = 0

        monkeypatch.setattr(checker_module, "_sweep", sweep_without_clearing)
        assert self.disagrees()

    def test_direct_causes_only(self, monkeypatch):
        original = checker_module._observe

        def forget_pasts(s, *rest):
            s.past[:] = 0  # what came through others is lost at every call
            return original(s, *rest)

        monkeypatch.setattr(checker_module, "_observe", forget_pasts)
        checker, rows = CausalityChecker(5), random_history(1, 300, 5, 5)
        violating = [v for row in rows for v in feed(checker, [row])]
        assert violating != brute(5, rows).violating
