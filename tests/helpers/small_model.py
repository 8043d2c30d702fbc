"""Explores every order of events in a model of per-node protocols: packets take any time, timers fire at any time.

A node is a deterministic machine, so its next state is computed once per (state, event) and kept. A model is a tuple of
node states, the packets in flight and the rest of the script. The id of a message names its causal past, which is all
that the checks need.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol import DELIVER


class Broken(AssertionError):
    """Some order of events breaks what must hold."""


class Step(NamedTuple):
    """The effect of one event on one node."""

    state: int
    sends: tuple[tuple[int, int, int], ...]  # (receiver, sender, content)


@dataclass
class Host:
    """Stands in for PerNode while one event is handled."""

    model: Model
    delivered: list[int]
    timers: dict[tuple[int, Hashable], int]
    sends: list[tuple[int, int, Any]] = field(default_factory=list)
    now_ps: int = 0
    context: Any = field(default_factory=lambda: SimpleNamespace(reaction_ps=0, record=lambda *_: None))
    nodes: tuple[Node, ...] = ()
    acting: Node | None = None

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> None:
        self.sends.append((peer, node, content))

    def declare_lookahead(self, node: int, topic: int, lookahead_ps: int) -> None:
        pass

    def set_timer(self, node: int, key: Hashable, delay_ps: int) -> None:
        self.timers[(node, key)] = 0

    def cancel_timer(self, node: int, key: Hashable) -> None:
        self.timers.pop((node, key), None)

    def new_message(self, node: int) -> int:
        number = sum(self.model.source[m] == node for m in self.delivered)
        return self.model.message(node, number, frozenset(self.delivered))

    def note(self, op: int, node: int, message: int) -> None:
        if op == DELIVER:
            if message in self.delivered:
                raise Broken(f"node {node} delivers {message} twice")
            self.model.on_delivery(self.delivered, message)
            self.delivered.append(message)


class Model:
    """All reachable states of some nodes that broadcast by a script."""

    def __init__(self, make: Callable[[int], Node], nodes: int, causal: bool) -> None:
        self.make, self.nodes, self.causal = make, nodes, causal
        self.source: list[int] = []
        self.past: list[frozenset[int]] = []
        self._ids: dict[tuple[int, int, frozenset[int]], int] = {}
        self._states: list[tuple[Node, tuple[int, ...], frozenset[Hashable]]] = []
        self._index: dict[Hashable, int] = {}
        self._steps: dict[tuple[int, int, Hashable], Step] = {}
        self.contents: list[Any] = []
        self._content_ids: dict[Hashable, int] = {}

    def message(self, source: int, number: int, past: frozenset[int]) -> int:
        key = (source, number, past)
        if key not in self._ids:
            self._ids[key] = len(self.source)
            self.source.append(source)
            self.past.append(past)
        return self._ids[key]

    def on_delivery(self, delivered: list[int], message: int) -> None:
        if self.causal and not self.past[message] <= set(delivered):
            raise Broken(f"message {message} delivered before {sorted(self.past[message] - set(delivered))}")

    def delivered(self, state: int) -> tuple[int, ...]:
        return self._states[state][1]

    # ---- nodes ----------------------------------------------------------------------------------------------------
    def begin(self) -> tuple[int, ...]:
        return tuple(self._intern(i, self.make(i), (), frozenset()) for i in range(self.nodes))

    def _intern(self, i: int, node: Node, delivered: tuple[int, ...], timers: frozenset[Hashable]) -> int:
        node.__dict__.pop("runtime", None)
        key = (i, frozen(vars(node)), delivered if not self.causal else tuple(sorted(delivered)), timers)
        if key not in self._index:
            self._index[key] = len(self._states)
            self._states.append((node, delivered, timers))
        return self._index[key]

    def step(self, i: int, state: int, event: Hashable) -> Step:
        """Execute an event: ("broadcast",), ("packet", sender, content), ("timer", key) or (method, argument)."""
        key = (i, state, event)
        if key not in self._steps:
            self._steps[key] = self._work_out(i, state, event)
        return self._steps[key]

    def _work_out(self, i: int, state: int, event: Any) -> Step:
        node, delivered, timers = self._states[state]
        node = copy.deepcopy(node)
        host = Host(self, list(delivered), {(i, t): 0 for t in timers})
        node.runtime, node.id, host.acting = host, i, node  # type: ignore[assignment]
        if event[0] == "broadcast":
            node.on_broadcast(0, 0)
        elif event[0] == "packet":
            node.on_packet(self.contents[event[2]], event[1], 0)
        elif event[0] == "timer":
            del host.timers[(i, event[1])]
            node.on_timer(event[1])
        else:
            getattr(node, event[0])(*event[1:])
        sends = []
        for peer, sender, content in host.sends:
            key = frozen(content)
            if key not in self._content_ids:
                self._content_ids[key] = len(self.contents)
                self.contents.append(content)
            sends.append((peer, sender, self._content_ids[key]))
        left = frozenset(t for _, t in host.timers)
        return Step(self._intern(i, node, tuple(host.delivered), left), tuple(sends))

    def timers(self, state: int) -> frozenset[Hashable]:
        return self._states[state][2]


def frozen(value: Any) -> Hashable:
    """A hashable copy; what stands for a message is its id."""
    if hasattr(value, "number"):
        return ("m", value.number)
    if isinstance(value, dict):
        return tuple(sorted(((frozen(k), frozen(v)) for k, v in value.items()), key=repr))
    if isinstance(value, (set, frozenset)):
        return tuple(sorted(map(frozen, value), key=repr))
    if isinstance(value, (list, tuple)):
        return tuple(map(frozen, value))
    return bytes(value) if isinstance(value, bytearray) else value


class State(NamedTuple):
    """A world: node states, packets in flight (sorted), broadcasts still to come, and who has crashed."""

    nodes: tuple[int, ...]
    flying: tuple[tuple[int, int, int], ...]
    script: tuple[int, ...]
    crashed: int = -1
    reported: frozenset[int] = frozenset()
    """The processes that know of the crash."""


def explore(model: Model, script: tuple[int, ...], may_crash: int = -1) -> int:
    """Visits every reachable state; checks the final ones; returns how many states there are."""
    first = State(model.begin(), (), script)
    seen, todo = {first}, [first]
    while todo:
        state = todo.pop()
        final = True
        for following in _next(model, state, may_crash):
            final = False
            if following not in seen:
                seen.add(following)
                todo.append(following)
        if final:
            _check_final(model, state)
    return len(seen)


def _next(model: Model, state: State, may_crash: int) -> Iterator[State]:
    for at, i in enumerate(state.script):
        if i not in state.script[:at]:
            rest = state.script[:at] + state.script[at + 1 :]
            yield _apply(model, state._replace(script=rest), i, ("broadcast",))
    for at, packet in enumerate(state.flying):
        if at == 0 or packet != state.flying[at - 1]:
            receiver, sender, content = packet
            rest_flying = state.flying[:at] + state.flying[at + 1 :]
            yield _apply(model, state._replace(flying=rest_flying), receiver, ("packet", sender, content))
    for i, node in enumerate(state.nodes):
        if i != state.crashed:
            for key in model.timers(node):
                yield _apply(model, state, i, ("timer", key))
    if may_crash >= 0 and state.crashed < 0:
        yield state._replace(
            crashed=may_crash,
            flying=tuple(p for p in state.flying if p[0] != may_crash),
            script=tuple(i for i in state.script if i != may_crash),
        )
    if state.crashed >= 0:
        for i in range(model.nodes):
            if i != state.crashed and i not in state.reported:
                yield _apply(model, state._replace(reported=state.reported | {i}), i, ("on_crash", state.crashed))


def _apply(model: Model, state: State, i: int, event: Hashable) -> State:
    step = model.step(i, state.nodes[i], event)
    nodes = (*state.nodes[:i], step.state, *state.nodes[i + 1 :])
    sends = [p for p in step.sends if p[0] != state.crashed]
    flying = tuple(sorted([*state.flying, *sends])) if sends else state.flying
    return state._replace(nodes=nodes, flying=flying)


def _check_final(model: Model, state: State) -> None:
    """Check a quiescent model: every correct process has delivered all messages of all correct processes."""
    correct = [i for i in range(model.nodes) if i != state.crashed]
    sent = {m for i in range(model.nodes) for m in model.delivered(state.nodes[i]) if model.source[m] in correct}
    for i in correct:
        missing = sent - set(model.delivered(state.nodes[i]))
        if missing:
            raise Broken(f"node {i} never delivers {sorted(missing)}")
        if model.timers(state.nodes[i]):
            raise Broken(f"node {i} waits for a timer for ever")
