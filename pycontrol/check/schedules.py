"""Made-up orders of events, by the thousand; one that breaks a property is shrunk until nothing can be left out.

An order is a plan: a list of whole numbers. Each says which of the things that can happen next happens, 0 the first;
when the plan is used up, packets arrive and timers go off in their order, and nothing goes wrong any more. So a shorter
plan, and a plan of smaller numbers, is a simpler order. hypothesis makes them and shrinks them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from causeway.bridge.errors import UserError
from causeway.pycontrol.check.properties import AtRest
from causeway.pycontrol.check.shrink import shrunk
from causeway.pycontrol.check.world import Choice, World

LONGEST_PLAN = 400
REST_STEPS = 2000
"""Nodes with periodic timers never come to rest: after so many events without mischief what is owed must be there."""
PATIENT_STEPS = 50
"""How many events pass between two looks whether everything is there."""

MakeWorld = Callable[[], World]
Always = Callable[[World], str | None]


@dataclass(frozen=True)
class Rules:
    """What must hold besides what the world itself watches."""

    at_rest: tuple[AtRest, ...] = ()
    always: tuple[Always, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a search came to."""

    tried: int
    seconds: float
    broken: str | None = None
    plan: tuple[int, ...] = ()
    steps: int = 0
    """Events of the shrunk counterexample."""


def follow(world: World, plan: Sequence[int], rules: Rules, taken: list[int] | None = None) -> str | None:
    """Lets a world go by a plan, then to rest; what is broken, if anything. `taken` is told the choices."""
    for number in plan:
        choices = world.choices()
        if not choices:
            break
        if taken is not None:
            taken.append(number % len(choices))
        if (broken := _step(world, choices[number % len(choices)], rules)) is not None:
            return broken
    world.budget.losses = world.budget.duplicates = world.budget.crashes = 0
    return _to_rest(world, rules)


def _step(world: World, choice: Choice, rules: Rules) -> str | None:
    world.do(choice)
    if world.broken is not None:
        return world.broken
    return next((found for rule in rules.always if (found := rule(world)) is not None), None)


def _to_rest(world: World, rules: Rules) -> str | None:
    """The oldest packet, else the first timer, until nothing is left or everything owed has been there for a while."""
    for step in range(REST_STEPS):
        waiting = [c for c in world.choices() if c.what in ("packet", "timer", "recover")]
        if not waiting:
            break
        if (broken := _step(world, waiting[0], rules)) is not None:
            return broken
        if step % PATIENT_STEPS == PATIENT_STEPS - 1 and not world.flying and _at_rest(world, rules) is None:
            return None
    return _at_rest(world, rules)


def _at_rest(world: World, rules: Rules) -> str | None:
    return next((found for rule in rules.at_rest if (found := rule(world)) is not None), None)


def search(
    make: MakeWorld,
    rules: Rules,
    tries: int,
    seconds: float,
    seed: int,
    tell: Callable[[int], None] = lambda tried: None,
) -> Verdict:
    """Tries so many plans or for so long; the shortest plan that breaks something, if one was found."""
    try:
        from hypothesis import HealthCheck, Phase, find, settings
        from hypothesis import strategies as st
        from hypothesis.errors import NoSuchExample
    except ImportError:
        raise UserError("`causeway check` needs hypothesis: pip install hypothesis") from None
    from random import Random

    began, tried = time.monotonic(), 0
    settings_ = settings(
        max_examples=tries, database=None, deadline=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    found_one = False

    def breaks(plan: list[int]) -> bool:
        nonlocal tried, found_one
        tried += 1
        if tried % 64 == 0:
            tell(tried)
        if not found_one and time.monotonic() - began > seconds:
            return False
        found_one |= (result := follow(make(), plan, rules) is not None)
        return result

    plans = st.lists(st.integers(0, 63), max_size=LONGEST_PLAN)
    try:
        plan = find(plans, breaks, settings=settings_, random=Random(seed))
    except NoSuchExample:
        return Verdict(tried, time.monotonic() - began)
    short = shrunk(tuple(plan), lambda candidate: _taken(make(), candidate, rules))
    world = make()
    broken = follow(world, short, rules)
    return Verdict(tried, time.monotonic() - began, broken, short, len(world.log))


def _taken(world: World, plan: Sequence[int], rules: Rules) -> list[int] | None:
    """Which choices a plan takes until something breaks; None if nothing does."""
    taken: list[int] = []
    return taken if follow(world, plan, rules, taken) is not None else None
