"""Exhaustive search: the reduction omits nothing that a single node could observe; counts are the known ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from causeway.errors import UserError
from causeway.explore import exhaustive, properties, schedules
from causeway.explore.model import Budget, Model
from causeway.explore.properties import Rules
from causeway.pycontrol.frozen import frozen
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocols.clocks.node import VectorProcesses
from causeway.studies.trial import Trial

TEXTBOOK = Path(__file__).resolve().parents[2] / "examples" / "textbook"
ARRIVES = Rules((properties.everything_arrives,), ordered=False)


class Echo(Node):
    """Answers what it hears once, after a while."""

    def on_start(self) -> None:
        self.heard: frozenset[int] = frozenset()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, 10)

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content not in self.heard:
            self.heard |= {content}
            self.deliver(content)
            self.set_timer(content, 5)

    def on_timer(self, key: object) -> None:
        self.send(0, key, 10)

    def on_up(self) -> None:
        self.send(EVERYONE, -1, 10)


class Relay(Echo):
    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content >= 0 and content not in self.heard:
            self.heard |= {content}
            self.deliver(content)
            self.send(EVERYONE, content, 10, interface=1)


def make(kind: Callable[[], PerNode], nodes: int = 3, **budget: int) -> Callable[[], Model]:
    return lambda: Model(kind(), nodes, Budget(**budget), watched=())


def name_of(model, message: int) -> object:
    """Return the identity of a message, independent of its number in the search."""
    return (model.source[message], frozenset(name_of(model, m) for m in model.past[message]))


@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        (VectorProcesses, {"broadcasts": 2}),
        (VectorProcesses, {"broadcasts": 2, "losses": 1}),
        (lambda: PerNode(Echo), {"broadcasts": 2}),
        (lambda: PerNode(Relay), {"broadcasts": 1, "duplicates": 1}),
        pytest.param(lambda: PerNode(Relay), {"broadcasts": 2, "losses": 1}, marks=pytest.mark.slow),
        (lambda: PerNode(Relay), {"broadcasts": 1, "crashes": 1}),
    ],
    ids=["vector", "vector and a loss", "echo", "relay and a duplicate", "relay and a loss", "relay and a crash"],
)
def test_the_reduction_meets_every_state_of_a_single_node_and_every_kind_of_end(kind, budget) -> None:
    def ends_of(reduce: bool) -> tuple[set[object], int, int]:
        ends = set()

        def note(model: object) -> None:
            names = [[name_of(model, m) for m in row] for row in model.delivered]
            ends.add(frozen([sorted(row, key=repr) for row in names]))

        covered = exhaustive.search_exhaustively(
            make(kind, **budget), Rules((note,), ordered=False), 10**6, 100.0, reduce=reduce
        )
        assert covered.complete
        return ends, covered.locals, covered.states

    whole, reduced = ends_of(False), ends_of(True)
    assert reduced[:2] == whole[:2]


def test_the_reduction_visits_far_fewer_states() -> None:
    whole, reduced = (
        exhaustive.search_exhaustively(make(VectorProcesses, broadcasts=3), ARRIVES, 10**6, 60.0, reduce=r)
        for r in (False, True)
    )
    assert reduced.states * 2 < whole.states + 100
    assert reduced.steps * 3 < whole.steps


def test_three_causal_broadcasts_of_three_nodes_are_explored_completely() -> None:
    model = make(VectorProcesses, broadcasts=3)
    covered = exhaustive.search_exhaustively(model, ARRIVES, 10**6, 60.0)
    assert (covered.complete, covered.broken, covered.states) == (True, None, 2024)


@pytest.mark.parametrize(("managers", "states"), [(3, 288), (5, 8832)])
def test_two_phase_commit_has_as_many_states_as_others_publish(managers: int, states: int) -> None:
    """Stateright's counts. TLC's example has three managers, too: 288 states, of depth 11."""
    trial = Trial(str(TEXTBOOK / "two_phase_commit.py"), {"nodes": managers + 1})
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 60.0)
    assert (covered.complete, covered.states, covered.broken) == (True, states, None)
    assert managers != 3 or covered.depth + 1 == 11


def test_the_plan_of_a_reduced_search_repeats_the_violation() -> None:
    def model() -> Model:
        return Model(PerNode(Echo), 3, Budget(broadcasts=2), watched=(properties.causal_order,))

    covered = exhaustive.search_exhaustively(model, ARRIVES, 10**6, 60.0, reduce=True)
    assert covered.broken is not None
    plan, again = exhaustive.simplest(model, ARRIVES, covered), model()
    again.clocks = covered.clocks
    assert schedules.follow(again, plan, ARRIVES).startswith("causal order: ")
    assert len(plan) == 3


def test_nodes_that_read_the_clock_keep_the_order_of_their_own_timers() -> None:
    class Clock(Node):
        def on_start(self) -> None:
            self.came: list[object] = []
            self.set_timer("late", 500)
            self.set_timer("soon", 100)

        def on_timer(self, key: object) -> None:
            self.came.append((key, self.now_ps))

    orders_seen = set()
    rules = Rules((lambda w: orders_seen.add(frozen([n.came for n in w.nodes])),))
    assert exhaustive.search_exhaustively(make(lambda: PerNode(Clock), 2, broadcasts=0), rules, 1000, 10.0).complete
    in_time = {one for one in orders_seen if "1000100" in str(one)}
    assert len(in_time) == 1


def test_an_error_in_a_node_is_a_violation() -> None:
    class Faulty(Echo):
        def on_packet(self, content: int, sender: int, interface: int) -> None:
            raise KeyError(content)

    covered = exhaustive.search_exhaustively(make(lambda: PerNode(Faulty), broadcasts=1), ARRIVES, 1000, 10.0)
    assert covered.broken is not None and "raises KeyError" in covered.broken
    found = schedules.search(make(lambda: PerNode(Faulty), broadcasts=1), ARRIVES, 100, 10.0, 1)
    assert found.broken is not None and "raises KeyError" in found.broken


def test_nodes_that_share_mutable_objects_are_refused_unless_these_are_not_state() -> None:
    class Counter:
        seen = 0

    counter = Counter()

    class Counts(Echo):
        def __init__(self) -> None:
            self.counter = counter

        def on_packet(self, content: int, sender: int, interface: int) -> None:
            self.counter.seen += 1

    with pytest.raises(UserError, match="share 'counter'"):
        exhaustive.search_exhaustively(make(lambda: PerNode(Counts), broadcasts=1), ARRIVES, 1000, 10.0)
    Counts.not_state = frozenset({"counter"})
    counting = exhaustive.search_exhaustively(make(lambda: PerNode(Counts), broadcasts=1), Rules(), 1000, 10.0)
    assert counting.complete and counting.locals == 6, "nothing but the broadcast changes a node"


def test_frozen_values_differ_if_contents_or_their_order_differ() -> None:
    class Box:
        def __init__(self, inner: object) -> None:
            self.inner, self.me = inner, self

    assert frozen(Box([1, {2: {3}}])) == frozen(Box([1, {2: {3}}]))
    assert frozen(Box([1])) != frozen(Box([2]))
    assert frozen({1: 2, 3: 4}) != frozen({3: 4, 1: 2}), "a protocol may go by the order"


class Token:
    """Equals only itself."""


@pytest.mark.parametrize("kept", [{Token(): 1}, {Token()}, [{("a", Token()): 1}]])
def test_objects_in_sets_without_eq_and_hash_are_refused(kept: object) -> None:
    class Keeper(Node):
        def on_start(self) -> None:
            self.kept = kept

    with pytest.raises(UserError, match=r"a Token in a set or as a key.* an __eq__ and a __hash__"):
        exhaustive.search_exhaustively(make(lambda: PerNode(lambda _: Keeper()), broadcasts=0), ARRIVES, 100, 10.0)


@pytest.mark.parametrize("processes", [4, 8])
def test_in_every_schedule_of_ladc18_acknowledgements_match_a_message(processes: int) -> None:
    trial = Trial("ladc18", {"processes": processes}, budget={"broadcasts": 1, "crashes": 0})
    found = exhaustive.search_exhaustively(trial.make, trial.rules(), 100_000, 60.0, reduce=True)
    assert (found.broken, found.complete) == (None, True)
