"""What must hold in a world. A property looks at a world and says, in one line, what is broken; None: nothing.

Those of `ON_DELIVERY` are looked at when a node delivers, those of `AT_REST` once nothing is left that must happen.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from causeway.pycontrol.check.world import World

OnDelivery = Callable[[World, int], str | None]
AtRest = Callable[[World], str | None]


def causal_order(world: World, node: int) -> str | None:
    """A message is delivered only after all that its sender had delivered or broadcast before it."""
    *before, message = world.delivered[node]
    if not _exists(world, message):
        return None
    own = {m for m in world.known[node] if world.source[m] == node}
    if missing := world.past[message] - own - set(before):
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
    return f"no duplicates: node {node} delivers message {message} twice" if message in before else None


def everything_arrives(world: World) -> str | None:
    """Nodes that never failed deliver every message of each other, and every one that some of them delivers."""
    correct = [i for i in range(world.count) if i not in world.failed and i not in world.gone]
    owed = {m for m, source in enumerate(world.source) if source in correct}
    owed |= {m for i in correct for m in world.delivered[i]}
    for node in correct:
        own = {m for m in owed if world.source[m] == node}
        if missing := owed - own - set(world.delivered[node]):
            return f"everything arrives: node {node} never delivers message {min(missing)}"
    return None


def _exists(world: World, message: int) -> bool:
    return 0 <= message < len(world.source)


ON_DELIVERY: dict[str, OnDelivery] = {"once": once, "causal": causal_order, "fifo": fifo_order}
AT_REST: dict[str, AtRest] = {"total": total_order, "arrives": everything_arrives}
USUAL = ("once", "causal", "arrives")
"""What a causal broadcast is held to."""
