"""Dynamic Clock Sets in models, in every order of events: Theorem 3, and the faults of the paper's printed text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.pycontrol.protocols.dcs.node import Message, Process, Request
from tests.helpers.dcs_model import BROADCAST, DEACTIVATE, EXPAND, FLEE, REMOVE, Model, Wrong, explore, take
from tests.helpers.drawn import examples

B, E, F, D, R = BROADCAST, EXPAND, FLEE, DEACTIVATE, REMOVE


def outcomes(scripts, **kwargs):
    """(rounds, how often component 1 was removed, active components of process 0) of every final state."""
    finals = list(explore(Model(scripts, **kwargs)))
    assert finals
    return {(w.rounds, w.processes[0].incarnation.get(1, 0), w.processes[0].active) for w in finals}


EXACT = [
    ([[D, E, B], [B], []], 2),
    ([[D, B], [B, D], []], 2),
    ([[D, R], [R], [B]], 2),
    ([[D, R, E, B], [B], []], 2),
    ([[E, B, F, D], [B], []], 1),
    ([[E, B], [F, B, D], []], 1),
    ([[D], [E, B], [D]], 2),
    ([[D, D], [D], []], 3),
    ([[D, B], [E, B, F], []], 2),
]
"""Scripts, and components at the start."""


@pytest.mark.parametrize(("scripts", "components"), EXACT, ids=str)
def test_with_exact_entries_causality_and_termination_hold_in_every_schedule(scripts, components):
    assert outcomes(scripts, size=3, components=components, exact=True), "no order was explored"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scripts", "components"),
    [([[D, R, E, B], [B, E, B], []], 2), ([[E, B, F, B], [D, R], []], 1), ([[D, R, E, B], [R, B], []], 2)],
    ids=str,
)
@pytest.mark.slow
def test_longer_scripts_with_two_rounds_hold_too(scripts, components):
    assert outcomes(scripts, size=3, components=components, exact=True), "no order was explored"


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    ("scripts", "components"),
    [([[D, B], [B, D], []], 2), ([[D, R, B], [B], []], 2), ([[E, B], [B, D], [B]], 1), ([[E, B, F, D], [B], []], 1)],
    ids=str,
)
def test_with_shared_entries_termination_holds_in_every_schedule(scripts, components, size):
    assert outcomes(scripts, size=size, components=components), "no order was explored"


def test_rounds_are_accepted_and_refused_depending_on_the_order():
    found = outcomes([[D, R, E, B], [B], []], size=3, components=2, exact=True)
    assert {(2, 0, 1), (2, 1, 1), (2, 1, 2)} <= found, "a removal is refused, accepted, and followed by an expansion"


def test_two_removal_rounds_about_one_component_remove_it_once():
    found = outcomes([[D, R], [R], []], size=3, components=2, exact=True)
    assert any(rounds == 3 and removed == 1 for rounds, removed, _ in found)
    assert max(removed for _, removed, _ in found) == 1


# ---- the printed text ----------------------------------------------------------------------------------------------


class LateDecision(Process):
    """Section IV-D: 'deactivates C_k provided that the boolean is set to true', whatever has arrived since."""

    def apply(self, decision):
        if decision.request.kind == D and decision.yes and self.active > 1:
            self.blocked -= {decision.request.number}
            self.active -= 1
        else:
            super().apply(decision)


class NoIncarnation(Process):
    """Lemma 2: 'even though a process might add a new component of index k after C_k was removed'."""

    def apply(self, decision):
        super().apply(decision)
        self.incarnation.clear()


class CountsOfTheStarterOnly(Process):
    """Section IV-E: the Remove message counts what its starter knows to have been broadcast."""

    def may_remove(self, r: Request) -> bool:
        return self.active <= r.k and len(self.d) <= r.k + 1 and r.known <= self.delivered


class RemovesTheHighest(Process):
    """Section III-D: 'Removes the component of D_i with the highest index', once for each round that says so."""

    def apply(self, decision):
        if decision.request.kind == R and decision.yes:
            self.blocked -= {decision.request.number}
            self._cut(len(self.d) - 1)
        else:
            super().apply(decision)


class RuleOneAtDelivery(Process):
    """Section IV-B, text: at delivery 'for all x in f(p_i), k in S_incr', the receiver's own; Algorithm 2 differs."""

    def _deliver(self, m: Message) -> None:
        self._increment(self.i, self.s_incr)
        self.delivered.add(m.id)


class MaximumAtReception(Process):
    """Section III-B, rule R2: 'On the receipt of a message' the maximum is taken, then rule R1."""

    def receive(self, m: Message) -> list[Message]:
        self.check_expand(m)
        for k, c_m in enumerate(m.d):
            self.d[k] = [max(a, b) for a, b in zip(self.d[k], c_m, strict=True)]
        return super().receive(m)


class HighestActiveNotAsked(Process):
    """Section IV-D lists no condition about components above C_k, yet Deactivate() takes the highest active one."""

    def may_deactivate(self, r: Request) -> bool:
        active, self.active = self.active, min(self.active, r.k + 1)
        try:
            return super().may_deactivate(r)
        finally:
            self.active = active

    def apply(self, decision):
        if decision.request.kind == D and decision.yes and self.active > 1:
            self.blocked -= {decision.request.number}
            self.active -= 1
        else:
            super().apply(decision)


# ---- plain mistakes ------------------------------------------------------------------------------------------------


class InactiveDoesNotCount(Process):
    """Entries of inactive components are not incremented."""

    def _increment(self, j: int, s_incr: tuple[int, ...]) -> None:
        super()._increment(j, tuple(k for k in s_incr if k < self.active))


class NeverReactivates(Process):
    """checkExpand without its second function."""

    def _has_news(self, m: Message, k: int) -> bool:
        return False


class NeverBlocks(Process):
    """Dynamicity goes on during rounds."""

    def expand(self) -> bool:
        blocked, self.blocked = self.blocked, frozenset()
        done = super().expand()
        self.blocked = blocked
        return done


class IgnoresWaiting(Process):
    """A component is deactivated although a message that increments it waits."""

    def may_deactivate(self, r: Request) -> bool:
        waiting, self.waiting = self.waiting, []
        yes = super().may_deactivate(r)
        self.waiting = waiting
        return yes


class DeliversTwice(Process):
    """A message that waited is not taken off the list."""

    def deliver_waiting(self) -> list[Message]:
        done = [m for m in self.waiting if self.deliverable(m)]
        for m in done:
            self._deliver(m)
        return done


THREE = {"size": 3, "exact": True}
BROKEN = [
    (LateDecision, [[D, E, B], [B], []], {"components": 2, **THREE}),
    (NoIncarnation, [[D, R, E, B, B], [], []], {"components": 2, **THREE}),
    (CountsOfTheStarterOnly, [[D, R], [B, F, B], []], {"components": 2, "high": [1], **THREE}),
    (RemovesTheHighest, [[D, R], [R], [B]], {"components": 2, **THREE}),
    (RuleOneAtDelivery, [[B, B], [], []], THREE),
    (MaximumAtReception, [[B], [B], []], THREE),
    (HighestActiveNotAsked, [[D], [E, B], [B]], {"components": 2, **THREE}),
    (InactiveDoesNotCount, [[D], [B, F, B], [B, F]], {"components": 2, "high": [1, 2], "size": 1}),
    (NeverReactivates, [[D, E, B], [B], []], {"components": 2, **THREE}),
    (NeverBlocks, [[D, R], [E, B], []], {"components": 2, **THREE}),
    (IgnoresWaiting, [[D, E, B], [B], [B]], {"components": 2, **THREE}),
    (DeliversTwice, [[B], [B], [B]], THREE),
]


@pytest.mark.parametrize(("kind", "scripts", "model"), BROKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_a_broken_process_is_caught(kind, scripts, model):
    with pytest.raises(Wrong):
        outcomes(scripts, kind=kind, **model)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "scripts", "model"), BROKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_the_check_that_finds_the_broken_process_passes_the_correct_one(kind, scripts, model):
    assert outcomes(scripts, **model), "no order was explored"


# ---- larger worlds, at random --------------------------------------------------------------------------------------

STEPS = st.lists(st.sampled_from([B, B, B, E, F, D, R]), max_size=6)


@settings(max_examples=examples(150))
@given(st.lists(STEPS, min_size=3, max_size=4), st.integers(1, 3), st.integers(0, 3), st.randoms(use_true_random=False))
def test_any_schedule_delivers_everything_once(scripts, components, size, random):
    model = Model(
        scripts, max(size, 1), components, exact=size == 0,
        choose=lambda p, limit, avoid: (random.randrange(limit),),
    )  # fmt: skip
    while choices := model.choices():
        model = take(model, random.choice(choices))
    model.check_end()
