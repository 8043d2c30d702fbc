"""Partial-order reduction: of orders that differ only in how events at different nodes come, one is enough.

With a purse for each node an event at one node and an event at another do not disturb each other. So if nobody will
send anything more to node k until k itself acts, it is enough to let k act now, in each way that it can: whatever the
others do can come later as well. (That is a persistent set, and every order is still there up to such swaps, so all
that a single node can see, and every end, is looked at.) What is not seen are states of several nodes at once on the
way: rules about those need the whole search.

Whether k will be sent something is known only afterwards: so k's events are followed, to the end, and what was sent on
the way is noted with each state. If k was sent something without having acted, the next node is tried as well, in the
end all. What nodes record of calls is in an order between nodes: where k's events record something, all are
tried, too. Where the way comes back to a state that it went through, all nodes are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causeway.pycontrol.check.properties import Rules
from causeway.pycontrol.check.space import Move, Space, State

if TYPE_CHECKING:
    from causeway.pycontrol.check.orders import Covered, Limits

ON_THE_WAY = -1


@dataclass(slots=True)
class Frame:
    """A state on the way that is being followed."""

    state: State
    moves: list[list[Move]]
    order: list[int]
    """Nodes still to try; the last one is being tried."""
    todo: list[Move]
    """Its events still to follow."""
    loud: int
    """Nodes of whose events some record a call (a bit mask)."""
    spoke: int = 0
    """Who is sent something by its events (a bit mask)."""
    sent: int = 0
    """Who is sent something after them, without having acted."""
    all_sent: int = 0
    """Who is sent something from here on, without having acted, as far as it is known."""
    came_back: bool = False


def search(space: Space, rules: Rules, limits: Limits, total: Covered) -> Covered:
    """Depth first. Adds to `total`."""
    first = space.first()
    gets: dict[State, int] = {first: ON_THE_WAY}
    """Of each state: which nodes may be sent something from there on without having acted."""
    stack = [_frame(space, first)]
    path: list[Move] = []
    before, asks = total.states, 0
    broken = space.machine.world.broken or _at_end(space, rules, first, total)
    while stack and broken is None and not space.machine.must_look_again:
        frame = stack[-1]
        if not frame.todo:
            if not _next_node(frame):
                _leave(stack, path, gets, frame)
            continue
        move = frame.todo.pop()
        after, receivers, broken = space.take(frame.state, move)
        total.steps += 1
        if broken is not None:
            path.append(move)
            break
        known = gets.get(after)
        frame.spoke |= receivers
        if known is None:
            gets[after] = ON_THE_WAY
            path.append(move)
            stack.append(_frame(space, after))
            total.depth = max(total.depth, len(path))
            broken = _at_end(space, rules, after, total)
        elif known == ON_THE_WAY:
            frame.came_back, frame.sent = True, -1 & ((1 << len(after.nodes)) - 1)
        else:
            frame.sent |= known
        asks += 1
        if asks % 64 == 0 and limits.reached(before + len(gets)):
            total.finished = False
            break
    total.states = before + len(gets)
    if broken is not None:
        total.broken, total.path, total.finished = broken, path, False
    return total


def _frame(space: Space, state: State) -> Frame:
    moves = space.moves(state)
    speaks, loud = [], 0
    for k, row in enumerate(moves):
        mask = 0
        for move in row:
            event = move.packet if move.packet >= 0 else move.what
            step = space.machine.step(move.node, state.nodes[move.node], event)
            mask |= step.receivers
            loud |= bool(step.said) << k
        speaks.append(mask)
    busy = [i for i, row in enumerate(moves) if row]

    def worth(k: int) -> tuple[bool, bool, int]:
        """Nodes that record nothing and that nobody is about to send to come first, then those with few events."""
        return bool(loud >> k & 1), any(speaks[j] >> k & 1 for j in busy if j != k), len(moves[k])

    order = sorted(busy, key=worth, reverse=True)
    return Frame(state, moves, order, list(moves[order[-1]]) if order else [], loud)


def _next_node(frame: Frame) -> bool:
    """Whether another node must be tried at this state; if so, its events are to follow."""
    if not frame.order:
        return False
    k = frame.order.pop()
    enough = not (frame.sent | frame.loud) >> k & 1 and not frame.came_back
    sent = (frame.sent | frame.spoke) & ~(1 << k)
    if enough:
        frame.order.clear()
        frame.all_sent = sent
    frame.all_sent |= sent
    if not frame.order:
        return False
    frame.sent = frame.spoke = 0
    frame.todo = list(frame.moves[frame.order[-1]])
    return True


def _leave(stack: list[Frame], path: list[Move], gets: dict[State, int], frame: Frame) -> None:
    gets[frame.state] = frame.all_sent
    stack.pop()
    if stack:
        path.pop()
        stack[-1].sent |= frame.all_sent


def _at_end(space: Space, rules: Rules, state: State, total: Covered) -> str | None:
    if not space.at_rest(state):
        return None
    total.ends += 1
    return rules.at_end(space.seen(state)) if rules.at_rest else None
