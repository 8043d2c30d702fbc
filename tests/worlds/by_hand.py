"""Every order of a small world, the slow way: each is gone through again from the start. What a search must agree with.

`key` says what two worlds must have in common to be one state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from causeway.pycontrol.check.frozen import frozen
from causeway.pycontrol.check.world import LATE_CLOCKS, World


def explored(make: Callable[[], World], key: Callable[[World], Hashable]) -> dict[Hashable, tuple[int, ...]]:
    """Of each state a way to it."""
    found: dict[Hashable, tuple[int, ...]] = {}
    todo: list[tuple[int, ...]] = [()]
    while todo:
        plan = todo.pop()
        world = make()
        for number in plan:
            world.do(world.choices()[number])
        state = key(world)
        if state not in found:
            found[state] = plan
            todo += [(*plan, number) for number in range(len(world.choices()))]
        world.close()
    return found


def on_the_way(world: World) -> Hashable:
    """Copies over the air in no order, those over wires in theirs."""
    air = sorted(repr((p.sender, p.receiver, p.content)) for p in world.flying if world._is_free(p))
    wires: dict[object, list[str]] = {}
    for p in world.flying:
        if not world._is_free(p):
            wires.setdefault((p.sender, p.receiver, p.interface), []).append(repr(p.content))
    return (tuple(air), frozen(dict(sorted(wires.items()))))


def outside(world: World) -> Hashable:
    """All but the nodes."""
    budget = world.budget
    left = frozen(vars(budget))
    delivered = frozen([sorted(row) for row in world.delivered])
    timers = frozen(dict(sorted(world.timers.items(), key=repr)))
    now_ps = world.now_ps if world.clocks == LATE_CLOCKS else 0
    places = frozen(getattr(world, "places", {}))
    return (now_ps, on_the_way(world), left, timers, delivered, frozenset(world.down), places)


def by_state(world: World) -> Hashable:
    """The nodes' attributes."""
    return (frozen([{k: v for k, v in vars(node).items() if k != "host"} for node in world.nodes]), outside(world))


def by_history(world: World) -> Hashable:
    """What has happened to each node."""
    of_nodes = [
        tuple((e.what, e.peer, e.text) for e in world.log if e.node == node and e.what not in ("sent", "loss"))
        for node in range(world.count)
    ]
    return (tuple(of_nodes), outside(world))
