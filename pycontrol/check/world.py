"""A small network in memory: whoever holds the world chooses what happens next, and it happens.

Packets take any time and come in any order (those over wires and TCP in the order in which they were sent, and always).
A node that fails forgets its timers, and packets that reach it while it is down are gone. What a node does is in effect
at once: the reaction time only keeps two events of one node apart. When timers go off is up to `clocks`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from causeway.bridge.errors import UserError
from causeway.bridge.network import WIRELESS
from causeway.pycontrol import given
from causeway.pycontrol.confined import acting
from causeway.pycontrol.mistakes import users_frames
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import DELIVER, JOINED, LEFT, Context
from causeway.pycontrol.shared import ChangedContent
from causeway.pycontrol.watchdog import TookTooLong, calls_handlers

STEP_PS = 1_000_000
"""Time goes on by that much with every event, or to the instant of a timer. It is the reaction time, too."""
Reach = tuple[int, ...]
"""The stations that reach a host, the nearest first."""


class Packet(NamedTuple):
    """One copy of what was sent, on its way to one node."""

    number: int
    """Copies of one packet share it."""
    sender: int
    receiver: int
    content: Any
    interface: int


class Choice(NamedTuple):
    """Something that can happen: packet, loss, twice, timer, broadcast, call, crash or recover."""

    what: str
    node: int
    packet: Packet | None = None
    key: Hashable = None


class Event(NamedTuple):
    """What happened, for those who read about it later."""

    time_ps: int
    what: str
    """A choice's word, or: sent, delivered, broadcast (a message), left, joined."""
    node: int
    number: int
    """Of the packet or message; -1: none."""
    peer: int
    """Of a packet: the other end; -1: none."""
    text: str


class Log(NamedTuple):
    """What happened in a world."""

    events: tuple[Event, ...] = ()
    calm_at: int = -1
    """So many of them happened before the mischief ended; -1: it never did."""


def raised(node: int, error: BaseException) -> str:
    """Return what is broken where a node raises an error: the error and its line."""
    if isinstance(error, ChangedContent):  # it names the handler; the line is of the one that looked
        return f"an error: node {node}: {error}"
    last = (users_frames(error) or traceback.extract_tb(error.__traceback__))[-1]
    return f"an error: node {node} raises {type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"


@dataclass
class Budget:
    """How often what need not happen may happen."""

    broadcasts: int = 3
    losses: int = 0
    duplicates: int = 0
    crashes: int = 0
    calls: int = 0
    """Of what else the application can do (`World.calls`)."""
    moves: int = 0
    """Of hosts, from cell to cell."""
    early: int = 0
    """So many timers may go off although something is still on its way, where clocks are `late`."""
    recover: bool = True
    forever: bool = False
    """What is on the air stays there: every copy may arrive again at any time."""
    in_order: bool = False
    """Between two nodes what was sent first arrives first, and always, over the air, too."""


ONE_CLOCK, OWN_CLOCKS, NO_CLOCKS, LATE_CLOCKS = "one", "own", "none", "late"
"""Timers go off in the order in which they are due: all of them; those of one node; in any order; all of them, and only
once nothing else is left to happen by itself (timeouts are longer than anything takes)."""


def attach(protocol: Any, mine: Any) -> None:
    """What nodes do through their protocol happens here."""
    protocol.send, protocol.patient, protocol.recorded = mine.send, mine.patient, mine.recorded
    protocol.packets_on_their_way = mine.packets_on_their_way
    protocol.set_timer, protocol.cancel_timer, protocol.timers = mine.set_timer, mine.cancel_timer, mine.timers
    protocol.switch, protocol.broadcast, protocol.note = mine.switch, mine.broadcast, mine.note


@dataclass
class World:
    """Nodes and everything between them. It takes the place of the engine: what nodes ask of `protocol` comes here."""

    cells: ClassVar[bool] = False
    """Whether who gets what is sent to everyone depends on where nodes are."""
    protocol: PerNode
    count: int
    budget: Budget
    seed: int = 1
    broadcasters: tuple[int, ...] = ()
    """Who may be asked to broadcast; none: everybody."""
    callers: tuple[int, ...] = ()
    """Who may be asked for what else the application can do; none: everybody."""
    crashers: tuple[int, ...] = ()
    """Who may fail; none: everybody."""
    size_bytes: int = 100
    flying: list[Packet] = field(default_factory=list)
    timers: dict[tuple[int, Hashable], int] = field(default_factory=dict)
    """Those that are set, and when they are due."""
    down: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    """Nodes that have been down at some time."""
    gone: set[int] = field(default_factory=set)
    """Nodes that left for good."""
    delivered: list[list[int]] = field(default_factory=list)
    """Of each node, in order."""
    source: list[int] = field(default_factory=list)
    """Of each message."""
    past: list[frozenset[int]] = field(default_factory=list)
    """Of each message: what its sender had delivered or broadcast before."""
    known: list[set[int]] = field(default_factory=list)
    owed: dict[int, set[int]] = field(default_factory=dict)
    """Of each member: what was broadcast since it joined."""
    history: list[tuple[str, int, Any]] = field(default_factory=list)
    """What the application called and what came back, in order (`linear.py`)."""
    log: list[Event] = field(default_factory=list)
    calm_at: int = -1
    """How long the log was when the mischief ended; -1: it has not."""
    packets: int = 0
    clocks: str = ONE_CLOCK
    calls: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    """What the application can do at a node besides broadcasting: a name, and what is called with the node."""
    watched: tuple[Callable[[World, int], str | None], ...] = ()
    """Looked at whenever a node delivers; what they find first is `broken`."""
    broken: str | None = None

    def __post_init__(self) -> None:
        self.delivered = [[] for _ in range(self.count)]
        self.known = [set() for _ in range(self.count)]
        self.clock_ps = [0] * self.count
        self.owed = {i: set() for i in range(self.count)}
        attach(self.protocol, self)
        self.protocol.start(Context(self.count, self.seed, STEP_PS))

    def close(self) -> None:
        """Nothing more happens in it."""
        self.protocol.discard()

    @property
    def nodes(self) -> list[Node]:
        """The nodes, as their protocol made them."""
        return self.protocol.nodes

    @property
    def messages(self) -> range:
        """All that were broadcast."""
        return range(len(self.source))

    @property
    def whole_log(self) -> Log:
        """Return the log as it is now."""
        return Log(tuple(self.log), self.calm_at)

    @property
    def now_ps(self) -> int:
        """The time of the event that happened last."""
        return self.protocol.now_ps

    # ---- what can happen --------------------------------------------------------------------------------------------
    def choices(self) -> list[Choice]:
        """Everything that can happen now; the first one is what happens in a world without mischief."""
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

    def next_without_mischief(self) -> Choice | None:
        """What happens next of all that happens by itself."""
        for packet in self._arrivable():
            return Choice("packet", packet.receiver, packet)
        for node, key in self._next_timer():
            return Choice("timer", node, key=key)
        return Choice("recover", min(self.down)) if self.down and self.budget.recover else None

    def calm_down(self) -> None:
        """From now on nothing goes wrong, the application does nothing more, and every copy arrives once."""
        if self.calm_at < 0:
            self.calm_at = len(self.log)
        budget = self.budget
        budget.forever = False
        budget.losses = budget.duplicates = budget.crashes = 0

    def _arrivable(self) -> list[Packet]:
        """Any packet of the air; of each wire or stream the oldest."""
        streams: set[tuple[int, int, int]] = set()
        found = []
        for packet in self.flying:
            stream = (packet.sender, packet.receiver, packet.interface)
            if self._is_free(packet) or stream not in streams:
                found.append(packet)
            streams.add(stream)
        return found

    def _is_free(self, packet: Packet) -> bool:
        """Whether it may be lost and overtaken."""
        return packet.interface == WIRELESS and not self.budget.in_order

    def _next_timer(self) -> list[tuple[int, Hashable]]:
        """The timers that may go off (several at the same instant)."""
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
        """Something other than timers is left that happens by itself."""
        return bool(self.flying or (self.down and self.budget.recover))

    # ---- making it happen -------------------------------------------------------------------------------------------
    @calls_handlers
    def do(self, choice: Choice) -> None:
        """The choice comes true; what the node does about it is done. An error of the node is what is broken, then."""
        self._set_clock(choice)
        self.protocol.acting, acting.host = self.nodes[choice.node], self.protocol.actor
        try:
            self._do(*choice)
        except UserError:
            raise
        except TookTooLong as error:  # to look for a smaller case of it would take as long each time
            raise UserError(raised(choice.node, error)) from None
        except Exception as error:
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
            self._log("timer", node, -1, -1, str(key))
            handler.on_timer(key)
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
        """It arrives, is lost, or arrives and will again."""
        self._log(what, node, packet.number, packet.sender, str(packet.content))
        stays = what == "twice" or (what == "packet" and self.budget.forever and self._is_free(packet))
        if not stays:
            self.flying.remove(packet)
        self.budget.losses -= what == "loss"
        self.budget.duplicates -= what == "twice"
        if what != "loss" and node not in self.down:
            self.nodes[node].on_packet(packet.content, packet.sender, packet.interface)

    def switch(self, node: int, up: bool) -> None:
        """It fails, or recovers."""
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
        self.nodes[node].on_down()

    # ---- what nodes do ----------------------------------------------------------------------------------------------
    def patient(self, node: int, topic: int, patience_ps: int) -> None:
        """Promises are of no interest here: every event is told at once."""

    def packets_on_their_way(self) -> Container[int]:
        """Return the numbers of the packets of which copies may still arrive."""
        return {packet.number for packet in self.flying}

    def send(self, node: int, peer: int, content: Any, size_bytes: int, interface: int, topic: int) -> int:
        """Put a copy for each receiver on its way; return the number of the packet."""
        if not EVERYONE <= peer < self.count:
            given.packet(peer, size_bytes, interface, topic, self.count)
        receivers = [i for i in range(self.count) if i != node] if peer == EVERYONE else [peer]
        for receiver in receivers:
            self._log("sent", node, self.packets, receiver, str(content))
            self.flying.append(Packet(self.packets, node, receiver, content, interface))
        self.packets += 1
        return self.packets - 1

    def recorded(self, kind: str, node: int, said: Any) -> None:
        self.history.append((kind, node, said))
        self._log("call" if kind == "call" else "return", node, -1, -1, str(said))

    def set_timer(self, node: int, key: Hashable, delay_ps: int) -> None:
        self.timers[node, key] = self.now_ps + STEP_PS + delay_ps

    def cancel_timer(self, node: int, key: Hashable) -> None:
        self.timers.pop((node, key), None)

    def broadcast(self, node: int) -> int:
        message = len(self.source)
        self.source.append(node)
        self.past.append(frozenset(self.known[node]))
        self.known[node].add(message)
        for owed in self.owed.values():
            owed.add(message)
        self._log("broadcast", node, message, -1, "")
        return message

    def note(self, op: int, node: int, message: int) -> None:
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
        elif op == JOINED:  # whoever left is new when it comes back
            self.gone.discard(node)
            self.owed[node], self.delivered[node] = set(), []
            self._log("joined", node, -1, -1, "")

    def _log(self, what: str, node: int, number: int, peer: int, text: str) -> None:
        self.log.append(Event(self.now_ps, what, node, number, peer, text))
