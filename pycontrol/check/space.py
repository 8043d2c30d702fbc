"""The states of a model as tuples of numbers, and the events that lead from one to the next.

Optional events (broadcasts, losses, crashes) are paid from a budget (`Purse`): one for all nodes, or one for each node.
With a budget for each node, an event concerns one node only, so that events at different nodes commute. The reduction
depends on that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

from causeway.bridge.network import WIRELESS
from causeway.pycontrol.check.machine import BROADCAST, CRASH, LOSS, RECOVER, TWICE, Machine
from causeway.pycontrol.check.world import Budget, Reach
from causeway.pycontrol.node import Node

BROADCASTS, LOSSES, DUPLICATES, CRASHES, CALLS, MOVES, EARLY = range(7)
Purse = tuple[int, int, int, int, int, int, int]
EMPTY: Purse = (0,) * 7


class State(NamedTuple):
    """A state of a model."""

    nodes: tuple[int, ...]
    flying: tuple[int, ...]
    """Copies over the air, sorted."""
    queues: tuple[tuple[int, ...], ...]
    """Copies over each wire or stream, in the order of their sending; the queues are sorted."""
    purses: tuple[Purse, ...]
    history: tuple[int, ...] = ()
    """The recorded calls and results, in order (`Machine.sayings`)."""
    reaches: tuple[Reach, ...] = ()
    """The stations that reach each host (`cells.py`)."""
    now_ps: int = 0
    """The time, if all nodes have one clock."""


class Move(NamedTuple):
    """An event that can happen at a node."""

    node: int
    what: Hashable
    """An event of `Machine.step`, or LOSS or TWICE."""
    packet: int = -1
    """The packet concerned; -1: none."""


@dataclass(eq=False)
class Space:
    """The state space of a machine with these budgets."""

    machine: Machine
    purses: tuple[Purse, ...]
    _arrivals: dict[int, Move] = field(default_factory=dict)
    _timers: dict[int, tuple[Hashable, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        world = self.machine.world
        budget, everyone = world.budget, range(world.count)
        self.recover, self.forever, self.in_order = budget.recover, budget.forever, budget.in_order
        self.late = self.machine.late
        self.last_sent: Sequence[int] = ()
        self.may = {
            BROADCASTS: frozenset(world.broadcasters or everyone), CALLS: frozenset(world.callers or everyone),
            CRASHES: frozenset(world.crashers or everyone),
        }  # fmt: skip

    def first(self) -> State:
        """Return the first state."""
        machine = self.machine
        now_ps = machine.world.now_ps if self.late else 0
        said = machine.said if machine.keeps_calls else ()
        state = State(tuple(machine.begun), (), (), self.purses, said, self.reaches(), now_ps)
        flying, queues = self._with_sent(state, machine.on_the_way)
        return state._replace(flying=flying, queues=queues)

    def reaches(self) -> tuple[Reach, ...]:
        """Return the stations that reach each host at the start."""
        return ()

    # ---- events that can happen -------------------------------------------------------------------------------------
    def moves(self, state: State) -> list[list[Move]]:
        """Return the events that can happen next, for each node. Equal copies count as one."""
        per_node = len(self.purses) > 1
        found: list[list[Move]] = [[] for _ in state.nodes]
        last = -1
        for packet in state.flying:
            if packet != last:
                arrival = self._arrival(packet)
                receiver = arrival.node
                found[receiver].append(arrival)
                purse = state.purses[receiver if per_node else 0]
                if purse[LOSSES]:
                    found[receiver].append(Move(receiver, LOSS, packet))
                if purse[DUPLICATES]:
                    found[receiver].append(Move(receiver, TWICE, packet))
                last = packet
        for queue in state.queues:
            arrival = self._arrival(queue[0])
            found[arrival.node].append(arrival)
        for i, local in enumerate(state.nodes):
            for event in self._own(local):
                found[i].append(Move(i, event))
            purse = state.purses[i if per_node else 0]
            if purse != EMPTY:
                self._bought(purse, i, local, found[i])
        if self.late:
            self._late_timers(state, found)
        return found

    def _arrival(self, packet: int) -> Move:
        if packet not in self._arrivals:
            self._arrivals[packet] = Move(self.machine.copies[packet].receiver, packet, packet)
        return self._arrivals[packet]

    def _own(self, local: int) -> tuple[Hashable, ...]:
        """Return the node's timers, or its recovery if it is down."""
        if local not in self._timers:
            facts = self.machine.states[local][1]
            timers = () if self.late else self._first_due(facts.timers)
            events: tuple[Hashable, ...] = tuple(("timer", key) for key, _ in timers)
            self._timers[local] = (RECOVER,) if facts.down and self.recover else events
        return self._timers[local]

    def _first_due(self, timers: tuple[tuple[Hashable, int], ...]) -> tuple[tuple[Hashable, int], ...]:
        """Return the timers that may fire next: those due first if nodes read their clocks, and otherwise all."""
        if not self.machine.timed or not timers:
            return timers
        first_ps = min(due_ps for _, due_ps in timers)
        return tuple(timer for timer in timers if timer[1] == first_ps)

    def _late_timers(self, state: State, found: list[list[Move]]) -> None:
        """Add the timers that are due first, if no other event happens by itself, or the budget allows early ones."""
        if state.purses[0][EARLY] or not self.busy(state):
            facts = [self.machine.states[local][1] for local in state.nodes]
            first_ps = min((due_ps for f in facts for _, due_ps in f.timers), default=0)
            for i, f in enumerate(facts):
                found[i] += [Move(i, ("timer", key)) for key, due_ps in f.timers if due_ps == first_ps]

    def _bought(self, purse: Purse, i: int, local: int, found: list[Move]) -> None:
        if self.machine.states[local][1].down:
            return
        if purse[BROADCASTS] and i in self.may[BROADCASTS]:
            found.append(Move(i, BROADCAST))
        if purse[CALLS] and i in self.may[CALLS]:
            found.extend(Move(i, ("call", name)) for name in self.machine.calls)
        if purse[CRASHES] and i in self.may[CRASHES]:
            found.append(Move(i, CRASH))

    # ---- effects ----------------------------------------------------------------------------------------------------
    def take(self, state: State, move: Move) -> tuple[State, int, str | None]:
        """Return the state after an event, the nodes that are sent a packet (a bit mask), and the violation."""
        node, what, packet = move
        nodes, flying, queues, purses, history, reaches, now_ps = state
        if what is LOSS or what is TWICE:
            purses = self._paid(purses, node, LOSSES if what is LOSS else DUPLICATES)
            if what is LOSS:
                return state._replace(flying=without(flying, packet), purses=purses), 0, None
            what = packet
        elif packet >= 0:
            if self._is_free(packet):
                if not self.forever:
                    flying = without(flying, packet)
            else:
                queues = tuple(sorted(q[1:] if q[0] == packet else q for q in queues if q[0] != packet or q[1:]))
        elif what is BROADCAST:
            purses = self._paid(purses, node, BROADCASTS)
        elif what is CRASH:
            purses = self._paid(purses, node, CRASHES)
        elif isinstance(what, tuple) and what[0] == "call":
            purses = self._paid(purses, node, CALLS)
        elif self.late and isinstance(what, tuple) and what is not RECOVER:
            now_ps = max(now_ps, dict(self.machine.states[state.nodes[node]][1].timers)[what[1]])
            purses = self._paid(purses, node, EARLY) if self.busy(state) else purses
        return self._stepped(State(nodes, flying, queues, purses, history, reaches, now_ps), node, what)

    def _stepped(self, state: State, node: int, what: Hashable) -> tuple[State, int, str | None]:
        """Apply the effect of an event on its node."""
        nodes, flying, queues, purses, history, reaches, now_ps = state
        local, sends, receivers, broken, said = self.machine.step(node, nodes[node], what, now_ps)
        if said and self.machine.keeps_calls:
            history += said
        if sends:
            flying, queues = self._with_sent(state, sends)
        nodes = (*nodes[:node], local, *nodes[node + 1 :])
        return State(nodes, flying, queues, purses, history, reaches, now_ps), receivers, broken

    def sent(self, state: State, sends: Sequence[int]) -> Sequence[int]:
        """Return the copies of sent packets that are on their way then."""
        return sends

    def _is_free(self, packet: int) -> bool:
        return self.machine.copies[packet].interface == WIRELESS and not self.in_order

    def _paid(self, purses: tuple[Purse, ...], node: int, what: int) -> tuple[Purse, ...]:
        at = node if len(purses) > 1 else 0
        purse: Any = (*purses[at][:what], purses[at][what] - 1, *purses[at][what + 1 :])
        return (*purses[:at], purse, *purses[at + 1 :])

    def _with_sent(self, state: State, sends: Sequence[int]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Return the copies over the air, and the queues, after sending packets."""
        self.last_sent = self.sent(state, sends)
        air, queues = list(state.flying), state.queues
        copies = self.machine.copies
        for packet in self.last_sent:
            copy = copies[packet]
            if self._is_free(packet):
                if not (self.forever and packet in air):
                    air.append(packet)
                continue
            stream = copy[:3]
            at = next((i for i, queue in enumerate(queues) if copies[queue[0]][:3] == stream), None)
            before = queues if at is None else queues[:at] + queues[at + 1 :]
            queues = (*before, ((packet,) if at is None else (*queues[at], packet)))
        return tuple(sorted(air)), tuple(sorted(queues)) if queues else ()

    def busy(self, state: State) -> bool:
        """Return whether an event other than a timer is left that happens by itself."""
        return bool(state.flying or state.queues) or any(RECOVER in self._own(local) for local in state.nodes)

    def at_rest(self, state: State) -> bool:
        """Return whether the state is quiescent: no event is left that happens by itself."""
        if state.flying or state.queues or any(self._own(local) for local in state.nodes):
            return False
        return not self.late or not (
            self.busy(state) or any(self.machine.states[local][1].timers for local in state.nodes)
        )

    def seen(self, state: State) -> Seen:
        """Return the state as properties see it."""
        facts = [self.machine.states[local][1] for local in state.nodes]
        return Seen(
            len(facts), [self.machine.states[local][0] for local in state.nodes], [list(f.delivered) for f in facts],
            [set(f.delivered) | set(f.own) for f in facts], self.machine.source, self.machine.past,
            {i for i, f in enumerate(facts) if f.down}, {i for i, f in enumerate(facts) if f.failed},
            {i for i, f in enumerate(facts) if f.gone}, [tuple(self.machine.copies[p]) for p in state.flying],
            [m for f in facts for m in f.own], [self.machine.sayings[i] for i in state.history],
        )  # fmt: skip


@dataclass(eq=False)
class Seen:
    """The view of a state for properties."""

    count: int
    nodes: list[Node]
    delivered: list[list[int]]
    known: list[set[int]]
    source: list[int]
    past: list[frozenset[int]]
    down: set[int]
    failed: set[int]
    gone: set[int]
    flying: list[Any]
    messages: list[int]
    """The messages that were broadcast. `source` has those of other states, too."""
    history: list[tuple[str, int, Any]]
    owed: None = None
    stations: int = 0
    places: dict[int, Reach] = field(default_factory=dict)
    """The stations that reach each host, in a model with cells."""


def without(flying: tuple[int, ...], packet: int) -> tuple[int, ...]:
    """Return the copies without one copy of a packet."""
    at = flying.index(packet)
    return flying[:at] + flying[at + 1 :]


def one_purse(budget: Budget) -> tuple[Purse, ...]:
    """Return a budget that is common to all nodes."""
    counts = (budget.broadcasts, budget.losses, budget.duplicates, budget.crashes, budget.calls)
    return ((*counts, budget.moves, budget.early),)


def shares(budget: Budget, count: int, broadcasters: Sequence[int], alike: bool) -> Iterator[tuple[Purse, ...]]:
    """Yield every division of a budget among the nodes.

    Smaller numbers of broadcasts, crashes and calls are divided, too: the reduction guarantees to reach the states in
    which no event is left, and a state in which a node may still broadcast is none of them.

    Args:
        budget: The budget.
        count: The number of nodes.
        broadcasters: The nodes that may broadcast; empty: all.
        alike: Yield one of the divisions that differ only in the ids of nodes.
    """
    everyone = range(count)
    ways = product(
        [w for n in range(budget.broadcasts + 1) for w in _ways(n, broadcasters or everyone, count)],
        _ways(budget.losses, everyone, count),
        _ways(budget.duplicates, everyone, count),
        [w for n in range(budget.crashes + 1) for w in _ways(n, everyone, count)],
        [w for n in range(budget.calls + 1) for w in _ways(n, everyone, count)],
    )
    met: set[Hashable] = set()
    for way in ways:
        purses: Any = tuple((*purse, 0, 0) for purse in zip(*way, strict=True))
        key = tuple(sorted(purses)) if alike else purses
        if key not in met:
            met.add(key)
            yield purses


def _ways(total: int, nodes: Sequence[int], count: int) -> list[tuple[int, ...]]:
    found = []
    for chosen in combinations_with_replacement(nodes, total):
        found.append(tuple(chosen.count(i) for i in range(count)))
    return found
