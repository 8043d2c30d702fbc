"""A node that leaves and joins is a new process: for the checker, for `causeway explain` and for models alike.

The reference implementation below keeps whole sets of messages, and makes a new process of a node that leaves.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.explore.model import Budget, Model
from causeway.explore.properties import causal_order
from causeway.explore.witness import ORDER, Witness
from causeway.pycontrol import checker as checker_module
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol import BROADCAST, DELIVER, JOINED, LEFT
from tests.helpers.brute_checker import Row
from tests.helpers.drawn import examples

NODES = 4


class Process:
    """One life of a node."""

    def __init__(self, member: bool) -> None:
        self.member = member
        self.past: set[int] = set()
        self.owed: set[int] = set()
        self.delivered: set[int] = set()


class Naive:
    """The pasts of messages and the violations of a history, by the definition."""

    def __init__(self) -> None:
        self.processes = [Process(True) for _ in range(NODES)]
        self.pasts: list[set[int]] = []
        self.violating: list[tuple[int, int]] = []

    def add(self, op: int, node: int, message: int) -> None:
        process = self.processes[node]
        if op == BROADCAST:
            self.pasts.append(set(process.past))
            process.past.add(message)
            for one in self.processes:
                if one.member:
                    one.owed.add(message)
        elif op == DELIVER:
            if self.pasts[message] & process.owed - process.delivered:
                self.violating.append((node, message))
            process.delivered.add(message)
            process.past |= self.pasts[message] | {message}
        elif op == LEFT or process.member:
            self.processes[node] = Process(member=op == JOINED)
        else:  # it joins: what it did since it left belongs to the new process
            process.member = True


@st.composite
def histories(draw) -> list[Row]:
    """Broadcasts, each delivered by its sender at once, and one delivery of any message by any node in each life."""
    rows: list[Row] = []
    got: list[set[int]] = [set() for _ in range(NODES)]
    messages = 0
    steps = st.tuples(st.integers(0, 9), st.integers(0, NODES - 1), st.integers(0, 5))
    for choice, node, age in draw(st.lists(steps, min_size=1, max_size=60)):
        if choice < 3 or messages == 0:
            rows += [(BROADCAST, node, messages), (DELIVER, node, messages)]
            got[node].add(messages)
            messages += 1
        elif choice < 8:
            message = max(0, messages - 1 - age)
            if message not in got[node]:
                rows.append((DELIVER, node, message))
                got[node].add(message)
        else:
            rows.append((LEFT if choice == 8 else JOINED, node, -1))
            got[node] = set()
    return rows


def naive(rows: list[Row]) -> Naive:
    found = Naive()
    for row in rows:
        found.add(*row)
    return found


def columns(rows: list[Row]) -> tuple[np.ndarray, ...]:
    op, node, message = (np.array(column) for column in zip(*rows, strict=True))
    return op.astype(np.uint8), np.zeros(len(rows), np.int64), node.astype(np.int32), message.astype(np.int64)


def checked(rows: list[Row]) -> list[tuple[int, int]]:
    """Return the violations that the causality checker finds, row by row."""
    checker, found = CausalityChecker(NODES), []
    for row in rows:
        checker.observe(*columns([row]))
        found += [row[1:]] if checker.last_violating[0] else []
    return found


def witnessed(rows: list[Row]) -> Witness:
    witness = Witness(NODES, wanted=len(rows) + 1)
    witness.observe(*columns(rows))
    return witness


class Quiet(Node):
    """Does nothing."""


def modelled(rows: list[Row]) -> tuple[Model, list[tuple[int, int]]]:
    """Return a model with this history, and its violations of causal order."""
    model, found = Model(PerNode(Quiet), NODES, 1, Budget()), []
    for op, node, message in rows:
        if op == BROADCAST:
            model.new_message(node)
            continue
        model.note(op, node, message)
        if op == DELIVER and causal_order(model, node):
            found.append((node, message))
    model.close()
    return model, found


def disagreements(rows: list[Row]) -> list[str]:
    """Return the names of what does not agree with the reference implementation."""
    expected, witness, (model, in_model) = naive(rows), witnessed(rows), modelled(rows)
    in_witness = [(one.node, one.message) for one in witness.violations if one.what == ORDER]
    found = {
        "checker": checked(rows) == expected.violating,
        "witness": in_witness == expected.violating,
        "pasts of the witness": witness._past == [sum(1 << m for m in past) for past in expected.pasts],
        "model": in_model == expected.violating,
        "pasts of the model": [set(past) for past in model.past] == expected.pasts,
    }
    return [name for name, agrees in found.items() if not agrees]


def unforgotten(rows: list[Row]) -> bool:
    """Return whether no message is delivered after everybody who is owed it has delivered it.

    The checker has forgotten the past of such a message (`test_checker.py` has these histories too).
    """
    owed: dict[int, set[int]] = {}
    members = set(range(NODES))
    for op, node, message in rows:
        if op == BROADCAST:
            owed[message] = set(members)
        elif op == DELIVER:
            if not owed[message]:
                return False
            owed[message].discard(node)
        else:
            for nodes in owed.values():
                nodes.discard(node)
            members = members | {node} if op == JOINED else members - {node}
    return True


@settings(max_examples=examples(300))
@given(histories())
def test_checker_witness_and_model_agree_with_the_definition_however_nodes_leave_and_join(rows):
    found = disagreements(rows)
    if not unforgotten(rows):
        found = [name for name in found if name != "checker"]
    assert found == []


RETURNED = [
    (BROADCAST, 0, 0), (DELIVER, 0, 0), (DELIVER, 1, 0),
    (LEFT, 1, -1), (JOINED, 1, -1), (BROADCAST, 1, 1), (DELIVER, 1, 1),
    (DELIVER, 2, 1), (DELIVER, 2, 0),
]  # fmt: skip
"""Node 1 delivers message 0, leaves, joins and broadcasts message 1; node 2 delivers 1 before 0."""


def test_a_node_that_left_and_joined_has_an_empty_causal_past():
    assert (naive(RETURNED).pasts, naive(RETURNED).violating) == ([set(), set()], [])
    assert disagreements(RETURNED) == []


def test_a_node_that_stays_depends_on_its_deliveries():
    rows = [row for row in RETURNED if row[0] not in (LEFT, JOINED)]
    assert checked(rows) == [(2, 1)]
    assert disagreements(rows) == []


def test_a_node_that_joins_again_without_leaving_is_a_new_process():
    rows = [row for row in RETURNED if row[0] != LEFT]
    assert checked(rows) == []
    assert disagreements(rows) == []


def test_broadcasts_of_a_joining_node_belong_to_its_new_process():
    rows = [
        (LEFT, 1, -1), (BROADCAST, 1, 0), (DELIVER, 1, 0), (JOINED, 1, -1), (BROADCAST, 1, 1), (DELIVER, 1, 1),
        (DELIVER, 2, 1),
    ]  # fmt: skip
    assert checked(rows) == [(2, 1)]
    assert disagreements(rows) == []


def test_a_message_of_the_former_life_may_be_delivered_again():
    rows = [*RETURNED[:5], (DELIVER, 1, 0)]
    checker, witness = CausalityChecker(NODES), witnessed(rows)
    checker.observe(*columns(rows))
    assert (checker.scalars()["duplicates"], checker.scalars()["unowed"], witness.violations) == (0, 1, [])


def test_an_arrival_in_the_former_life_does_not_stand_for_one_in_the_new():
    before = [(BROADCAST, 0, 0), (DELIVER, 0, 0), (BROADCAST, 0, 1), (DELIVER, 0, 1)]
    assert disagreements([*before, (LEFT, 1, -1), (JOINED, 1, -1), (DELIVER, 1, 1)]) == []


def test_a_checker_that_keeps_the_past_of_a_former_life_is_detected(monkeypatch: pytest.MonkeyPatch):
    original = checker_module._observe

    def keeps(s, op, *rest):
        known = s.known.copy()
        row = original(s, op, *rest)
        if op[0] in (LEFT, JOINED):
            s.known[:] = known
        return row

    monkeypatch.setattr(checker_module, "_observe", keeps)
    assert disagreements(RETURNED) == ["checker"]
