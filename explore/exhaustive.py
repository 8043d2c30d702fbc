"""Search all schedules of a model exhaustively: visit each reachable state once. Start here: `search_exhaustively`.

A timer that is set may fire at any time, since clocks give no guarantee. But if nodes read their clocks, the timers of
one node fire in their order. The effect of an event on a node's state is computed once (`machine.py`).

The full search is breadth first, so that the first violation found is the shortest. The reduced search
(`partial_order.py`) requires that events at different nodes commute. It follows only one of several schedules that
differ only in the order of such events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain

from causeway.explore import partial_order, schedules
from causeway.explore.machine import Machine
from causeway.explore.mobile_space import CellSpace
from causeway.explore.model import LATE_CLOCKS, NO_CLOCKS, OWN_CLOCKS, Choice, Log, Model
from causeway.explore.properties import Rules
from causeway.explore.replay_machine import ReplayMachine
from causeway.explore.state_space import FaultBudget, ModelState, Move, Space, one_fault_budget, shares
from causeway.explore.symmetry import SymmetricNodes, Symmetry

MakeModel = Callable[[], Model]
CALM_EVENTS = 200
"""If timers are set again and again, the number of states is unlimited. After this many events without a fault or an
action of the application, all owed messages must be delivered, and the search does not continue."""


@dataclass
class Covered:
    """The result of an exhaustive search."""

    states: int = 0
    steps: int = 0
    """The number of events that were followed."""
    depth: int = 0
    ends: int = 0
    """The number of quiescent states."""
    locals: int = 0
    """The number of states of single nodes."""
    finished: bool = False
    """True if the search reached its end."""
    randomness: str = ""
    """The reason why the search is not complete: nodes depend on more than their state and the event."""
    seconds: float = 0.0
    broken: str | None = None
    repeats: bool = True
    """True if the schedule violated the property again when it was followed in a model."""
    log: Log = field(default_factory=Log)
    """The log of that model."""
    clocks: str = NO_CLOCKS
    plan: tuple[int, ...] = ()
    """A schedule that violates a property, for `schedules.follow` in a model with these clocks."""
    path: list[Move] = field(default_factory=list, repr=False)
    """The same schedule as moves of the state space."""
    fault_budgets: tuple[FaultBudget, ...] = ()
    """The budgets with which the path begins."""
    symmetry: Symmetry | None = None
    """The symmetry that was used, if any."""

    @property
    def complete(self) -> bool:
        """True if all schedules were explored."""
        return self.finished and not self.randomness


@dataclass
class Limits:
    """The limits of a search."""

    states: int
    seconds: float
    report: Callable[[int], None] = lambda states: None
    began: float = field(default_factory=time.monotonic)

    def reached(self, states: int) -> bool:
        """Return whether a limit is reached, and report the progress."""
        self.report(states)
        return states > self.states or time.monotonic() - self.began > self.seconds


def search_exhaustively(
    make: MakeModel, rules: Rules, most_states: int, seconds: float,
    report: Callable[[int], None] = lambda states: None, *, reduce: bool = False, symmetric: bool = False,
    symmetry: SymmetricNodes | None = None,
) -> Covered:  # fmt: skip
    """Search all schedules until one violates a property.

    If nodes read their clocks or record calls, the search starts again, since states must then include these.

    Args:
        make: Makes a fresh model.
        rules: The properties.
        most_states: The limit of states.
        seconds: The time limit.
        report: Called from time to time with the number of states.
        reduce: Use partial-order reduction.
        symmetric: Treat budgets that differ only in the ids of nodes as one (with `reduce`).
        symmetry: The symmetric nodes (without `reduce`).
    """
    limits = Limits(most_states, seconds, report)
    timed = calls = False
    while True:
        machine = _machine(make, rules, timed, calls)
        with closing(machine.model):
            covered = _search(machine, rules, limits, reduce, symmetric, None if reduce else symmetry)
        if not machine.needs_restart:
            break
        timed, calls = timed or machine.looked_at_clock, calls or machine.recorded_calls
    covered.locals, covered.seconds = len(machine.states), time.monotonic() - limits.began
    covered.clocks = LATE_CLOCKS if machine.late else OWN_CLOCKS if machine.timed else NO_CLOCKS
    if covered.broken is not None:
        _replay_plan(make, rules, machine, covered)
    else:
        covered.randomness = machine.randomness()
    return covered


def _replay_plan(make: MakeModel, rules: Rules, machine: Machine, covered: Covered) -> None:
    """Follow the path in a model, and set the plan, the log and the violation."""
    with closing(make()) as model:
        model.clocks = covered.clocks
        space = _space(machine, covered.fault_budgets)
        path = _with_original_ids(space, covered)
        covered.plan = plan_of(model, space, path)
        again = model.broken or rules.at_once(model) or rules.at_end(model)
        covered.repeats = again is not None and len(covered.plan) == len(path)
        covered.broken = (again if covered.repeats else None) or covered.broken
        covered.log = model.whole_log


def can_reduce(make: MakeModel, rules: Rules) -> bool:
    """Return whether events at different nodes commute, and no property depends on their order."""
    with closing(make()) as model:
        return not (rules.always or model.budget.forever or model.cells or model.clocks == LATE_CLOCKS)


def simplest(make: MakeModel, rules: Rules, covered: Covered) -> tuple[int, ...]:
    """Return the shrunk plan."""

    def make_symmetric() -> Model:
        model = make()
        model.clocks = covered.clocks
        return model

    taken = schedules.RecordedSchedule()
    with closing(make_symmetric()) as model:
        schedules.follow(model, covered.plan, rules, taken)
    return schedules.simplest(make_symmetric, rules, taken)


def _machine(make: MakeModel, rules: Rules, timed: bool, calls: bool) -> Machine:
    model = make()
    late = model.clocks == LATE_CLOCKS
    if model.protocol.can_be_copied:
        return Machine(model, rules.ordered, timed or late, calls, late)
    return ReplayMachine(model, rules.ordered, True, calls, late, make=make)


def _space(machine: Machine, fault_budgets: tuple[FaultBudget, ...]) -> Space:
    return (CellSpace if machine.model.cells else Space)(machine, fault_budgets)


def _search(
    machine: Machine, rules: Rules, limits: Limits, reduce: bool, symmetric: bool, same: SymmetricNodes | None
) -> Covered:  # fmt: skip
    model, total = machine.model, Covered(finished=True)
    if same is not None and not model.cells:
        total.symmetry = Symmetry(machine, same)
    ways: Sequence[tuple[FaultBudget, ...]] = [one_fault_budget(model.budget)]
    if reduce:
        ways = list(shares(model.budget, model.count, model.broadcasters, symmetric))
    for fault_budgets in reversed(ways):
        space = _space(machine, fault_budgets)
        total.fault_budgets = fault_budgets
        one = (
            partial_order.search(space, rules, limits, total) if reduce else _breadth_first(space, rules, limits, total)
        )
        if one.broken is not None or not one.finished or machine.needs_restart:
            return one
    return total


def _breadth_first(space: Space, rules: Rules, limits: Limits, total: Covered) -> Covered:
    first, symmetry = space.first(), total.symmetry
    if symmetry is not None:
        first, _ = symmetry.one(first)
    reached_by: dict[ModelState, tuple[ModelState, Move] | None] = {first: None}
    layer, calm = [first], dict[ModelState, int]()
    total.broken = space.machine.model.broken
    asks = 0
    while layer and total.broken is None and not space.machine.needs_restart:
        following: list[ModelState] = []
        for state in layer:
            tired = calm.get(state, 0) > CALM_EVENTS
            if space.quiescent(state) or tired:
                total.ends += 1
                total.broken = rules.at_end(space.seen(state)) if rules.quiescent else None
            if total.broken is not None:
                return _with_path(total, reached_by, state, None)
            for move in () if tired else chain.from_iterable(space.moves(state)):
                after, _, broken = space.take(state, move)
                total.steps += 1
                if symmetry is not None:
                    after, _ = symmetry.one(after)
                fresh = after not in reached_by
                if broken is None and fresh and rules.always:
                    broken = rules.at_once(space.seen(after))
                if broken is not None:
                    total.broken, total.states = broken, len(reached_by)
                    return _with_path(total, reached_by, state, move)
                if fresh:
                    reached_by[after] = (state, move)
                    if space.late and after.fault_budgets == state.fault_budgets:
                        calm[after] = calm.get(state, 0) + 1
                    following.append(after)
            asks += 1
            if asks % 64 == 0 and limits.reached(len(reached_by)):
                total.states, total.finished = len(reached_by), False
                return total
        layer, total.depth = following, total.depth + bool(following)
        if symmetry is not None:
            symmetry.check_declaration()
    total.states = len(reached_by)
    if total.states > limits.states:
        total.finished = False
    return total


def _with_original_ids(space: Space, covered: Covered) -> list[Move]:
    """Return the path with the original ids, if the search renamed symmetric nodes."""
    symmetry = covered.symmetry
    if symmetry is None:
        return covered.path
    state, names = symmetry.one(space.first())
    found = []
    for move in covered.path:
        found.append(names.back().move(move))
        state, other = symmetry.one(space.take(state, move)[0])
        names = names.then(other)
    return found


def _with_path(
    total: Covered, reached_by: dict[ModelState, tuple[ModelState, Move] | None], state: ModelState, move: Move | None
) -> Covered:
    """Set the path to the violation, and return the result."""
    path = [move] if move is not None else []
    while (step := reached_by[state]) is not None:
        state, before = step
        path.append(before)
    total.path, total.finished, total.states = path[::-1], False, len(reached_by)
    return total


def plan_of(model: Model, space: Space, path: Sequence[Move]) -> tuple[int, ...]:
    """Follow a path in a model.

    Return the indices of its choices, up to the first one at which nodes behave differently.
    """
    state = space.first()
    names = {(p.number, p.receiver): name for p, name in zip(model.flying, space.machine.on_the_way, strict=False)}
    plan = []
    for move in path:
        choices = model.choices()
        number = next((i for i, choice in enumerate(choices) if _same(choice, move, names)), None)
        if number is None:
            break
        plan.append(number)
        sent = model.packets
        model.do(choices[plan[-1]])
        after = space.take(state, move)[0]
        for packet, name in zip((p for p in model.flying if p.number >= sent), space.last_sent, strict=False):
            names[packet.number, packet.receiver] = name
        state = after
    return tuple(plan)


def _same(choice: Choice, move: Move, names: dict[tuple[int, int], int]) -> bool:
    what = move.what
    word = what[0] if isinstance(what, tuple) else "packet"
    if choice.what != word or choice.node != move.node:
        return False
    if choice.packet is not None:
        return names.get((choice.packet.number, choice.packet.receiver)) == move.packet
    return word not in ("timer", "call", "move") or (isinstance(what, tuple) and choice.key == what[1])
