"""Makes a plan that breaks something as short and as simple as single changes can."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Plan = tuple[int, ...]
Follow = Callable[[Plan], list[int] | None]
"""The numbers of the choices that the plan really took until something broke; None if nothing breaks."""

MOST_TRIES = 3000


def shrunk(plan: Plan, follow: Follow, most_choices: int = 24) -> Plan:
    """The plan after the first simpler one that still breaks something, and so on until there is none."""
    best, tries = plan, 0
    progress = True
    while progress and tries < MOST_TRIES:
        progress = False
        for simpler in _simpler(best, most_choices):
            tries += 1
            taken = follow(simpler)
            if taken is not None:
                best, progress = _without_tail(tuple(taken)), True
                break
            if tries >= MOST_TRIES:
                break
    return best


def _simpler(plan: Plan, most_choices: int) -> Iterator[Plan]:
    """Shorter plans first: a step left out, two steps made one; then one number made smaller."""
    for i in range(len(plan)):
        yield plan[:i] + plan[i + 1 :]
    for i in range(len(plan) - 1):
        for number in range(most_choices):
            yield (*plan[:i], number, *plan[i + 2 :])
    for i, number in enumerate(plan):
        for smaller in range(number):
            yield (*plan[:i], smaller, *plan[i + 1 :])


def _without_tail(plan: Plan) -> Plan:
    """Zeros at the end are what happens anyway."""
    while plan and plan[-1] == 0:
        plan = plan[:-1]
    return plan
