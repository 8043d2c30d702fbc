"""Every order of events of a small world: all states that it can reach, each looked at once.

Two states are the same if nodes, packets on their way, timers (in the order in which they are due) and what has been
delivered are the same. Time itself does not count, unless nodes keep it: such a protocol has more states than it needs.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from causeway.pycontrol.check.schedules import MakeWorld, Rules
from causeway.pycontrol.check.world import World

SKIPPED = ("host",)


@dataclass(frozen=True)
class Covered:
    """How far the search came."""

    states: int
    depth: int
    complete: bool
    seconds: float
    broken: str | None = None
    plan: tuple[int, ...] = ()
    """The shortest order that breaks something, as `schedules.follow` takes it."""


def every_order(
    make: MakeWorld, rules: Rules, most_states: int, seconds: float, tell: Callable[[int], None] = lambda states: None
) -> Covered:
    """Breadth first, so that what is found first is the shortest."""
    began, depth = time.monotonic(), 0
    layer: list[tuple[World, tuple[int, ...]]] = [(make(), ())]
    seen = {state_of(layer[0][0])}
    while layer:
        following: list[tuple[World, tuple[int, ...]]] = []
        for world, plan in layer:
            choices = world.choices()
            if not _must_go_on(world) and (broken := _first(rules.at_rest, world)) is not None:
                return Covered(len(seen), depth, False, time.monotonic() - began, broken, plan)
            for number in range(len(choices)):
                twin = world.fork()
                twin.do(choices[number])
                broken = twin.broken or _first(rules.always, twin)
                if broken is not None:
                    return Covered(len(seen), depth, False, time.monotonic() - began, broken, (*plan, number))
                if (state := state_of(twin)) not in seen:
                    seen.add(state)
                    following.append((twin, (*plan, number)))
            tell(len(seen))
            if len(seen) > most_states or time.monotonic() - began > seconds:
                return Covered(len(seen), depth, False, time.monotonic() - began)
        layer, depth = following, depth + 1
    return Covered(len(seen), depth, True, time.monotonic() - began)


def _must_go_on(world: World) -> bool:
    """Whether something is left that happens by itself."""
    return bool(world.flying or world.due or (world.down and world.budget.recover))


def _first(rules: tuple[Callable[[World], str | None], ...], world: World) -> str | None:
    return next((found for rule in rules if (found := rule(world)) is not None), None)


def state_of(world: World) -> bytes:
    """A digest of all that decides what can still happen and whether it will be right."""
    timers = [timer for timer, _ in sorted(world.due.items(), key=lambda item: item[1])]
    b = world.budget
    rest = (world.down, world.failed, world.gone, b.broadcasts, b.losses, b.duplicates, b.crashes, timers)
    flying = sorted(repr(frozen((p.sender, p.receiver, p.interface, p.content))) for p in world.flying)
    nodes = [frozen({k: v for k, v in vars(node).items() if k not in SKIPPED}) for node in world.nodes]
    history = (world.delivered, world.known, world.source, world.past)
    return hashlib.blake2b(repr((nodes, flying, frozen(rest), frozen(history))).encode(), digest_size=16).digest()


def frozen(value: Any) -> Hashable:
    """The value as something that prints the same whenever it is the same, whatever it is made of."""
    if isinstance(value, dict):
        return ("dict", *sorted(((frozen(k), frozen(v)) for k, v in value.items()), key=repr))
    if isinstance(value, set | frozenset):
        return ("set", *sorted(map(frozen, value), key=repr))
    if isinstance(value, list | tuple):
        return tuple(map(frozen, value))
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    if hasattr(value, "__dict__") and not callable(value):
        return (type(value).__name__, frozen({k: v for k, v in vars(value).items() if k not in SKIPPED}))
    return repr(value) if not callable(value) else getattr(value, "__qualname__", "function")
