"""The states of a model as tuples of numbers, and the events that lead from one to the next.

Optional events (broadcasts, losses, crashes) are deducted from a budget (`FaultBudget`): one for all nodes, or one for
each node. With a budget for each node, an event concerns only one node, so events at different nodes commute.
Partial-order reduction requires this.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

from causeway.explore.machine import BROADCAST, CRASH, LOSS, RECOVER, TWICE, Machine
from causeway.explore.model import Budget, Reach
from causeway.network.networks import WIRELESS
from causeway.pycontrol.node import Node

BROADCASTS, LOSSES, DUPLICATES, CRASHES, CALLS, MOVES, EARLY = range(7)
FaultBudget = tuple[int, int, int, int, int, int, int]
EMPTY: FaultBudget = (0,) * 7


class ModelState(NamedTuple):
    """A state of a model."""

    nodes: tuple[int, ...]
    flying: tuple[int, ...]
    """Copies by radio, sorted."""
    queues: tuple[tuple[int, ...], ...]
    """Copies over each wire or stream, in the order of their sending; the queues are sorted."""
    fault_budgets: tuple[FaultBudget, ...]
    history: tuple[int, ...] = ()
    """The recorded calls and results, in order (`Machine.record_values`)."""
    reaches: tuple[Reach, ...] = ()
    """The stations that reach each host (`mobile_space.py`)."""
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
    fault_budgets: tuple[FaultBudget, ...]
    _arrivals: dict[int, Move] = field(default_factory=dict)
    _timers: dict[int, tuple[Hashable, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model = self.machine.model
        budget, everyone = model.budget, range(model.count)
        self.recover, self.forever, self.in_order = budget.recover, budget.forever, budget.in_order
        self.late = self.machine.late
        self.last_sent: Sequence[int] = ()
        self.may = {
            BROADCASTS: frozenset(model.broadcasters or everyone), CALLS: frozenset(model.callers or everyone),
            CRASHES: frozenset(model.crashers or everyone),
        }  # fmt: skip

    def first(self) -> ModelState:
        """Return the first state."""
        machine = self.machine
        now_ps = machine.model.now_ps if self.late else 0
        records = machine.records if machine.keeps_calls else ()
        state = ModelState(tuple(machine.begun), (), (), self.fault_budgets, records, self.reaches(), now_ps)
        flying, queues = self._with_sent(state, machine.on_the_way)
        return state._replace(flying=flying, queues=queues)

    def reaches(self) -> tuple[Reach, ...]:
        """Return the stations that reach each host at the start."""
        return ()

    # ---- events that can happen -------------------------------------------------------------------------------------
    def moves(self, state: ModelState) -> list[list[Move]]:
        """Return the events that can happen next, for each node. Equal copies count as one."""
        per_node = len(self.fault_budgets) > 1
        found: list[list[Move]] = [[] for _ in state.nodes]
        last = -1
        for packet in state.flying:
            if packet != last:
                arrival = self._arrival(packet)
                receiver = arrival.node
                found[receiver].append(arrival)
                fault_budget = state.fault_budgets[receiver if per_node else 0]
                if fault_budget[LOSSES]:
                    found[receiver].append(Move(receiver, LOSS, packet))
                if fault_budget[DUPLICATES]:
                    found[receiver].append(Move(receiver, TWICE, packet))
                last = packet
        for queue in state.queues:
            arrival = self._arrival(queue[0])
            found[arrival.node].append(arrival)
        for i, local in enumerate(state.nodes):
            for event in self._own_events(local):
                found[i].append(Move(i, event))
            fault_budget = state.fault_budgets[i if per_node else 0]
            if fault_budget != EMPTY:
                self._optional(fault_budget, i, local, found[i])
        if self.late:
            self._late_timers(state, found)
        return found

    def _arrival(self, packet: int) -> Move:
        if packet not in self._arrivals:
            self._arrivals[packet] = Move(self.machine.copies[packet].receiver, packet, packet)
        return self._arrivals[packet]

    def _own_events(self, local: int) -> tuple[Hashable, ...]:
        """Return the node's timers, or its recovery if it is down."""
        if local not in self._timers:
            facts = self.machine.states[local][1]
            timers = () if self.late else self._first_due(facts.timers)
            events: tuple[Hashable, ...] = tuple(("timer", key) for key, _ in timers)
            self._timers[local] = (RECOVER,) if facts.down and self.recover else events
        return self._timers[local]

    def _first_due(self, timers: tuple[tuple[Hashable, int], ...]) -> tuple[tuple[Hashable, int], ...]:
        """Return the timers that may fire next: if nodes read their clocks, the first ones due; otherwise all."""
        if not self.machine.timed or not timers:
            return timers
        first_ps = min(due_ps for _, due_ps in timers)
        return tuple(timer for timer in timers if timer[1] == first_ps)

    def _late_timers(self, state: ModelState, found: list[list[Move]]) -> None:
        """Add the first timers due if no other spontaneous event is left or the budget allows early timers."""
        if state.fault_budgets[0][EARLY] or not self.busy(state):
            facts = [self.machine.states[local][1] for local in state.nodes]
            first_ps = min((due_ps for f in facts for _, due_ps in f.timers), default=0)
            for i, f in enumerate(facts):
                found[i] += [Move(i, ("timer", key)) for key, due_ps in f.timers if due_ps == first_ps]

    def _optional(self, fault_budget: FaultBudget, i: int, local: int, found: list[Move]) -> None:
        if self.machine.states[local][1].down:
            return
        if fault_budget[BROADCASTS] and i in self.may[BROADCASTS]:
            found.append(Move(i, BROADCAST))
        if fault_budget[CALLS] and i in self.may[CALLS]:
            found.extend(Move(i, ("call", name)) for name in self.machine.calls)
        if fault_budget[CRASHES] and i in self.may[CRASHES]:
            found.append(Move(i, CRASH))

    # ---- effects ----------------------------------------------------------------------------------------------------
    def take(self, state: ModelState, move: Move) -> tuple[ModelState, int, str | None]:
        """Return the state after an event, the nodes that are sent a packet (a bit mask), and the violation."""
        node, what, packet = move
        nodes, flying, queues, fault_budgets, history, reaches, now_ps = state
        if what is LOSS or what is TWICE:
            fault_budgets = self._deduct(fault_budgets, node, LOSSES if what is LOSS else DUPLICATES)
            if what is LOSS:
                return state._replace(flying=without(flying, packet), fault_budgets=fault_budgets), 0, None
            what = packet
        elif packet >= 0:
            if self._is_free(packet):
                if not self.forever:
                    flying = without(flying, packet)
            else:
                queues = tuple(sorted(q[1:] if q[0] == packet else q for q in queues if q[0] != packet or q[1:]))
        elif what is BROADCAST:
            fault_budgets = self._deduct(fault_budgets, node, BROADCASTS)
        elif what is CRASH:
            fault_budgets = self._deduct(fault_budgets, node, CRASHES)
        elif isinstance(what, tuple) and what[0] == "call":
            fault_budgets = self._deduct(fault_budgets, node, CALLS)
        elif self.late and isinstance(what, tuple) and what is not RECOVER:
            now_ps = max(now_ps, dict(self.machine.states[state.nodes[node]][1].timers)[what[1]])
            fault_budgets = self._deduct(fault_budgets, node, EARLY) if self.busy(state) else fault_budgets
        return self._stepped(ModelState(nodes, flying, queues, fault_budgets, history, reaches, now_ps), node, what)

    def _stepped(self, state: ModelState, node: int, what: Hashable) -> tuple[ModelState, int, str | None]:
        """Apply the effect of an event on its node."""
        nodes, flying, queues, fault_budgets, history, reaches, now_ps = state
        local, sends, receivers, broken, records = self.machine.step(node, nodes[node], what, now_ps)
        if records and self.machine.keeps_calls:
            history += records
        if sends:
            flying, queues = self._with_sent(state, sends)
        nodes = (*nodes[:node], local, *nodes[node + 1 :])
        return ModelState(nodes, flying, queues, fault_budgets, history, reaches, now_ps), receivers, broken

    def sent(self, state: ModelState, sends: Sequence[int]) -> Sequence[int]:
        """Return the copies of sent packets that are put on their way."""
        return sends

    def _is_free(self, packet: int) -> bool:
        return self.machine.copies[packet].interface == WIRELESS and not self.in_order

    def _deduct(self, fault_budgets: tuple[FaultBudget, ...], node: int, what: int) -> tuple[FaultBudget, ...]:
        at = node if len(fault_budgets) > 1 else 0
        fault_budget: Any = (*fault_budgets[at][:what], fault_budgets[at][what] - 1, *fault_budgets[at][what + 1 :])
        return (*fault_budgets[:at], fault_budget, *fault_budgets[at + 1 :])

    def _with_sent(
        self, state: ModelState, sends: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Return the copies by radio and the queues after sending packets."""
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

    def busy(self, state: ModelState) -> bool:
        """Return whether a spontaneous event other than a timer is left."""
        return bool(state.flying or state.queues) or any(RECOVER in self._own_events(local) for local in state.nodes)

    def quiescent(self, state: ModelState) -> bool:
        """Return whether the state is quiescent: no spontaneous event is left."""
        if state.flying or state.queues or any(self._own_events(local) for local in state.nodes):
            return False
        return not self.late or not (
            self.busy(state) or any(self.machine.states[local][1].timers for local in state.nodes)
        )

    def seen(self, state: ModelState) -> Seen:
        """Return the state as properties see it."""
        facts = [self.machine.states[local][1] for local in state.nodes]
        return Seen(
            len(facts), [self.machine.states[local][0] for local in state.nodes], [list(f.delivered) for f in facts],
            [set(f.delivered) | set(f.own) for f in facts], self.machine.source, self.machine.past,
            {i for i, f in enumerate(facts) if f.down}, {i for i, f in enumerate(facts) if f.failed},
            {i for i, f in enumerate(facts) if f.gone}, [tuple(self.machine.copies[p]) for p in state.flying],
            [m for f in facts for m in f.own], [self.machine.record_values[i] for i in state.history],
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
    """The messages that were broadcast in this state. `source` contains messages of other states, too."""
    history: list[tuple[str, int, Any]]
    owed: None = None
    stations: int = 0
    places: dict[int, Reach] = field(default_factory=dict)
    """The stations that reach each host, in a model with cells."""


def without(flying: tuple[int, ...], packet: int) -> tuple[int, ...]:
    """Return the copies without one copy of a packet."""
    at = flying.index(packet)
    return flying[:at] + flying[at + 1 :]


def one_fault_budget(budget: Budget) -> tuple[FaultBudget, ...]:
    """Return a budget that is common to all nodes."""
    counts = (budget.broadcasts, budget.losses, budget.duplicates, budget.crashes, budget.calls)
    return ((*counts, budget.moves, budget.early),)


def shares(
    budget: Budget, count: int, broadcasters: Sequence[int], symmetric: bool
) -> Iterator[tuple[FaultBudget, ...]]:
    """Yield every division of a budget among the nodes.

    Smaller numbers of broadcasts, crashes and calls are divided, too. The reduction only guarantees to reach states in
    which no event is left, and a state in which a node may still broadcast is not one of these.

    Args:
        budget: The budget.
        count: The number of nodes.
        broadcasters: The nodes that may broadcast; empty: all.
        symmetric: Yield one of the divisions that differ only in the ids of nodes.
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
        fault_budgets: Any = tuple((*fault_budget, 0, 0) for fault_budget in zip(*way, strict=True))
        key = tuple(sorted(fault_budgets)) if symmetric else fault_budgets
        if key not in met:
            met.add(key)
            yield fault_budgets


def _ways(total: int, nodes: Sequence[int], count: int) -> list[tuple[int, ...]]:
    found = []
    for chosen in combinations_with_replacement(nodes, total):
        found.append(tuple(chosen.count(i) for i in range(count)))
    return found
