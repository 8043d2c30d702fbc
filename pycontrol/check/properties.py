"""What must hold in a world. A property looks at a world and says, in one line, what is broken; None: nothing.

Those of `ON_DELIVERY` are looked at when a node delivers, those of `AT_REST` once nothing is left that must happen.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from causeway.bridge.errors import UserError
from causeway.pycontrol.check.linear import calls_of, not_linearizable

World = Any
"""A world (`world.World`), or what a search knows of one: `count`, `nodes`, and of each node what it delivered and
knows (`delivered`, `known`), of each message its `source` and its `past`, who is `down`, ever `failed`, or `gone`, and
what members are `owed` (None: everything)."""
OnDelivery = Callable[[World, int], str | None]
AtRest = Callable[[World], str | None]
Always = Callable[[World], str | None]


@dataclass(frozen=True)
class Rules:
    """What must hold besides what is looked at on delivery."""

    at_rest: tuple[AtRest, ...] = ()
    always: tuple[Always, ...] = ()
    ordered: bool = True
    """Whether it matters in which order a node delivered what it delivered."""

    def at_end(self, world: World) -> str | None:
        """What is wrong now that nothing is left to happen."""
        return next((found for rule in self.at_rest if (found := rule(world)) is not None), None)

    def at_once(self, world: World) -> str | None:
        """What is wrong, whatever else is still to happen."""
        return next((found for rule in self.always if (found := rule(world)) is not None), None)


def causal_order(world: World, node: int) -> str | None:
    """A message is delivered only after all that its sender had delivered or broadcast before it."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return None
    own = {m for m in world.known[node] if world.source[m] == node}
    if missing := _owed(world, node, world.past[message]) - own - set(before):
        return f"causal order: node {node} delivers message {message} before message {min(missing)}, which it follows"
    return None


def fifo_order(world: World, node: int) -> str | None:
    """The messages of one sender are delivered in the order in which it broadcast them."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return None
    if late := [m for m in before if m > message and world.source[m] == world.source[message]]:
        return f"FIFO order: node {node} delivers message {message} after message {late[0]} of the same sender"
    return None


def total_order(world: World) -> str | None:
    """Any two nodes deliver the messages that both deliver in the same order."""
    for (a, one), (b, other) in combinations(enumerate(world.delivered), 2):
        common = set(one) & set(other)
        if (mine := [m for m in one if m in common]) != (theirs := [m for m in other if m in common]):
            return f"total order: of the same messages node {a} delivers {mine}, node {b} {theirs}"
    return None


def once(world: World, node: int) -> str | None:
    """No node delivers a message twice, or one that nobody broadcast."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return f"no creation: node {node} delivers message {message}, which nobody has broadcast"
    if world.owed is not None and node not in world.owed:
        return f"no creation: node {node} delivers message {message} although it has left"
    return f"no duplicates: node {node} delivers message {message} twice" if message in before else None


def everything_arrives(world: World) -> str | None:
    """Nodes that never failed deliver every message of each other, and every one that some of them delivers, since they
    joined."""
    correct = [i for i in range(world.count) if i not in world.failed and i not in world.gone]
    wanted = {m for m in world.messages if world.source[m] in correct}
    wanted |= {m for i in correct for m in world.delivered[i]}
    return _never_delivered(world, correct, wanted, "everything arrives")


def correct_senders_are_heard(world: World) -> str | None:
    """Nodes that never failed deliver every message of each other: what is left of `arrives` for a best effort."""
    correct = [i for i in range(world.count) if i not in world.failed and i not in world.gone]
    wanted = {m for m in world.messages if world.source[m] in correct}
    return _never_delivered(world, correct, wanted, "correct senders are heard")


def failures_cost_nothing(world: World) -> str | None:
    """Every node that is up delivers every message that was broadcast since it joined, whoever failed meanwhile."""
    up = [i for i in range(world.count) if i not in world.down and i not in world.gone]
    return _never_delivered(world, up, set(world.messages), "failures cost nothing")


def quiet(world: World) -> str | None:
    """Nothing goes round for ever: some time after the last thing that anybody asked for nothing is on its way."""
    if count := len(world.flying):
        return f"quiet: {count} packets are still on their way, long after the last thing that was asked for"
    return None


def linearizable(world: World) -> str | None:
    """What was read and written by calls that nodes recorded could have happened one by one (`linear.py`)."""
    found = not_linearizable(calls_of(world.history))
    return f"linearizability: no order of the calls on {found[0]!r} explains what they returned" if found else None


def bounded(name: str, most: int) -> Always:
    """No node ever keeps more than so many things in the attribute of that name."""

    def rule(world: World) -> str | None:
        for id_, node in enumerate(world.nodes):
            kept = getattr(node, name, ())
            if hasattr(kept, "__len__") and len(kept) > most:
                return f"bounded: node {id_} keeps {len(kept)} things in {name}, more than {most}"
        if not any(hasattr(getattr(node, name, None), "__len__") for node in world.nodes):
            raise UserError(f"no node keeps anything countable in {name!r}")
        return None

    return rule


def _never_delivered(world: World, nodes: list[int], wanted: set[int], what: str) -> str | None:
    for node in nodes:
        if node < getattr(world, "stations", 0) and not world.delivered[node]:
            continue  # stations only pass on
        own = {m for m in wanted if world.source[m] == node}
        if missing := _owed(world, node, wanted) - own - set(world.delivered[node]):
            return f"{what}: node {node} never delivers message {min(missing)}"
    return None


def _owed(world: World, node: int, messages: Set[int]) -> Set[int]:
    return messages if world.owed is None else messages & world.owed.get(node, frozenset())


def _exists(world: World, message: int) -> bool:
    return 0 <= message < len(world.source)


ON_DELIVERY: dict[str, OnDelivery] = {"once": once, "causal": causal_order, "fifo": fifo_order}
AT_REST: dict[str, AtRest] = {
    "total": total_order, "arrives": everything_arrives, "recovers": failures_cost_nothing,
    "valid": correct_senders_are_heard, "quiet": quiet, "linearizable": linearizable,
}  # fmt: skip
BY_ORDER = frozenset({"fifo", "total"})
"""Those for which it matters in which order a node delivered what it had delivered before."""
USUAL = ("once", "causal", "arrives")
"""What a causal broadcast is held to."""
