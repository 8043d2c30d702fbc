"""Symmetric nodes, which differ only in their ids.

A search follows only one of several states that differ only in these ids.

A study declares these nodes, and how to rename their ids in nodes, packets and timers (`SymmetricNodes`). The search
checks the declaration: the renamed event must have the renamed effect on the renamed node. It does this for all events
of all states of single nodes that it reaches, and for exchanges of two adjacent nodes, since all other renamings are
compositions of these. It does not check that the properties are independent of ids.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

from causeway.errors import UserError
from causeway.explore.machine import Facts, Machine, Step
from causeway.explore.state_space import ModelState, Move
from causeway.pycontrol.node_requests import Exchange
from causeway.pycontrol.node_timers import Due
from causeway.signatures import checked_arguments

MOST_SYMMETRIC = 6
"""The maximum number of symmetric nodes. A state is compared under all their renamings: 720 for six nodes."""


@checked_arguments
@dataclass(frozen=True)
class SymmetricNodes:
    """A study's declaration of its symmetric nodes."""

    nodes: Sequence[int]
    renamed: Callable[[Any, Names], Any] | None = None
    """A function that returns a node (which it may change), a content, a timer's key or a recorded call with renamed
    ids. None means that no such value contains the id of a node or a message."""


@dataclass(eq=False)
class Names:
    """A renaming of nodes and messages."""

    symmetry: Symmetry
    of_node: tuple[int, ...]

    def __post_init__(self) -> None:
        self.locals: dict[tuple[int, int], int] = {}
        self.packets: dict[int, int] = {}
        self.messages: dict[int, int] = {}

    def then(self, other: Names) -> Names:
        """Return the composition of this renaming with another, which follows it."""
        return self.symmetry.renaming([other.of_node[name] for name in self.of_node])

    def back(self) -> Names:
        """Return the inverse renaming."""
        return self.symmetry.renaming([self.of_node.index(node) for node in range(len(self.of_node))])

    def node(self, node: int) -> int:
        """Return the new id of a node; -1 remains -1."""
        return self.of_node[node] if node >= 0 else node

    def message(self, message: int) -> int:
        """Return the new id of a message."""
        machine = self.symmetry.machine
        if message not in self.messages:
            source, number, past = machine.named[message]
            others = frozenset(self.message(one) for one in past)
            self.messages[message] = machine.message(self.node(source), number, others)
        return self.messages[message]

    def packet(self, packet: int) -> int:
        """Return the number of the renamed packet."""
        machine = self.symmetry.machine
        if packet not in self.packets:
            one = machine.copies[packet]
            content = machine.content(self.renamed(machine.contents[one.content]))
            other = one._replace(receiver=self.node(one.receiver), sender=self.node(one.sender), content=content)
            self.packets[packet] = machine.packet(other)
        return self.packets[packet]

    def local(self, node: int, local: int) -> int:
        """Return the number of a node's renamed state."""
        machine = self.symmetry.machine
        if (node, local) not in self.locals:
            before, facts = machine.states[local]
            after = self.renamed(before)
            after.id = self.node(node)
            self.locals[node, local] = machine.kept(after.id, after, self._facts(facts))
        return self.locals[node, local]

    def _facts(self, facts: Facts) -> Facts:
        timers = tuple(sorted(((self.renamed(key), due_ps) for key, due_ps in facts.timers), key=repr))
        delivered = tuple(self.message(m) for m in facts.delivered)
        if not self.symmetry.machine.ordered:
            delivered = tuple(sorted(delivered))
        return facts._replace(timers=timers, delivered=delivered, own=tuple(self.message(m) for m in facts.own))

    def event(self, event: Any) -> Hashable:
        """Return the renamed event."""
        if isinstance(event, int):
            return self.packet(event)
        return ("timer", self.renamed(event[1])) if event[0] == "timer" else tuple(event)

    def record_id(self, record_id: int) -> int:
        """Return the number of a renamed call or result."""
        machine = self.symmetry.machine
        kind, node, value = machine.record_values[record_id]
        return machine.record_id((kind, self.node(node), self.renamed(value)))

    def state(self, state: ModelState) -> ModelState:
        """Return the renamed state."""
        nodes = [0] * len(state.nodes)
        for node, local in enumerate(state.nodes):
            nodes[self.of_node[node]] = self.local(node, local)
        return state._replace(
            nodes=tuple(nodes), flying=tuple(sorted(self.packet(p) for p in state.flying)),
            queues=tuple(sorted(tuple(self.packet(p) for p in queue) for queue in state.queues)),
            history=tuple(self.record_id(one) for one in state.history),
        )  # fmt: skip

    def move(self, move: Move) -> Move:
        """Return the renamed move."""
        packet = self.packet(move.packet) if move.packet >= 0 else -1
        what = self.event(move.what) if isinstance(move.what, tuple) else packet
        return Move(self.node(move.node), what, packet)

    def renamed(self, value: Any) -> Any:
        """Return a copy of a value, renamed by the study."""
        value, renamed = copy.deepcopy(value), self.symmetry.symmetric.renamed
        if renamed is None or type(value) is Due:
            return value
        if type(value) is Exchange:
            return value._replace(content=renamed(value.content, self))
        return renamed(value, self)


class Symmetry:
    """Maps states to representatives. All states that differ only in ids have the same one."""

    def __init__(self, machine: Machine, symmetric: SymmetricNodes) -> None:
        if len(symmetric.nodes) > MOST_SYMMETRIC:
            raise UserError(
                f"{len(symmetric.nodes)} symmetric nodes have too many renamings; declare at most {MOST_SYMMETRIC}, "
                "or use --no-symmetry"
            )
        model = machine.model
        for who in (model.broadcasters, model.callers, model.crashers):
            if len({node in who for node in symmetric.nodes}) > 1:
                raise UserError(
                    "nodes are not symmetric if only some of them may broadcast, crash or be called; correct "
                    "Checks.symmetry, or use --no-symmetry"
                )
        if len(kinds := {type(model.nodes[node]) for node in symmetric.nodes}) > 1:
            classes = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise UserError(
                f"nodes of the classes {classes} are not symmetric; correct Checks.symmetry, or use --no-symmetry"
            )
        self.machine, self.symmetric = machine, symmetric
        self._names: dict[tuple[int, ...], Names] = {}
        self._ranks: dict[tuple[int, int], int] = {}
        self.all = [self._renaming_to(order) for order in permutations(symmetric.nodes)]
        swaps = [list(symmetric.nodes) for _ in symmetric.nodes[1:]]
        for i, order in enumerate(swaps):
            order[i], order[i + 1] = order[i + 1], order[i]
        self._swaps = [self._renaming_to(order) for order in swaps]
        self._looked_at = 0

    def _renaming_to(self, order: Sequence[int]) -> Names:
        """Return the renaming of the symmetric nodes to those in `order`."""
        to = dict(zip(self.symmetric.nodes, order, strict=True))
        return self.renaming([to.get(node, node) for node in range(self.machine.count)])

    def renaming(self, of_node: Sequence[int]) -> Names:
        """Return the renaming with these new ids of all nodes."""
        return self._names.setdefault(tuple(of_node), Names(self, tuple(of_node)))

    # ---- representatives --------------------------------------------------------------------------------------------
    def one(self, state: ModelState) -> tuple[ModelState, Names]:
        """Return the representative of a state, and the renaming that leads to it.

        It is the smallest of the renamed states in which the nodes are in the order of their ranks.
        """
        ranks: dict[tuple[int, ...], list[int]] = {}
        for node in self.symmetric.nodes:
            ranks.setdefault(self._rank(node, state), []).append(node)
        ways = product(*(permutations(ranks[rank]) for rank in sorted(ranks)))
        back = [dict(zip(sum(way, ()), self.symmetric.nodes, strict=True)) for way in ways]
        names = [self._renaming_to([to[node] for node in self.symmetric.nodes]) for to in back]
        return min(((one.state(state), one) for one in names), key=lambda found: found[0])

    def _rank(self, node: int, state: ModelState) -> tuple[int, ...]:
        """Return the kinds of a node's state and of its packets, which do not depend on ids."""
        copies = self.machine.copies
        own = [p for p in (*state.flying, *sum(state.queues, ())) if node in copies[p][:2]]
        kinds = sorted(self._kind_of(-1 - (copies[p].sender == node), p) for p in own)
        return (self._kind_of(node, state.nodes[node]), *kinds)

    def _kind_of(self, node: int, number: int) -> int:
        """Return a number that states of nodes, or packets (node < 0), have in common if only ids differ."""
        if (node, number) not in self._ranks:
            rank = len(self._ranks)
            for names in self.all:
                if node >= 0:
                    self._ranks.setdefault((names.node(node), names.local(node, number)), rank)
                else:
                    self._ranks.setdefault((node, names.packet(number)), rank)
        return self._ranks[node, number]

    # ---- check of the declaration -----------------------------------------------------------------------------------
    def check_declaration(self) -> None:
        """Check the declaration for the effects that were computed since the last call.

        Raises:
            UserError: The nodes are not symmetric.
        """
        done = self.machine.worked_out
        while self._looked_at < len(done):
            node, local, event, now_ps = done[self._looked_at]
            self._looked_at += 1
            step = self.machine.step(node, local, event, now_ps)
            for names in self._swaps:
                other = names.node(node), names.local(node, local), names.event(event)
                if not self._same(self._under(names, node, step), self.machine.step(*other, now_ps)):
                    a, b = (i for i, to in enumerate(names.of_node) if i != to)
                    raise UserError(
                        f"nodes {a} and {b} are not symmetric: an event ({_word(event)}) has another effect with their "
                        "ids exchanged; correct Checks.symmetry, or use --no-symmetry"
                    )

    def _under(self, names: Names, node: int, step: Step) -> Step:
        sends = tuple(names.packet(p) for p in step.sends)
        return step._replace(
            state=names.local(node, step.state),
            sends=sends,
            records=tuple(map(names.record_id, step.records)),
        )

    def _same(self, one: Step, other: Step) -> bool:
        """Return whether two steps are equal, regardless of the order of copies for several receivers."""
        copies = self.machine.copies
        ordered = [sorted(step.sends, key=lambda p: copies[p][:3]) for step in (one, other)]
        same = (one.state, one.records, one.broken is None) == (other.state, other.records, other.broken is None)
        return same and ordered[0] == ordered[1]


def _word(event: Hashable) -> str:
    return " ".join(map(str, event)) if isinstance(event, tuple) else "a packet arrives"
