"""Nodes as machines: what an event does to a node depends on the node alone, so it is worked out once and kept.

A node's state is a number, and so is a packet; the state of a world is a tuple of such numbers. What makes that right:

- a message is named by who broadcast it, as which of its own, and what it knew by then, not by when;
- a node's clock stands still but for its own timers. Whether nodes look at it is noticed; if they do not, it is no part
  of their state;
- nodes share nothing that changes. That is watched: if an event at one node changes another, the search stops;
- what nodes record of calls has an order between nodes, so it is part of the world's state, not of theirs.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from causeway.bridge.errors import UserError
from causeway.pycontrol.check.frozen import frozen
from causeway.pycontrol.check.properties import OnDelivery
from causeway.pycontrol.check.world import DETACHED, STEP_PS, Event, raised
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT, Context
from causeway.pycontrol.watchdog import TookTooLong, calls_handlers

BROADCAST, CRASH, RECOVER, LOSS, TWICE = ("broadcast",), ("crash",), ("recover",), ("loss",), ("twice",)


class Facts(NamedTuple):
    """What the world knows of a node besides the node's own state."""

    timers: tuple[tuple[Hashable, int], ...] = ()
    """Key and when it is due; 0 if nobody looks at the clock."""
    now_ps: int = 0
    delivered: tuple[int, ...] = ()
    own: tuple[int, ...] = ()
    """The messages that it broadcast."""
    down: bool = False
    failed: bool = False
    """At some time."""
    gone: bool = False


class Step(NamedTuple):
    """What an event does to a node."""

    state: int
    sends: tuple[int, ...]
    """Packets, in order."""
    receivers: int
    """Bit mask of the nodes that get any of them."""
    broken: str | None
    said: tuple[int, ...] = ()
    """What is recorded of calls (`Machine.sayings`), in order."""


class Copy(NamedTuple):
    """One copy of a packet, for one receiver. Equal copies are one packet."""

    receiver: int
    sender: int
    interface: int
    content: int


class Forgetful(Context):
    """Keeps no samples: a search makes too many."""

    def record(self, module: str, name: str, time_ps: int, value: float) -> None:
        pass


def _may_change(value: Any) -> bool:
    return isinstance(value, dict | list | set | bytearray) or hasattr(value, "__dict__")


@dataclass(eq=False)
class Desk:
    """Stands in for a node's `PerNode` while one event is handled: what the node asks for is written down here."""

    machine: Machine
    node: int
    facts: Facts
    log: list[Event] | None = None

    def __post_init__(self) -> None:
        self.timers = {(self.node, key): due_ps for key, due_ps in self.facts.timers}
        self.delivered, self.own = list(self.facts.delivered), list(self.facts.own)
        self.gone, self.stop, self.context = self.facts.gone, False, self.machine.context
        self.broken: str | None = None
        self.sends: list[int] = []
        self.said: list[int] = []
        self.clock_ps = self.facts.now_ps

    def __getattr__(self, name: str) -> Any:
        return getattr(self.machine.protocol, name)

    @property
    def now_ps(self) -> int:
        if not self.machine.timed:
            self.machine.looked_at_clock = True
        return self.clock_ps

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> None:
        machine = self.machine
        receivers = [i for i in range(machine.count) if i != node] if peer == EVERYONE else [peer]
        kept = machine.content(content)
        for receiver in receivers:
            packet = machine.packet(Copy(receiver, node, interface, kept))
            self.sends.append(packet)
            self._tell("sent", packet, receiver, str(content))

    def patient(self, node: int, topic: int, patience_ps: int) -> None:
        """Every event is told at once."""

    def set_timer(self, node: int, key: Hashable, delay_ps: int) -> None:
        self.timers[node, key] = self.clock_ps + STEP_PS + delay_ps if self.machine.timed else 0

    def cancel_timer(self, node: int, key: Hashable) -> None:
        self.timers.pop((node, key), None)

    def switch(self, node: int, up: bool) -> None:
        raise UserError("a node of this protocol fails others; `check --every` cannot do that, leave --every away")

    def recorded(self, kind: str, node: int, said: Any) -> None:
        self.machine.recorded_calls = True
        self.said.append(self.machine.saying((kind, node, said)))
        self._tell("call" if kind == "call" else "return", -1, text=str(said))

    def broadcast(self, node: int) -> int:
        message = self.machine.message(node, len(self.own), frozenset(self.delivered) | frozenset(self.own))
        self.own.append(message)
        self._tell("broadcast", message)
        return message

    def note(self, op: int, node: int, message: int) -> None:
        if op == DELIVER:
            self.delivered.append(message)
            self._tell("delivered", message)
            self.broken = self.broken or self.machine.look(self)
        elif op == LEFT:
            self.gone = True
            self._tell("left", -1)
        elif op == JOINED:
            raise UserError("nodes of this protocol join while it runs; `check --every` cannot do that, leave it away")

    def _tell(self, what: str, number: int, peer: int = -1, text: str = "") -> None:
        if self.log is not None:
            self.log.append(Event(self.clock_ps, what, self.node, number, peer, text))


@dataclass(eq=False)
class Row:
    """One node, as the properties that are looked at on delivery see a world: only its own rows are there."""

    count: int
    delivered: dict[int, Sequence[int]]
    known: dict[int, set[int]]
    source: list[int]
    past: list[frozenset[int]]
    owed: None = None


@dataclass(eq=False)
class Machine:
    """All states of the nodes of one protocol that were met, and what every event did to each."""

    protocol: PerNode
    count: int
    seed: int = 1
    watched: tuple[OnDelivery, ...] = ()
    ordered: bool = True
    """Whether it matters in which order a node delivered what it delivered."""
    timed: bool = False
    calls: dict[str, Callable[[Node], None]] = field(default_factory=dict)
    """What the application can do at a node besides broadcasting."""
    looked_at_clock: bool = False
    keeps_calls: bool = False
    """Whether states hold what nodes recorded of calls."""
    recorded_calls: bool = False

    def __post_init__(self) -> None:
        self.states: list[tuple[Node, Facts]] = []
        self.copies: list[Copy] = []
        self.contents: list[Any] = []
        self.sayings: list[tuple[str, int, Any]] = []
        self.source: list[int] = []
        self.past: list[frozenset[int]] = []
        self._state_ids: dict[Hashable, int] = {}
        self._copy_ids: dict[Copy, int] = {}
        self._content_ids: dict[Hashable, int] = {}
        self._saying_ids: dict[Hashable, int] = {}
        self._message_ids: dict[tuple[int, int, frozenset[int]], int] = {}
        self._steps: dict[tuple[int, int, Hashable], Step] = {}
        self.context = Forgetful(self.count, self.seed, STEP_PS)
        self._make_nodes()
        self.begun = [
            self._done(node, Desk(self, id_, Facts()), "on_start", ()) for id_, node in enumerate(self.protocol.nodes)
        ]

    def _make_nodes(self) -> None:
        """As PerNode does; but they start one by one, later."""
        protocol: Any = self.protocol

        def make(nodes: int, what: Callable[[int], None], handler: str) -> None:
            if handler == "make":
                for id_ in range(nodes):
                    what(id_)

        for name in DETACHED:
            protocol.__dict__.pop(name, None)
        protocol.nodes.clear()
        protocol._each = make
        protocol.start(self.context)
        held = Counter(id(value) for node in protocol.nodes for value in vars(node).values() if _may_change(value))
        self._shared = {
            name: frozen(value, node.not_state)
            for node in protocol.nodes
            for name, value in vars(node).items()
            if held[id(value)] > 1 and value is not protocol and name not in node.not_state
        }

    @property
    def must_look_again(self) -> bool:
        """Whether a node looked at its clock or recorded a call, and states do not know it."""
        return (self.looked_at_clock and not self.timed) or (self.recorded_calls and not self.keeps_calls)

    # ---- names ------------------------------------------------------------------------------------------------------
    def content(self, content: Any) -> int:
        """The number of what a packet says."""
        key = (type(content).__name__, frozen(content))
        if key not in self._content_ids:
            self._content_ids[key] = len(self.contents)
            self.contents.append(copy.deepcopy(content))
        return self._content_ids[key]

    def packet(self, copy_: Copy) -> int:
        if copy_ not in self._copy_ids:
            self._copy_ids[copy_] = len(self.copies)
            self.copies.append(copy_)
        return self._copy_ids[copy_]

    def saying(self, said: tuple[str, int, Any]) -> int:
        """The number of what a node recorded."""
        key = frozen(said)
        if key not in self._saying_ids:
            self._saying_ids[key] = len(self.sayings)
            self.sayings.append(copy.deepcopy(said))
        return self._saying_ids[key]

    def message(self, source: int, number: int, past: frozenset[int]) -> int:
        key = (source, number, past)
        if key not in self._message_ids:
            self._message_ids[key] = len(self.source)
            self.source.append(source)
            self.past.append(past)
        return self._message_ids[key]

    def look(self, desk: Desk) -> str | None:
        """What the delivery that just happened breaks."""
        known = set(desk.delivered) | set(desk.own)
        row = Row(self.count, {desk.node: desk.delivered}, {desk.node: known}, self.source, self.past)
        return next((found for rule in self.watched if (found := rule(row, desk.node)) is not None), None)

    # ---- steps ------------------------------------------------------------------------------------------------------
    def step(self, node: int, state: int, event: Hashable) -> Step:
        """What an event does: a packet's number, ("timer", key), ("call", name), BROADCAST, CRASH or RECOVER."""
        key = (node, state, event)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = self.work_out(node, state, event)
        return found

    def work_out(self, node: int, state: int, event: Any, log: list[Event] | None = None) -> Step:
        """The same, not remembered, and told to `log`."""
        kept, facts = self.states[state]
        handler = self._copied(kept)
        desk = Desk(self, node, facts, log)
        if isinstance(event, int):
            if facts.down:
                return Step(state, (), 0, None)
            said = self.copies[event]
            return self._done(
                handler, desk, "on_packet", (copy.deepcopy(self.contents[said.content]), said.sender, said.interface)
            )
        what = event[0]
        if what == "timer":
            due_ps = desk.timers.pop((node, event[1]))
            desk.clock_ps = max(desk.clock_ps, due_ps)
            return self._done(handler, desk, "on_timer", (event[1],))
        if what == "broadcast":
            return self._done(handler, desk, "on_broadcast", (len(facts.own), 100))
        if what == "call":
            return self._done(handler, desk, event[1], ())
        desk.facts = facts._replace(down=what == "crash", failed=True)
        if log is not None:
            log.append(Event(desk.clock_ps, what, node, -1, -1, ""))
        if what == "crash":
            desk.timers.clear()
        return self._done(handler, desk, "on_down" if what == "crash" else "on_up", ())

    def _copied(self, node: Node) -> Node:
        memo: dict[int, Any] = {id(value): value for name, value in vars(node).items() if name in node.not_state}
        try:
            return copy.deepcopy(node, memo)
        except TypeError as error:  # a coroutine, a file, a lock
            raise UserError(
                f"every order needs nodes that can be copied, and {type(node).__name__} holds what cannot ({error}); "
                "leave --every away, and many orders are made up"
            ) from None

    @calls_handlers
    def _done(self, node: Node, desk: Desk, handler: str, given: tuple[Any, ...]) -> Step:
        """Lets the node handle it; the state that it is in then."""
        anything: Any = node
        anything.host, anything.id = desk, desk.node
        try:
            if handler in self.calls:
                self.calls[handler](node)
            else:
                getattr(node, handler)(*given)
        except UserError:
            raise
        except TookTooLong as error:
            raise UserError(raised(desk.node, error)) from None
        except Exception as error:
            desk.broken = desk.broken or raised(desk.node, error)
        self._check_shared(node)
        receivers = 0
        for packet in desk.sends:
            receivers |= 1 << self.copies[packet].receiver
        del anything.host
        return Step(self._state(node, desk), tuple(desk.sends), receivers, desk.broken, tuple(desk.said))

    def _check_shared(self, node: Node) -> None:
        for name, before in self._shared.items():
            if hasattr(node, name) and frozen(getattr(node, name), node.not_state) != before:
                raise UserError(
                    f"nodes share {name!r}, and one of them changed it, which `check --every` cannot follow; "
                    f"if it only counts, name it in `not_state` of {type(node).__name__}"
                )

    def _state(self, node: Node, desk: Desk) -> int:
        timers = tuple(sorted(((key, due) for (_, key), due in desk.timers.items()), key=repr))
        delivered = tuple(desk.delivered if self.ordered else sorted(desk.delivered))
        facts = desk.facts._replace(
            timers=timers, now_ps=desk.clock_ps if self.timed else 0, delivered=delivered, own=tuple(desk.own),
            gone=desk.gone,
        )  # fmt: skip
        counts = {name: value for name, value in vars(node).items() if name not in node.not_state}
        key = (desk.node, frozen(counts, node.not_state), facts)
        if key not in self._state_ids:
            self._state_ids[key] = len(self.states)
            self.states.append((node, facts))
        return self._state_ids[key]
