"""State machines for nodes that cannot be copied, such as waiting coroutines: a node's state is its history of events.

To continue from a state, the history is replayed to a fresh node. Other nodes are not needed, since nodes have nothing
in common. Two histories that lead to the same state count as two states, so the search is as complete as with copies,
but slower.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from causeway.errors import UserError
from causeway.explore.machine import Facts, Machine, NodeStub, Step
from causeway.explore.model import Model, attach
from causeway.explore.randomness import message_about_draws
from causeway.pycontrol.node import Node

History = tuple[tuple[Hashable, int], ...]
"""The events, and the node's clock at each of them."""


@dataclass(eq=False)
class ReplayStub(NodeStub):
    """Replaces a node's `PerNode` while its history is replayed, with the same answers as the first time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.over = False
        """True after the replay, when further actions of the node are new."""
        self.broadcasts = 0
        self.protocol: Any = None
        """The protocol of the node."""

    def tick(self, now_ps: int) -> None:
        """Set the node's clock."""
        self.clock_ps = self.protocol.now_ps = now_ps

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> None:
        """Send a packet after the replay, and nothing during it."""
        if self.over:
            super().send(node, peer, content, size_bytes, interface, topic)

    def recorded(self, kind: str, node: int, value: Any) -> None:
        """Record a call after the replay, and nothing during it."""
        if self.over:
            super().recorded(kind, node, value)

    def new_message(self, node: int) -> int:
        """Return the id of a new message. During the replay, return the id that the message got the first time."""
        self.broadcasts += 1
        return super().new_message(node) if self.over else self.own[self.broadcasts - 1]

    def note(self, op: int, node: int, message: int) -> None:
        """Note an observation after the replay, and nothing during it."""
        if self.over:
            super().note(op, node, message)


@dataclass(eq=False)
class ReplayMachine(Machine):
    """A machine whose states are histories; `make` makes a fresh model for each replay."""

    make: Callable[[], Model] | None = None

    def __post_init__(self) -> None:
        self._histories: list[History] = []
        self._who_drew = ""
        super().__post_init__()

    def _watch_shared(self) -> None:
        """Do nothing: nodes of programs refer to each other, and common objects of programs are not checked."""
        self._shared = {}

    def randomness(self) -> str:
        """Return a message if a program drew random numbers. Replays detect hidden state (`_replay`)."""
        return self._who_drew

    def _check_for_draws(self, node: Node) -> None:
        self._who_drew = self._who_drew or message_about_draws([node])

    def _adopted_state(self, model: Model, id_: int, names: dict[int, int]) -> int:
        self._check_for_draws(model.nodes[id_])
        return self._with_history(id_, _seen(model.nodes[id_]), self._facts(model, id_, names), ())

    def _with_history(self, id_: int, node: Node, facts: Facts, history: History) -> int:
        key = (id_, history)
        if key not in self._state_ids:
            self._state_ids[key] = len(self.states)
            self.states.append((node, facts))
            self._histories.append(history)
        return self._state_ids[key]

    def _compute(self, node: int, state: int, event: Any, now_ps: int) -> Step:
        facts = self.states[state][1]
        if facts.down and isinstance(event, int):
            return Step(state, (), 0, None)
        assert self.make is not None
        with closing(self.make()) as model:
            stub = ReplayStub(self, node, facts, now_ps or facts.now_ps)
            return self._replay(model, stub, state, event)

    def _replay(self, model: Model, stub: ReplayStub, state: int, event: Any) -> Step:
        """Replay the history of a state to a fresh node, and return the effect of one more event."""
        handler, history = model.nodes[stub.node], self._histories[state]
        known, at_ps, stub.protocol = stub.timers, stub.clock_ps, model.protocol
        stub.timers = {timer: due_ps for timer, due_ps in model.timers.items() if timer[0] == stub.node}
        attach(model.protocol, stub)
        model.protocol.acting = handler
        for earlier, clock_ps in history:
            stub.tick(clock_ps)
            self._call_handler(handler, stub, earlier)
        if known != stub.timers:
            raise UserError(
                f"node {stub.node} behaves differently when the same events are repeated: it depends on more than its "
                "own attributes and its events; omit --every for random schedules"
            )
        stub.over, stub.broken = True, None
        stub.tick(at_ps)
        self._call_handler(handler, stub, event)
        self._check_for_draws(handler)
        after = self._with_history(stub.node, _seen(handler), self._facts_of(stub), (*history, (event, at_ps)))
        return self._step(after, stub)


def _seen(node: Node) -> Node:
    """Return a node with copies of the attributes that can be copied, for properties.

    The attributes themselves may change in a `finally` of the program when the model is closed.
    """
    seen: Any = object.__new__(type(node))
    for name, value in vars(node).items():
        if name not in node.not_state:
            with suppress(Exception):
                setattr(seen, name, copy.deepcopy(value))
    return seen
