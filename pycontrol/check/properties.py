"""The properties to check. A property is a function of a model that returns a violation in one line, or None.

Those in `ON_DELIVERY` are checked at each delivery, those in `AT_REST` at the end, when the model is quiescent.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from causeway.bridge.errors import UserError
from causeway.pycontrol.check.linear import calls_of, not_linearizable

World = Any
"""A model (`world.World`), or the view of one in a search (`space.Seen`, `machine.Row`), with `count`, `nodes`,
`delivered`, `known`, `source`, `past`, `down`, `failed`, `gone` and `owed` (None: all messages)."""
OnDelivery = Callable[[World, int], str | None]
AtRest = Callable[[World], str | None]
Always = Callable[[World], str | None]


@dataclass(frozen=True)
class Rules:
    """The properties that are not checked at deliveries."""

    at_rest: tuple[AtRest, ...] = ()
    always: tuple[Always, ...] = ()
    ordered: bool = True
    """True if a property depends on the order of a node's deliveries."""

    def at_end(self, world: World) -> str | None:
        """Return the first violation in a quiescent model, or None."""
        return next((found for rule in self.at_rest if (found := rule(world)) is not None), None)

    def at_once(self, world: World) -> str | None:
        """Return the first violation of the properties that must hold in every state, or None."""
        return next((found for rule in self.always if (found := rule(world)) is not None), None)


def causal_order(world: World, node: int) -> str | None:
    """Check that a message is delivered only after all messages in its causal past."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return None
    own = {m for m in world.known[node] if world.source[m] == node}
    if missing := _owed(world, node, world.past[message]) - own - set(before):
        return f"causal order: node {node} delivers message {message} before message {min(missing)}, which it follows"
    return None


def fifo_order(world: World, node: int) -> str | None:
    """Check that the messages of one sender are delivered in the order of their broadcasts."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return None
    if late := [m for m in before if m > message and world.source[m] == world.source[message]]:
        return f"FIFO order: node {node} delivers message {message} after message {late[0]} of the same sender"
    return None


def total_order(world: World) -> str | None:
    """Check that any two nodes deliver their common messages in the same order."""
    for (a, first), (b, second) in combinations(enumerate(world.delivered), 2):
        common = set(first) & set(second)
        if (order_a := [m for m in first if m in common]) != (order_b := [m for m in second if m in common]):
            return f"total order: of the same messages node {a} delivers {order_a}, node {b} {order_b}"
    return None


def once(world: World, node: int) -> str | None:
    """Check that a node delivers a message once, and only if it was broadcast and the node has not left."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return f"no creation: node {node} delivers message {message}, which nobody has broadcast"
    if world.owed is not None and node not in world.owed:
        return f"no creation: node {node} delivers message {message} although it has left"
    return f"no duplicates: node {node} delivers message {message} twice" if message in before else None


def everything_arrives(world: World) -> str | None:
    """Check that nodes that never failed deliver all messages of such nodes, and all that one of them delivers.

    Messages from before a node joined are excepted.
    """
    correct = [i for i in range(world.count) if i not in world.failed and i not in world.gone]
    wanted = {m for m in world.messages if world.source[m] in correct}
    wanted |= {m for i in correct for m in world.delivered[i]}
    return _never_delivered(world, correct, wanted, "everything arrives")


def correct_senders_are_heard(world: World) -> str | None:
    """Check that nodes that never failed deliver all messages of such nodes: `arrives` for best-effort broadcast."""
    correct = [i for i in range(world.count) if i not in world.failed and i not in world.gone]
    wanted = {m for m in world.messages if world.source[m] in correct}
    return _never_delivered(world, correct, wanted, "correct senders are heard")


def failures_cost_nothing(world: World) -> str | None:
    """Check that every node that is up delivers all messages since it joined, in spite of any failures."""
    up = [i for i in range(world.count) if i not in world.down and i not in world.gone]
    return _never_delivered(world, up, set(world.messages), "failures cost nothing")


def quiet(world: World) -> str | None:
    """Check that no packet is on its way at the end, long after the last action of the application."""
    if count := len(world.flying):
        return f"quiet: {count} packets are still on their way, long after the last action of the application"
    return None


def linearizable(world: World) -> str | None:
    """Check that the calls that nodes recorded are linearizable (`linear.py`)."""
    found = not_linearizable(calls_of(world.history))
    return f"linearizability: no order of the calls on {found[0]!r} explains what they returned" if found else None


def bounded(name: str, most: int) -> Always:
    """Return the property that no node's attribute `name` ever has more than `most` items."""

    def rule(world: World) -> str | None:
        for id_, node in enumerate(world.nodes):
            kept = getattr(node, name, ())
            if hasattr(kept, "__len__") and len(kept) > most:
                return f"bounded: node {id_} keeps {len(kept)} items in {name}, more than {most}"
        if not any(hasattr(getattr(node, name, None), "__len__") for node in world.nodes):
            raise UserError(f"bounded({name!r}, {most}): no node has an attribute of that name with a length")
        return None

    return rule


def _never_delivered(world: World, nodes: list[int], wanted: set[int], what: str) -> str | None:
    for node in nodes:
        if node < getattr(world, "stations", 0) and not world.delivered[node]:
            continue  # stations forward messages and need not deliver any
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
"""The properties that depend on the order of a node's earlier deliveries."""
USUAL = ("once", "causal", "arrives")
"""The properties of a causal broadcast, which are the default."""
