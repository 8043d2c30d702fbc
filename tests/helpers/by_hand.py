"""A slow exhaustive search of a model, which follows each schedule from the start. The real search must agree with it.

`key` returns the part of a model that two models must have in common to be one state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from causeway.explore.model import LATE_CLOCKS, Model
from causeway.pycontrol.frozen import frozen


def explored(make: Callable[[], Model], key: Callable[[Model], Hashable]) -> dict[Hashable, tuple[int, ...]]:
    """Return a map from each state to a path that leads to it."""
    found: dict[Hashable, tuple[int, ...]] = {}
    todo: list[tuple[int, ...]] = [()]
    while todo:
        plan = todo.pop()
        model = make()
        for number in plan:
            model.do(model.choices()[number])
        state = key(model)
        if state not in found:
            found[state] = plan
            todo += [(*plan, number) for number in range(len(model.choices()))]
        model.close()
    return found


def on_the_way(model: Model) -> Hashable:
    """Return the copies in flight: those over the air as a set, those over wires in order."""
    air = sorted(repr((p.sender, p.receiver, p.content)) for p in model.flying if model._is_free(p))
    wires: dict[object, list[str]] = {}
    for p in model.flying:
        if not model._is_free(p):
            wires.setdefault((p.sender, p.receiver, p.interface), []).append(repr(p.content))
    return (tuple(air), frozen(dict(sorted(wires.items()))))


def outside(model: Model) -> Hashable:
    """Return the state of the model without its nodes."""
    budget = model.budget
    left = frozen(vars(budget))
    delivered = frozen([sorted(row) for row in model.delivered])
    timers = frozen(dict(sorted(model.timers.items(), key=repr)))
    now_ps = model.now_ps if model.clocks == LATE_CLOCKS else 0
    places = frozen(getattr(model, "places", {}))
    return (now_ps, on_the_way(model), left, timers, delivered, frozenset(model.down), places)


def by_state(model: Model) -> Hashable:
    """Return the attributes of the nodes."""
    return (frozen([{k: v for k, v in vars(node).items() if k != "runtime"} for node in model.nodes]), outside(model))


def by_history(model: Model) -> Hashable:
    """Return the history of each node."""
    of_nodes = [
        tuple((e.what, e.peer, e.text) for e in model.log if e.node == node and e.what not in ("sent", "loss"))
        for node in range(model.count)
    ]
    return (tuple(of_nodes), outside(model))
