"""Linearizability, against every order of the calls; and a register over messages, right and hurried."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from causeway.explore import exhaustive, schedules
from causeway.explore.linearizability import NEVER, Call, calls_of, not_linearizable
from causeway.explore.properties import Rules
from causeway.studies.trial import Trial

REGISTER = str(Path(__file__).resolve().parents[2] / "examples" / "register.py")


def by_hand(calls: list[Call]) -> bool:
    """Try every order, and every choice of calls that never returned."""
    ended = [c for c in calls if c.ended != NEVER]
    pending = [c for c in calls if c.ended == NEVER]
    for mask in range(1 << len(pending)):
        some = ended + [c for i, c in enumerate(pending) if mask >> i & 1]
        for order in permutations(some):
            if any(b.ended < a.began for i, a in enumerate(order) for b in order[i + 1 :]):
                continue
            value, right = None, True
            for c in order:
                if c.what == "write":
                    value = c.value
                elif c.what == "read":
                    right &= c.ended == NEVER or c.result == value
                else:
                    swaps = value == c.value[0]
                    right &= c.ended == NEVER or c.result == swaps
                    value = c.value[1] if swaps else value
            if right:
                return True
    return False


def random_schedules(random: Random) -> list[Call]:
    calls = []
    for node in range(random.randrange(1, 6)):
        began = random.randrange(10)
        ended = NEVER if random.random() < 0.2 else began + 1 + random.randrange(6)
        what = random.choice(("read", "write", "cas"))
        old, new = random.choice((None, 1, 2)), random.choice((1, 2))
        value = {"read": None, "write": new, "cas": (old, new)}[what]
        result = random.random() < 0.5 if what == "cas" else old
        calls.append(Call(node, what, "x", value, began, ended, result))
    return calls


def test_it_agrees_with_every_schedule_tried_by_hand() -> None:
    random, found = Random(5), {True: 0, False: 0}
    for _ in range(600):
        calls = random_schedules(random)
        verdict = not_linearizable(calls) is None
        assert verdict == by_hand(calls), calls
        found[verdict] += 1
    assert min(found.values()) > 60


def test_each_key_is_a_register_of_its_own_and_the_wrong_one_is_named() -> None:
    history = [
        ("call", 0, ("write", "a", 1)), ("return", 0, None), ("call", 1, ("read", "b", None)), ("return", 1, None),
        ("call", 1, ("read", "a", None)), ("return", 1, None),
    ]  # fmt: skip
    assert not_linearizable(calls_of(history[:4])) is None
    assert not_linearizable(calls_of(history)) == ("a",)


def test_two_calls_of_a_node_at_once_are_refused() -> None:
    with pytest.raises(ValueError, match="before its last call has returned"):
        calls_of([("call", 0, ("read", "a", None)), ("call", 0, ("read", "a", None))])


@pytest.mark.parametrize("reduce", [False, True])
def test_every_schedule_of_a_write_and_a_read_keeps_the_order_of_calls_between_nodes(reduce: bool) -> None:
    trial = Trial(REGISTER, {}, budget={"calls": 1})
    whole = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 60.0, reduce=reduce)
    assert whole.complete and whole.broken is None
    ends: set[object] = set()

    def note(model) -> None:
        ends.add(tuple(map(str, model.history)))

    exhaustive.search_exhaustively(trial.make, Rules((note,)), 10**6, 60.0, reduce=reduce)
    assert len(ends) == 1 + 2 * 3, "no call, or one of two kinds at one of three nodes"


@pytest.mark.slow
def test_every_schedule_catches_the_hurried_register() -> None:
    trial = Trial(REGISTER, {"version": "hurried"}, budget={"calls": 3})
    found = exhaustive.search_exhaustively(trial.make, trial.rules(), 10**6, 120.0, reduce=True)
    assert found.broken is not None and found.broken.startswith("linearizability: ")
    model = trial.make()
    model.clocks = found.clocks
    assert schedules.follow(model, found.plan, trial.rules()) == found.broken


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        pytest.param("right", None, marks=pytest.mark.slow),
        pytest.param("hurried", "linearizability: ", marks=pytest.mark.slow),
    ],
)
def test_a_register_over_messages(version: str, expected: str | None) -> None:
    trial = Trial(REGISTER, {"version": version})
    tries = 3000 if expected is None else 30_000  # of three seeds the worst took 19,661 (docs/lab/check.md)
    found = schedules.search(trial.make, trial.rules(), tries, 600.0, 1, shrink=False)
    assert (found.broken is None) == (expected is None)
    assert expected is None or found.broken.startswith(expected)
