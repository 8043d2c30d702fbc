"""Observers of the user's own: one that does not fit its run is refused, and one that fails is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import causeway as cw
from causeway.pycontrol import observing
from tests.studies.test_run import Echo

LOAD = cw.poisson(50, messages=5)


class Counter:
    def __init__(self) -> None:
        self.rows = 0

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        self.rows += len(op)

    def scalars(self) -> dict[str, float]:
        return {"rows": self.rows}


class Failing(Counter):
    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        raise KeyError("x")


def run(observers: Callable[[int], Any]) -> cw.Run[Any]:
    return cw.run(Echo, cw.AbstractNetwork(5), broadcasts=LOAD, observers=observers)


MISTAKES: dict[str, tuple[Callable[[int], Any], str]] = {
    "nothing": (lambda nodes: None, "observers.* returned None; allowed: a list of observers"),
    "one": (lambda nodes: Counter(), "observers.* returned <.*Counter.*>; allowed: a list of observers"),
    "another type": (lambda nodes: [5], "observers.* returned 5 in its list; allowed: an Observer"),
    "the checker of a smaller run": (
        lambda nodes: [cw.CausalityChecker(3)],
        "node [34] is observed by a CausalityChecker for 3 nodes; make it with the number of nodes of the run",
    ),
    "one that fails": (lambda nodes: [Failing()], r"Failing, at [\d.]+ s, in observe\(...\): KeyError: 'x'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_observer_is_named(mistake: str) -> None:
    observers, words = MISTAKES[mistake]
    with pytest.raises((cw.UserError, cw.RunError), match=words):
        run(observers)


def test_an_observer_of_an_earlier_run_is_refused_since_its_numbers_would_be_those_of_both() -> None:
    counter = Counter()
    assert run(lambda nodes: [counter]).scalars["rows"] == 5 + 5 * 5, "broadcasts and deliveries"
    with pytest.raises(cw.UserError, match=r"Counter has already observed a run; observers.* must return new ones"):
        run(lambda nodes: [counter])


def test_a_new_observer_may_have_the_address_of_a_former_one(monkeypatch: pytest.MonkeyPatch) -> None:
    former, new = Counter(), Counter()
    monkeypatch.setattr(observing, "_former", {id(new): former})
    assert observing.validated_observers([new], "observers") == [new]
    with pytest.raises(cw.UserError, match="has already observed a run"):
        observing.validated_observers([new], "observers")


def test_a_checker_never_writes_beyond_its_arrays() -> None:
    checker = cw.CausalityChecker(2)
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="node -1 is observed by a CausalityChecker for 2 nodes"):
        checker.observe(one.astype(np.uint8), one, np.array([-1], np.int32), one)
