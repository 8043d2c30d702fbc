"""Nodes as state machines: the effect of an event depends only on the node's state, and is computed once.

A node's state is a number, and so is a packet; the state of a model is a tuple of such numbers. This is correct because

- a message is identified by its sender, its number at the sender and its causal past, not by the time of its broadcast;
- a node's clock advances with its own timers only. It is part of the node's state if nodes read it, which is detected.
  If all nodes have one clock (`late`), it is part of the model's state;
- nodes have no common object that changes. If an event at one node changes such an object, the search stops;
- calls that nodes record are ordered across nodes, and therefore part of the model's state.

Start here: `Machine.step`.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from causeway.errors import UserError
from causeway.explore.model import STEP_PS, Model, raised
from causeway.explore.randomness import incompleteness
from causeway.network.networks import WIRELESS
from causeway.pycontrol import arguments
from causeway.pycontrol.answers import Actor
from causeway.pycontrol.confined import acting
from causeway.pycontrol.frozen import frozen
from causeway.pycontrol.node import EVERYONE, Node
from causeway.pycontrol.node_requests import receive
from causeway.pycontrol.node_timers import fire, forget_calls
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT, Context
from causeway.pycontrol.protocol_errors import says_where
from causeway.pycontrol.watchdog import TookTooLong, calls_handlers

BROADCAST, CRASH, RECOVER, LOSS, TWICE = ("broadcast",), ("crash",), ("recover",), ("loss",), ("twice",)


class Facts(NamedTuple):
    """The part of a node's state that the model keeps."""

    timers: tuple[tuple[Hashable, int], ...] = ()
    """The keys of timers and the times at which they are due; 0 if no node reads its clock."""
    now_ps: int = 0
    delivered: tuple[int, ...] = ()
    own: tuple[int, ...] = ()
    """The messages that it broadcast."""
    down: bool = False
    failed: bool = False
    """True if it has ever been down."""
    gone: bool = False


class Step(NamedTuple):
    """The effect of an event on a node."""

    state: int
    sends: tuple[int, ...]
    """The packets that it sends, in order."""
    receivers: int
    """The nodes that get any of these packets, as a bit mask. It is not used if receivers depend on cells."""
    broken: str | None
    records: tuple[int, ...] = ()
    """The calls and results that it records (`Machine.record_values`), in order."""


class Copy(NamedTuple):
    """A copy of a packet for one receiver (or for EVERYONE in reach). Equal copies count as one packet."""

    receiver: int
    sender: int
    interface: int
    content: int


class NullContext(Context):
    """A context that drops samples, since a search would make too many."""

    def record(self, module: str, name: str, time_ps: int, value: float) -> None:
        """Drop a sample."""


def _may_change(value: Any) -> bool:
    if isinstance(value, Enum):
        return False
    return isinstance(value, dict | list | set | bytearray) or hasattr(value, "__dict__")


@dataclass(eq=False)
class NodeStub:
    """Replaces a node's `PerNode` while it handles one event, and collects its actions."""

    machine: Machine
    node: int
    facts: Facts
    clock_ps: int

    def __post_init__(self) -> None:
        self.timers = {(self.node, key): due_ps for key, due_ps in self.facts.timers}
        self.delivered, self.own = list(self.facts.delivered), list(self.facts.own)
        self.gone, self.stop, self.context = self.facts.gone, False, self.machine.context
        self.broken: str | None = None
        self.acting: Node | None = None
        self.sends: list[int] = []
        self.records: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.machine.protocol, name)

    def tick(self, now_ps: int) -> None:
        """Set the node's clock."""
        self.clock_ps = now_ps

    @property
    def now_ps(self) -> int:
        """The node's clock. The machine records that the node has read it."""
        if not self.machine.timed:
            self.machine.looked_at_clock = True
        return self.clock_ps

    def time_for_logs(self) -> int:
        """Return the node's clock. Reading it for the log does not make it a part of the node's state."""
        return self.clock_ps

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> None:
        """Send a copy to each receiver."""
        machine, receivers = self.machine, [peer]
        if not EVERYONE <= peer < machine.count:
            arguments.packet(peer, size_bytes, interface, topic, machine.count)
        if peer == EVERYONE and not (machine.model.cells and interface == WIRELESS):
            receivers = [i for i in range(machine.count) if i != node]
        kept = machine.content(content)
        self.sends += [machine.packet(Copy(receiver, node, interface, kept)) for receiver in receivers]

    def declare_lookahead(self, node: int, topic: int, lookahead_ps: int) -> None:
        """Ignore a lookahead, since a model has no windows."""

    def set_timer(self, node: int, key: Hashable, delay_ps: int) -> None:
        """Set a timer."""
        self.timers[node, key] = self.clock_ps + STEP_PS + delay_ps if self.machine.timed else 0

    def cancel_timer(self, node: int, key: Hashable) -> None:
        """Cancel a timer, if it is set."""
        self.timers.pop((node, key), None)

    def switch(self, node: int, up: bool) -> None:
        """Refuse a node that makes another one fail.

        Raises:
            UserError: Always.
        """
        raise UserError(
            f"node {self.node} makes node {node} fail, which `check --every` does not support; omit --every"
        )

    def recorded(self, kind: str, node: int, value: Any) -> None:
        """Record a call of the application, or its return."""
        self.machine.recorded_calls = True
        self.records.append(self.machine.record_id((kind, node, value)))

    def new_message(self, node: int) -> int:
        """Record a new message of the node, and return its id.

        Raises:
            UserError: The node has left.
        """
        if self.gone:
            raise UserError(
                f"node {node} broadcasts after it left, which `check --every` does not support; omit --every"
            )
        message = self.machine.message(node, len(self.own), frozenset(self.delivered) | frozenset(self.own))
        self.own.append(message)
        return message

    def note(self, op: int, node: int, message: int) -> None:
        """Record a delivery and check the properties, or record that the node left."""
        if op == DELIVER:
            self.delivered.append(message)
            self.broken = self.broken or self.machine.look(self)
        elif op == LEFT:
            self.gone = True
        elif op == JOINED:
            raise UserError(f"node {node} joins during the run, which `check --every` does not support; omit --every")


@dataclass(eq=False)
class Row:
    """The view of a model for properties that are checked at deliveries. It contains only the rows of one node."""

    count: int
    delivered: dict[int, Sequence[int]]
    known: dict[int, set[int]]
    source: list[int]
    past: list[frozenset[int]]
    owed: None = None


@dataclass(eq=False)
class Machine:
    """The known states of a protocol's nodes, and the known effects of events on them."""

    model: Model
    """The model at its start. The machine uses its nodes, and no event happens in it."""
    ordered: bool = True
    """True if a property depends on the order of a node's deliveries."""
    timed: bool = False
    """True if states include the nodes' clocks."""
    keeps_calls: bool = False
    """True if states include the recorded calls."""
    late: bool = False
    """True if all nodes have one clock, which is part of the model's state."""
    looked_at_clock: bool = False
    recorded_calls: bool = False

    def __post_init__(self) -> None:
        model = self.model
        self.protocol, self.count, self.calls = model.protocol, model.count, model.calls
        self.states: list[tuple[Node, Facts]] = []
        self.copies: list[Copy] = []
        self.contents: list[Any] = []
        self.record_values: list[tuple[str, int, Any]] = []
        self.source: list[int] = []
        self.past: list[frozenset[int]] = []
        self._state_ids: dict[Hashable, int] = {}
        self._copy_ids: dict[Copy, int] = {}
        self._content_ids: dict[Hashable, int] = {}
        self._record_ids: dict[Hashable, int] = {}
        self.named: list[tuple[int, int, frozenset[int]]] = []
        """The identity of each message: its sender, its number there, and its causal past."""
        self.worked_out: list[tuple[int, int, Hashable, int]] = []
        """The arguments of `step` whose effects are known."""
        self._message_ids: dict[tuple[int, int, frozenset[int]], int] = {}
        self._steps: dict[tuple[int, int, Hashable, int], Step] = {}
        self.context = NullContext(self.count, model.seed, STEP_PS)
        self._watch_shared()
        self._adopt(model)

    def _watch_shared(self) -> None:
        nodes = self.model.nodes
        held = Counter(id(value) for node in nodes for value in vars(node).values() if _may_change(value))
        self._shared = {
            name: frozen(value, node.not_state)
            for node in nodes
            for name, value in vars(node).items()
            if held[id(value)] > 1 and value is not self.protocol and name not in node.not_state
        }

    def _adopt(self, model: Model) -> None:
        """Use the model's nodes, messages and packets."""
        names: dict[int, int] = {}
        for message, source in enumerate(model.source):
            number = sum(model.source[m] == source for m in range(message))
            names[message] = self.message(source, number, frozenset(names[m] for m in model.past[message]))
        self.begun = [self._adopted_state(model, id_, names) for id_ in range(self.count)]
        self.on_the_way = [
            self.packet(Copy(p.receiver, p.sender, p.interface, self.content(p.content))) for p in model.flying
        ]
        self.records = tuple(self.record_id(call) for call in model.history)
        self.recorded_calls = bool(self.records)

    def _adopted_state(self, model: Model, id_: int, names: dict[int, int]) -> int:
        return self.kept(id_, model.nodes[id_], self._facts(model, id_, names))

    def _facts(self, model: Model, id_: int, names: dict[int, int]) -> Facts:
        timers = {key: due_ps if self.timed else 0 for (owner, key), due_ps in model.timers.items() if owner == id_}
        return Facts(
            _in_order(timers), model.now_ps if self.timed and not self.late else 0,
            tuple(names[m] for m in model.delivered[id_]),
            tuple(names[m] for m, source in enumerate(model.source) if source == id_),
            id_ in model.down, id_ in model.failed, id_ in model.gone,
        )  # fmt: skip

    @property
    def needs_restart(self) -> bool:
        """True if a node read its clock or recorded a call, and states do not include these."""
        return (self.looked_at_clock and not self.timed) or (self.recorded_calls and not self.keeps_calls)

    # ---- numbers of objects -----------------------------------------------------------------------------------------
    def content(self, content: Any) -> int:
        """Return the number of a packet's content."""
        key = (type(content).__name__, frozen(content))
        if key not in self._content_ids:
            self._content_ids[key] = len(self.contents)
            self.contents.append(copy.deepcopy(content))
        return self._content_ids[key]

    def packet(self, copy_: Copy) -> int:
        """Return the number of a copy of a packet."""
        if copy_ not in self._copy_ids:
            self._copy_ids[copy_] = len(self.copies)
            self.copies.append(copy_)
        return self._copy_ids[copy_]

    def record_id(self, call: tuple[str, int, Any]) -> int:
        """Return the number of a recorded call or result."""
        key = frozen(call)
        if key not in self._record_ids:
            self._record_ids[key] = len(self.record_values)
            self.record_values.append(copy.deepcopy(call))
        return self._record_ids[key]

    def message(self, source: int, number: int, past: frozenset[int]) -> int:
        """Return the id of a message, from its sender, its number there, and its causal past."""
        key = (source, number, past)
        if key not in self._message_ids:
            self._message_ids[key] = len(self.source)
            self.source.append(source)
            self.past.append(past)
            self.named.append(key)
        return self._message_ids[key]

    def look(self, stub: NodeStub) -> str | None:
        """Return the violation of the delivery that just happened, or None."""
        known = set(stub.delivered) | set(stub.own)
        row: Any = Row(self.count, {stub.node: stub.delivered}, {stub.node: known}, self.source, self.past)
        return next((found for rule in self.model.watched if (found := rule(row, stub.node)) is not None), None)

    # ---- steps ------------------------------------------------------------------------------------------------------
    def step(self, node: int, state: int, event: Hashable, now_ps: int = 0) -> Step:
        """Return the effect of an event on a node.

        Args:
            node: The node.
            state: The number of its state.
            event: The number of a packet that arrives, ("timer", key), ("call", name), ("station", nearest), BROADCAST,
                CRASH or RECOVER.
            now_ps: The time, if all nodes have one clock.
        """
        key = (node, state, event, now_ps)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = self._compute(*key)
            self.worked_out.append(key)
        return found

    def randomness(self) -> str:
        """Return the reason why other effects than the computed ones are possible, or "" if there is none."""
        return incompleteness(self)

    def differs_when_repeated(self, key: tuple[int, int, Hashable, int]) -> bool:
        """Return whether a step has another effect if it is computed again."""
        return self._compute(*key) != self._steps[key]

    def _compute(self, node: int, state: int, event: Any, now_ps: int) -> Step:
        kept, facts = self.states[state]
        if facts.down and isinstance(event, int):
            return Step(state, (), 0, None)
        stub = NodeStub(self, node, facts, now_ps or facts.now_ps)
        copied: Any = self._copied(kept)
        copied.runtime, copied.id = stub, node
        self._call_handler(copied, stub, event)
        self._check_shared(copied)
        return self._step(self.kept(node, copied, self._facts_of(stub)), stub)

    def _call_handler(self, handler: Node, stub: NodeStub, event: Any) -> None:
        """Call the handler of an event."""
        if isinstance(event, int):
            sent = self.copies[event]
            content = copy.deepcopy(self.contents[sent.content])
            self._handled(handler, stub, "on_packet", (content, sent.sender, sent.interface))
            return
        what = event[0]
        if what == "timer":
            stub.tick(max(stub.clock_ps, stub.timers.pop((stub.node, event[1]))))
            self._handled(handler, stub, "on_timer", (event[1],))
        elif what == "broadcast":
            self._handled(handler, stub, "on_broadcast", (len(stub.own), 100))
        elif what == "call":
            self._handled(handler, stub, event[1], ())
        elif what == "station":
            self._handled(handler, stub, "on_station", (event[1], 0, 0))
        elif what == "crash":
            stub.facts = stub.facts._replace(down=True, failed=True)
            stub.timers.clear()
            forget_calls(handler)
            self._handled(handler, stub, "on_down", ())
        else:
            stub.facts = stub.facts._replace(down=False)
            self._handled(handler, stub, "on_up", ())

    def _copied(self, node: Node) -> Node:
        memo: dict[int, Any] = {id(value): value for name, value in vars(node).items() if name in node.not_state}
        try:
            return copy.deepcopy(node, memo)
        except TypeError as error:  # coroutines, files and locks cannot be copied
            raise UserError(
                f"`check --every` copies nodes, and {type(node).__name__} cannot be copied ({error}); omit --every for "
                "random schedules"
            ) from None

    @calls_handlers
    def _handled(self, node: Node, stub: NodeStub, handler: str, values: tuple[Any, ...]) -> None:
        """Call a handler or an action of the application. An error that it raises is a violation."""
        stub.acting, acting.host = node, Actor(stub)
        try:
            if handler in self.calls:
                self.calls[handler](node)
            elif handler == "on_packet":
                receive(node, *values)
            elif handler == "on_timer":
                fire(node, *values)
            else:
                getattr(node, handler)(*values)
        except TookTooLong as error:
            raise UserError(raised(stub.node, error)) from None
        except Exception as error:
            if isinstance(error, UserError) and says_where(error):
                raise
            stub.broken = stub.broken or raised(stub.node, error)
        finally:
            acting.host = None

    def _step(self, state: int, stub: NodeStub) -> Step:
        """Return the effect of the event that was handled."""
        receivers = 0
        for packet in stub.sends:
            receivers |= 1 << max(0, self.copies[packet].receiver)
        return Step(state, tuple(stub.sends), receivers, stub.broken, tuple(stub.records))

    def _check_shared(self, node: Node) -> None:
        for name, before in self._shared.items():
            if hasattr(node, name) and frozen(getattr(node, name), node.not_state) != before:
                raise UserError(
                    f"nodes share {name!r}, and one of them changed it, which `check --every` does not support; if it "
                    f"is only a counter, add it to `not_state` of {type(node).__name__}"
                )

    def _facts_of(self, stub: NodeStub) -> Facts:
        delivered = tuple(stub.delivered if self.ordered else sorted(stub.delivered))
        return stub.facts._replace(
            timers=_in_order({key: due_ps for (_, key), due_ps in stub.timers.items()}),
            now_ps=stub.clock_ps if self.timed and not self.late else 0, delivered=delivered, own=tuple(stub.own),
            gone=stub.gone,
        )  # fmt: skip

    def kept(self, id_: int, node: Node, facts: Facts) -> int:
        """Return the number of a node's state."""
        vars(node).pop("runtime", None)
        counts = {name: value for name, value in vars(node).items() if name not in node.not_state}
        key = (id_, frozen(counts, node.not_state, (id(node),)), facts)
        if key not in self._state_ids:
            self._state_ids[key] = len(self.states)
            self.states.append((node, facts))
        return self._state_ids[key]


def _in_order(timers: dict[Hashable, int]) -> tuple[tuple[Hashable, int], ...]:
    return tuple(sorted(timers.items(), key=repr))
