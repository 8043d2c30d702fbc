"""The model: a small network in memory. The caller chooses each event from `Model.choices` and calls `Model.do`.

Packets take any time and arrive in any order. Packets over wires and TCP arrive in the order of their sending and are
never lost. A node that crashes loses its timers, and packets that arrive while it is down are lost. Actions of nodes
take effect at once: the reaction time only separates two events of one node. `clocks` defines the order of timers.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from causeway.errors import UserError
from causeway.network.networks import WIRELESS
from causeway.pycontrol import arguments
from causeway.pycontrol.confined import acting
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.node_requests import receive
from causeway.pycontrol.node_timers import fire, forget_calls, timer_in_words
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT, Context
from causeway.pycontrol.protocol_errors import says_where, user_frames
from causeway.pycontrol.shared import ChangedContent
from causeway.pycontrol.watchdog import TookTooLong, calls_handlers
from causeway.signatures import checked_arguments

STEP_PS = 1_000_000
"""The time between two events, unless a timer is due later. It is also the reaction time."""
Reach = tuple[int, ...]
"""The stations that reach a host, the nearest first."""


class Packet(NamedTuple):
    """A copy of a packet that is on its way to a node."""

    number: int
    """The id of the packet, which its copies share."""
    sender: int
    receiver: int
    content: Any
    interface: int


class Choice(NamedTuple):
    """An event that can happen next: packet, loss, twice, timer, broadcast, call, crash, recover or move."""

    what: str
    node: int
    packet: Packet | None = None
    key: Hashable = None


class Event(NamedTuple):
    """An entry of the log."""

    time_ps: int
    what: str
    """The kind of a choice, or sent, delivered, broadcast (of a message), left, joined, return or station."""
    node: int
    number: int
    """The id of the packet or message, or the station; -1: none."""
    peer: int
    """The other end of a packet; -1: none."""
    text: str


class Log(NamedTuple):
    """The log of a model."""

    events: tuple[Event, ...] = ()
    calm_at: int = -1
    """The number of events before faults ended (`Model.calm_down`); -1 if they did not end."""


def raised(node: int, error: BaseException) -> str:
    """Return the violation of a node that raises an error: the error and the line."""
    if isinstance(error, ChangedContent):  # its message names the handler; its traceback ends at the comparison
        return f"an error: node {node}: {error}"
    last = (user_frames(error) or traceback.extract_tb(error.__traceback__))[-1]
    return f"an error: node {node} raises {type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"


@checked_arguments
@dataclass
class Budget:
    """Upper bounds on losses, crashes and other optional events."""

    broadcasts: int = 3
    losses: int = 0
    duplicates: int = 0
    crashes: int = 0
    calls: int = 0
    """Other actions of the application (`Model.calls`)."""
    moves: int = 0
    """Changes of cells by hosts."""
    early: int = 0
    """Timers that may fire while packets are on their way, with LATE_CLOCKS."""
    recover: bool = True
    """Nodes that are down may recover."""
    forever: bool = False
    """Copies by radio stay on their way for ever, so each may arrive again at any time."""
    in_order: bool = False
    """Copies by radio between two nodes are not lost and arrive in the order of their sending."""


ONE_CLOCK, OWN_CLOCKS, NO_CLOCKS, LATE_CLOCKS = "one", "own", "none", "late"
"""The order in which timers fire:

    ONE_CLOCK    the order in which they are due
    OWN_CLOCKS   for the timers of one node, the order in which they are due
    NO_CLOCKS    any order
    LATE_CLOCKS  the order in which they are due, and only when no other spontaneous event is left (timeouts are longer
                 than all delays)
"""


def attach(protocol: Any, mine: Any) -> None:
    """Redirect the services that nodes call on their protocol to the object `mine`."""
    protocol.send, protocol.declare_lookahead, protocol.recorded = mine.send, mine.declare_lookahead, mine.recorded
    protocol.packets_on_their_way = mine.packets_on_their_way
    protocol.set_timer, protocol.cancel_timer, protocol.timers = mine.set_timer, mine.cancel_timer, mine.timers
    protocol.switch, protocol.new_message, protocol.note = mine.switch, mine.new_message, mine.note


@dataclass
class Model:
    """A model: the nodes and the network between them. It replaces the engine and the services of `protocol`."""

    cells: ClassVar[bool] = False
    """True if the receivers of a packet to everyone depend on the nodes' positions."""
    protocol: PerNode
    count: int
    budget: Budget
    seed: int = 1
    broadcasters: tuple[int, ...] = ()
    """The nodes that may broadcast; empty: all."""
    callers: tuple[int, ...] = ()
    """The nodes at which the application may take its other actions; empty: all."""
    crashers: tuple[int, ...] = ()
    """The nodes that may crash; empty: all."""
    size_bytes: int = 100
    flying: list[Packet] = field(default_factory=list)
    """The copies that are on their way, in the order of their sending."""
    timers: dict[tuple[int, Hashable], int] = field(default_factory=dict)
    """The timers that are set, and the times at which they are due."""
    down: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    """The nodes that have been down at least once."""
    gone: set[int] = field(default_factory=set)
    """The nodes that left for good."""
    delivered: list[list[int]] = field(default_factory=list)
    """The messages that each node delivered, in order."""
    source: list[int] = field(default_factory=list)
    """The sender of each message."""
    past: list[frozenset[int]] = field(default_factory=list)
    """The messages that the sender of each message had delivered or broadcast before, and their pasts."""
    known: list[set[int]] = field(default_factory=list)
    """The causal past of each node."""
    owed: dict[int, set[int]] = field(default_factory=dict)
    """The messages that were broadcast since each member joined."""
    history: list[tuple[str, int, Any]] = field(default_factory=list)
    """The calls of the application and their results, in order (`linearizability.py`)."""
    log: list[Event] = field(default_factory=list)
    calm_at: int = -1
    """The length of the log when faults ended; -1 if they have not ended."""
    packets: int = 0
    clocks: str = ONE_CLOCK
    calls: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    """The other actions of the application, by name: functions that are called with a node."""
    watched: tuple[Callable[[Model, int], str | None], ...] = ()
    """The properties that are checked at each delivery."""
    broken: str | None = None
    """The first violation."""

    def __post_init__(self) -> None:
        self.delivered = [[] for _ in range(self.count)]
        self.known = [set() for _ in range(self.count)]
        self.clock_ps = [0] * self.count
        self.owed = {i: set() for i in range(self.count)}
        attach(self.protocol, self)
        self.protocol.start(Context(self.count, self.seed, STEP_PS))

    def close(self) -> None:
        """End the model, and everything in its nodes that still runs."""
        self.protocol.discard()
        self.protocol.check_end()

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the protocol."""
        return self.protocol.nodes

    @property
    def messages(self) -> range:
        """The ids of all messages that were broadcast."""
        return range(len(self.source))

    @property
    def whole_log(self) -> Log:
        """A copy of the log."""
        return Log(tuple(self.log), self.calm_at)

    @property
    def now_ps(self) -> int:
        """The time of the last event."""
        return self.protocol.now_ps

    # ---- choices ----------------------------------------------------------------------------------------------------
    def choices(self) -> list[Choice]:
        """Return all events that can happen next. The first one is that of a network without faults."""
        found = [Choice("packet", p.receiver, p) for p in self._arrivable()]
        found += [Choice("timer", node, key=key) for node, key in self._next_timer()]
        if self.budget.broadcasts:
            found += [Choice("broadcast", i) for i in self.broadcasters or range(self.count) if i not in self.down]
        if self.budget.calls:
            callers = [i for i in self.callers or range(self.count) if i not in self.down]
            found += [Choice("call", i, key=name) for name in self.calls for i in callers]
        lossy = [p for p in self._arrivable() if self._is_free(p)]
        found += [Choice("loss", p.receiver, p) for p in lossy if self.budget.losses]
        found += [Choice("twice", p.receiver, p) for p in lossy if self.budget.duplicates]
        if self.budget.crashes:
            found += [Choice("crash", i) for i in self.crashers or range(self.count) if i not in self.down]
        if self.budget.recover:
            found += [Choice("recover", i) for i in sorted(self.down)]
        return found

    def next_without_faults(self) -> Choice | None:
        """Return the next event without a fault and without the application, or None if there is none."""
        for packet in self._arrivable():
            return Choice("packet", packet.receiver, packet)
        for node, key in self._next_timer():
            return Choice("timer", node, key=key)
        return Choice("recover", min(self.down)) if self.down and self.budget.recover else None

    def calm_down(self) -> None:
        """End faults: from now on, no copy is lost or duplicated, and no node crashes."""
        if self.calm_at < 0:
            self.calm_at = len(self.log)
        budget = self.budget
        budget.forever = False
        budget.losses = budget.duplicates = budget.crashes = 0

    def _arrivable(self) -> list[Packet]:
        """Return the copies that can arrive next: all copies by radio, and the oldest copy of each wire or stream."""
        streams: set[tuple[int, int, int]] = set()
        found = []
        for packet in self.flying:
            stream = (packet.sender, packet.receiver, packet.interface)
            if self._is_free(packet) or stream not in streams:
                found.append(packet)
            streams.add(stream)
        return found

    def _is_free(self, packet: Packet) -> bool:
        """Return whether the copy may be lost and overtaken."""
        return packet.interface == WIRELESS and not self.budget.in_order

    def _next_timer(self) -> list[tuple[int, Hashable]]:
        """Return the timers that may fire next."""
        if not self.timers or self.clocks == NO_CLOCKS:
            return list(self.timers)
        if self.clocks == OWN_CLOCKS:
            first = {i: min(due for (owner, _), due in self.timers.items() if owner == i) for i, _ in self.timers}
            return [timer for timer, due_ps in self.timers.items() if due_ps == first[timer[0]]]
        if self.clocks == LATE_CLOCKS and self.busy() and not self.budget.early:
            return []
        first_ps = min(self.timers.values())
        return [timer for timer, due_ps in self.timers.items() if due_ps == first_ps]

    def busy(self) -> bool:
        """Return whether a spontaneous event other than a timer is left (not of the application, and not a fault)."""
        return bool(self.flying or (self.down and self.budget.recover))

    # ---- events -----------------------------------------------------------------------------------------------------
    @calls_handlers
    def do(self, choice: Choice) -> None:
        """Execute an event, with the actions of its node. An error that the node raises is a violation."""
        self._set_clock(choice)
        self.protocol.acting, acting.host = self.nodes[choice.node], self.protocol.actor
        try:
            self._do(*choice)
        except TookTooLong as error:  # the schedule is not shrunk, since every attempt would take as long
            raise UserError(raised(choice.node, error)) from None
        except Exception as error:
            if isinstance(error, UserError) and says_where(error):
                raise
            self.broken = self.broken or raised(choice.node, error)
        finally:
            acting.host = None

    def _set_clock(self, choice: Choice) -> None:
        due_ps = self.timers[choice.node, choice.key] if choice.what == "timer" else 0
        if self.clocks in (ONE_CLOCK, LATE_CLOCKS):
            self.protocol.now_ps = max(self.now_ps + (STEP_PS if self.clocks == ONE_CLOCK else 0), due_ps)
        else:
            self.clock_ps[choice.node] = max(self.clock_ps[choice.node], due_ps)
            self.protocol.now_ps = self.clock_ps[choice.node]

    def _do(self, what: str, node: int, packet: Packet | None, key: Hashable) -> None:
        handler = self.nodes[node]
        if packet is not None:
            self._on_packet(what, node, packet)
        elif what == "timer":
            self.budget.early -= self.clocks == LATE_CLOCKS and self.busy()
            del self.timers[node, key]
            self._log("timer", node, -1, -1, timer_in_words(handler, key))
            fire(handler, key)
        elif what == "broadcast":
            self.budget.broadcasts -= 1
            handler.on_broadcast(len(self.source), self.size_bytes)
        elif what == "call":
            self.budget.calls -= 1
            self._log("call", node, -1, -1, str(key))
            call = self.calls[str(key)]
            call(handler)
            if self.protocol.contents is not None:
                self.protocol.contents.look(handler, call)
        else:
            self.switch(node, what == "recover")

    def _on_packet(self, what: str, node: int, packet: Packet) -> None:
        """Make a copy arrive (packet), arrive and stay on its way (twice), or get lost (loss)."""
        self._log(what, node, packet.number, packet.sender, str(packet.content))
        stays = what == "twice" or (what == "packet" and self.budget.forever and self._is_free(packet))
        if not stays:
            self.flying.remove(packet)
        self.budget.losses -= what == "loss"
        self.budget.duplicates -= what == "twice"
        if what != "loss" and node not in self.down:
            receive(self.nodes[node], packet.content, packet.sender, packet.interface)

    def switch(self, node: int, up: bool) -> None:
        """Make a node crash or recover."""
        who, self.protocol.acting = self.protocol.acting, self.nodes[node]
        self._switch(node, up)
        self.protocol.acting = who

    def _switch(self, node: int, up: bool) -> None:
        self._log("recover" if up else "crash", node, -1, -1, "")
        if up:
            self.down.discard(node)
            self.nodes[node].on_up()
            return
        self.budget.crashes -= 1
        self.down.add(node)
        self.failed.add(node)
        for timer in [timer for timer in self.timers if timer[0] == node]:
            del self.timers[timer]
        forget_calls(self.nodes[node])
        self.nodes[node].on_down()

    # ---- services of nodes ------------------------------------------------------------------------------------------
    def declare_lookahead(self, node: int, topic: int, lookahead_ps: int) -> None:
        """Ignore a lookahead, since a model has no windows."""

    def packets_on_their_way(self) -> Container[int]:
        """Return the ids of the packets with copies that may still arrive."""
        return {packet.number for packet in self.flying}

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> int:
        """Send a copy to each receiver, and return the packet's id."""
        if not EVERYONE <= peer < self.count:
            arguments.packet(peer, size_bytes, interface, topic, self.count)
        receivers = [i for i in range(self.count) if i != node] if peer == EVERYONE else [peer]
        for receiver in receivers:
            self._log("sent", node, self.packets, receiver, str(content))
            self.flying.append(Packet(self.packets, node, receiver, content, interface))
        self.packets += 1
        return self.packets - 1

    def recorded(self, kind: str, node: int, value: Any) -> None:
        """Add a call of the application, or its return, to the history."""
        self.history.append((kind, node, value))
        self._log("call" if kind == "call" else "return", node, -1, -1, str(value))

    def set_timer(self, node: int, key: Hashable, delay_ps: int) -> None:
        """Set a timer of a node."""
        self.timers[node, key] = self.now_ps + STEP_PS + delay_ps

    def cancel_timer(self, node: int, key: Hashable) -> None:
        """Cancel a timer of a node, if it is set."""
        self.timers.pop((node, key), None)

    def new_message(self, node: int) -> int:
        """Record a new message of a node, and return its id."""
        message = len(self.source)
        self.source.append(node)
        self.past.append(frozenset(self.known[node]))
        self.known[node].add(message)
        for owed in self.owed.values():
            owed.add(message)
        self._log("broadcast", node, message, -1, "")
        return message

    def note(self, op: int, node: int, message: int) -> None:
        """Record a delivery and check the properties, or record that a node left or joined."""
        if op == DELIVER:
            self.delivered[node].append(message)
            self._log("delivered", node, message, -1, "")
            for property_ in self.watched:
                self.broken = self.broken or property_(self, node)
            self.known[node].add(message)
            self.known[node] |= self.past[message] if 0 <= message < len(self.past) else set()
        elif op == LEFT:
            self.gone.add(node)
            self.owed.pop(node, None)
            self.known[node] = set()
            self._log("left", node, -1, -1, "")
        elif op == JOINED:  # a node that joins again is a new process, which includes its actions since it left
            if node not in self.gone:
                self.known[node] = set()
            self.gone.discard(node)
            self.owed[node], self.delivered[node] = set(), []
            self._log("joined", node, -1, -1, "")

    def _log(self, what: str, node: int, number: int, peer: int, text: str) -> None:
        self.log.append(Event(self.now_ps, what, node, number, peer, text))
