"""The properties to check. A property is a function of a model that returns a violation in one line, or None.

Those in `ON_DELIVERY` are checked at each delivery, those in `QUIESCENT` at the end, when the model is quiescent.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from causeway.errors import UserError
from causeway.explore.linearizability import calls_of, not_linearizable

Model = Any
"""A model (`model.Model`), or the view of one in a search (`state_space.Seen`, `machine.Row`), with `count`, `nodes`,
`delivered`, `known`, `source`, `past`, `down`, `failed`, `gone` and `owed` (None: all messages)."""
OnDelivery = Callable[[Model, int], str | None]
AtQuiescence = Callable[[Model], str | None]
Always = Callable[[Model], str | None]


@dataclass(frozen=True)
class Rules:
    """The properties that are not checked at deliveries."""

    quiescent: tuple[AtQuiescence, ...] = ()
    always: tuple[Always, ...] = ()
    ordered: bool = True
    """True if a property depends on the order of a node's deliveries."""

    def at_end(self, model: Model) -> str | None:
        """Return the first violation in a quiescent model, or None."""
        return next((found for rule in self.quiescent if (found := rule(model)) is not None), None)

    def at_once(self, model: Model) -> str | None:
        """Return the first violation of the properties that must hold in every state, or None."""
        return next((found for rule in self.always if (found := rule(model)) is not None), None)


def causal_order(model: Model, node: int) -> str | None:
    """Check that a message is delivered only after all messages in its causal past."""
    *before, message = model.delivered[node]
    if not _exists(model, message):
        return None
    own = {m for m in model.known[node] if model.source[m] == node}
    if missing := _owed(model, node, model.past[message]) - own - set(before):
        return f"causal order: node {node} delivers message {message} before message {min(missing)}, which it follows"
    return None


def fifo_order(model: Model, node: int) -> str | None:
    """Check that the messages of one sender are delivered in the order of their broadcasts."""
    *before, message = model.delivered[node]
    if not _exists(model, message):
        return None
    if late := [m for m in before if m > message and model.source[m] == model.source[message]]:
        return f"FIFO order: node {node} delivers message {message} after message {late[0]} of the same sender"
    return None


def total_order(model: Model) -> str | None:
    """Check that any two nodes deliver their common messages in the same order."""
    for (a, first), (b, second) in combinations(enumerate(model.delivered), 2):
        common = set(first) & set(second)
        if (order_a := [m for m in first if m in common]) != (order_b := [m for m in second if m in common]):
            return f"total order: of the same messages node {a} delivers {order_a}, node {b} {order_b}"
    return None


def once(model: Model, node: int) -> str | None:
    """Check that a node delivers a message once, and only if it was broadcast and the node has not left."""
    *before, message = model.delivered[node]
    if not _exists(model, message):
        return f"no creation: node {node} delivers message {message}, which no node has broadcast"
    if model.owed is not None and node not in model.owed:
        return f"no creation: node {node} delivers message {message} although it has left"
    return f"no duplicates: node {node} delivers message {message} twice" if message in before else None


def everything_arrives(model: Model) -> str | None:
    """Check that nodes that never failed deliver all messages of such nodes, and all that one of them delivers.

    Messages from before a node joined are excepted.
    """
    correct = [i for i in range(model.count) if i not in model.failed and i not in model.gone]
    wanted = {m for m in model.messages if model.source[m] in correct}
    wanted |= {m for i in correct for m in model.delivered[i]}
    return _never_delivered(model, correct, wanted, "everything arrives")


def correct_senders_are_heard(model: Model) -> str | None:
    """Check that nodes that never failed deliver all messages of such nodes, as in best-effort broadcast."""
    correct = [i for i in range(model.count) if i not in model.failed and i not in model.gone]
    wanted = {m for m in model.messages if model.source[m] in correct}
    return _never_delivered(model, correct, wanted, "correct senders are heard")


def failures_cost_nothing(model: Model) -> str | None:
    """Check that every node that is up delivers all messages since it joined, in spite of any failures."""
    up = [i for i in range(model.count) if i not in model.down and i not in model.gone]
    return _never_delivered(model, up, set(model.messages), "failures cost nothing")


def quiet(model: Model) -> str | None:
    """Check that no packet is on its way at the end, long after the application's last action."""
    if count := len(model.flying):
        return f"quiet: {count} packets are still on their way, long after the last action of the application"
    return None


def linearizable(model: Model) -> str | None:
    """Check that the calls that nodes recorded are linearizable (`linearizability.py`)."""
    found = not_linearizable(calls_of(model.history))
    return f"linearizability: no order of the calls on {found[0]!r} explains what they returned" if found else None


def bounded(name: str, most: int) -> Always:
    """Return the property that the attribute `name` of a node never has more than `most` items."""

    def rule(model: Model) -> str | None:
        for id_, node in enumerate(model.nodes):
            kept = getattr(node, name, ())
            if hasattr(kept, "__len__") and len(kept) > most:
                return f"bounded: node {id_} keeps {len(kept)} items in {name}, more than {most}"
        if not any(hasattr(getattr(node, name, None), "__len__") for node in model.nodes):
            raise UserError(f"bounded({name!r}, {most}): no node has an attribute of that name with a length")
        return None

    return rule


def _never_delivered(model: Model, nodes: list[int], wanted: set[int], what: str) -> str | None:
    for node in nodes:
        if node < getattr(model, "stations", 0) and not model.delivered[node]:
            continue  # stations forward messages and need not deliver any
        own = {m for m in wanted if model.source[m] == node}
        if missing := _owed(model, node, wanted) - own - set(model.delivered[node]):
            return f"{what}: node {node} never delivers message {min(missing)}"
    return None


def _owed(model: Model, node: int, messages: Set[int]) -> Set[int]:
    return messages if model.owed is None else messages & model.owed.get(node, frozenset())


def _exists(model: Model, message: int) -> bool:
    return 0 <= message < len(model.source)


ON_DELIVERY: dict[str, OnDelivery] = {"once": once, "causal": causal_order, "fifo": fifo_order}
QUIESCENT: dict[str, AtQuiescence] = {
    "total": total_order, "arrives": everything_arrives, "recovers": failures_cost_nothing,
    "valid": correct_senders_are_heard, "quiet": quiet, "linearizable": linearizable,
}  # fmt: skip
BY_ORDER = frozenset({"fifo", "total"})
"""The properties that depend on the order of a node's earlier deliveries."""
USUAL = ("once", "causal", "arrives")
"""The properties of a causal broadcast, which are the default."""
