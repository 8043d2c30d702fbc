"""Symmetric nodes: fewer states, the same verdicts, and a wrong declaration is detected."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import UserError
from causeway.explore import exhaustive, properties, schedules
from causeway.explore.model import Budget, Model
from causeway.explore.properties import Rules
from causeway.explore.symmetry import SymmetricNodes
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.studies.trial import Trial

COMMIT = str(Path(__file__).resolve().parents[2] / "examples" / "textbook" / "two_phase_commit.py")
WORKING, PREPARED, COMMITTED, ABORTED = range(4)
Facts = tuple[tuple[int, ...], int, tuple[bool, ...], frozenset[object]]


def following(s: Facts) -> list[Facts]:
    """Two-phase commit again, as others model it, in the order in which Stateright's example lists its actions."""
    managers, coordinator, prepared, sent = s
    found: list[Facts] = []
    if coordinator == WORKING and all(prepared):
        found.append((managers, COMMITTED, prepared, sent | {"commit"}))
    if coordinator == WORKING:
        found.append((managers, ABORTED, prepared, sent | {"abort"}))
    for i in range(len(managers)):

        def one(state: int, i: int = i) -> tuple[int, ...]:
            return (*managers[:i], state, *managers[i + 1 :])

        if coordinator == WORKING and i in sent:
            found.append((managers, coordinator, (*prepared[:i], True, *prepared[i + 1 :]), sent))
        if managers[i] == WORKING:
            found.append((one(PREPARED), coordinator, prepared, sent | {i}))
            found.append((one(ABORTED), coordinator, prepared, sent))
        if "commit" in sent:
            found.append((one(COMMITTED), coordinator, prepared, sent))
        if "abort" in sent:
            found.append((one(ABORTED), coordinator, prepared, sent))
    return found


def under(s: Facts, order: tuple[int, ...]) -> object:
    """The same state, in which the first manager is the first of the order, and so on."""
    managers, coordinator, prepared, sent = s
    words = frozenset(order.index(m) if isinstance(m, int) else m for m in sent)
    return (tuple(managers[i] for i in order), coordinator, tuple(prepared[i] for i in order), words)


def as_stateright(s: Facts) -> object:
    """Its example sorts managers by their state, and leaves those of one state as they are."""
    return under(s, tuple(sorted(range(len(s[0])), key=lambda i: s[0][i])))


def met(managers: int, one: Any) -> tuple[set[Facts], set[object]]:
    """All states that are gone through, depth first, and those that stand for them."""
    first: Facts = ((WORKING,) * managers, WORKING, (False,) * managers, frozenset())
    states, kinds, todo = {first}, {one(first)}, [first]
    while todo:
        for state in following(todo.pop()):
            if one(state) not in kinds:
                kinds.add(one(state))
                states.add(state)
                todo.append(state)
    return states, kinds


@pytest.mark.parametrize("managers", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_two_phase_commit_has_one_state_for_all_renamings(managers: int) -> None:
    """Counted again by brute force: each state under all names of the managers, 120 of five."""
    trial = Trial(COMMIT, {"nodes": managers + 1})
    covered = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**5, 100.0, symmetry=trial.checks.symmetry)
    states, _ = met(managers, lambda s: s)
    orders_ = list(permutations(range(managers)))
    kinds = {frozenset(under(state, order) for order in orders_) for state in states}
    assert (covered.complete, covered.broken, covered.states) == (True, None, len(kinds))
    assert covered.states == {3: 80, 4: 166, 5: 314}[managers]


def test_stateright_counts_more_because_managers_of_one_state_keep_their_order() -> None:
    """665 is what it publishes for five managers."""
    assert [len(kinds) for kinds in (met(5, lambda s: s)[1], met(5, as_stateright)[1])] == [8832, 665]


@pytest.mark.parametrize("version", ["right", "hasty"])
@pytest.mark.parametrize("managers", [2, 3, 4])
def test_the_verdict_is_the_same_with_and_without(version: str, managers: int) -> None:
    trial = Trial(COMMIT, {"nodes": managers + 1, "version": version})
    found = [
        exhaustive.search_exhaustively(trial.make, trial.rules(), 10**5, 100.0, symmetry=symmetry)
        for symmetry in (None, trial.checks.symmetry)
    ]
    assert found[0].broken == found[1].broken and found[0].depth == found[1].depth
    assert (found[0].broken is None) == (version == "right")
    if version == "right":
        assert found[1].states < found[0].states


class Relay(Node):
    """Passes everything on once, and remembers from whom it came first."""

    def on_start(self) -> None:
        self.came: dict[int, int] = {}

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.came[message] = self.id
        self.deliver(message)
        self.send(EVERYONE, message, 10)

    def on_packet(self, content: int, sender: int, interface: int) -> None:
        if content not in self.came:
            self.came[content] = sender
            self.deliver(content)
            self.send(EVERYONE, content, 10, interface=1)


def renamed(value: Any, names: Any) -> Any:
    if isinstance(value, Relay):
        value.came = {names.message(m): names.node(sender) for m, sender in value.came.items()}
        return value
    return names.message(value)


@pytest.mark.parametrize("watched", [(), (properties.causal_order,)], ids=["all is well", "causal order"])
@pytest.mark.parametrize("budget", [{"broadcasts": 1}, {"broadcasts": 1, "losses": 1}], ids=str)
def test_messages_are_renamed_too(watched: Any, budget: dict[str, int]) -> None:
    if watched:
        budget = {**budget, "broadcasts": 2}

    def make() -> Model:
        return Model(PerNode(lambda _: Relay()), 3, Budget(**budget), watched=watched)

    rules = Rules((properties.everything_arrives,), ordered=False)
    whole, one = (
        exhaustive.search_exhaustively(make, rules, 10**6, 100.0, symmetry=symmetry)
        for symmetry in (None, SymmetricNodes(range(3), renamed))
    )
    assert (whole.broken is None) == (one.broken is None) == (not watched)
    assert whole.depth == one.depth
    if watched:
        model = make()
        model.clocks = one.clocks
        assert str(schedules.follow(model, one.plan, rules)).startswith("causal order: ")
    else:
        assert one.states * 2 < whole.states < one.states * 6 + 1


@pytest.mark.parametrize("wrong", [None, lambda value, names: value], ids=["says nothing", "forgets the names"])
def test_nodes_that_are_not_symmetric_are_detected(wrong: Any) -> None:
    trial = Trial(COMMIT, {"nodes": 4})
    with pytest.raises(UserError, match=r"nodes \d and \d are not symmetric"):
        exhaustive.search_exhaustively(
            trial.make, trial.rules(), 10**5, 100.0, symmetry=SymmetricNodes(range(1, 4), wrong)
        )
    with pytest.raises(UserError, match="not symmetric"):
        exhaustive.search_exhaustively(
            trial.make, trial.rules(), 10**5, 100.0, symmetry=SymmetricNodes(range(4), wrong)
        )


def test_too_many_symmetric_nodes_are_refused() -> None:
    trial = Trial(COMMIT, {"nodes": 9})
    with pytest.raises(UserError, match="at most 6"):
        exhaustive.search_exhaustively(trial.make, trial.rules(), 10**5, 100.0, symmetry=trial.checks.symmetry)
