"""Partial-order reduction: follow one of the schedules that differ only in the order of events at different nodes.

With a budget for each node, events at different nodes commute. If no node will send a packet to node k before k itself
acts, it is enough to follow the events of k in a state (a persistent set): the events of other nodes can happen later.
So every schedule is explored up to such exchanges, with every state of a single node and every final state. Not all
intermediate states of several nodes are explored; properties of these need the full search.

The search only knows afterwards which nodes are sent packets. So it follows the events of k to the end, and records
with each state the nodes that were sent packets on the way. If k was sent a packet before it acted, the search follows
the events of the next node as well, and so on. If events of k record calls, which are ordered across nodes, or if the
search returns to a state on its path, it follows the events of all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causeway.explore.properties import Rules
from causeway.explore.state_space import ModelState, Move, Space

if TYPE_CHECKING:
    from causeway.explore.exhaustive import Covered, Limits

ON_THE_WAY = -1


@dataclass(slots=True)
class Frame:
    """A state on the current path. Its fields of nodes are bit masks."""

    state: ModelState
    moves: list[list[Move]]
    order: list[int]
    """The nodes whose events are still to be followed; those of the last one are being followed."""
    todo: list[Move]
    """The events of that node that are still to be followed."""
    loud: int
    """The nodes with events that record calls."""
    receivers: int = 0
    """The nodes that are sent packets by that node's events."""
    sent: int = 0
    """The nodes that are sent packets after these events, without having acted."""
    all_sent: int = 0
    """The nodes that are known to be sent packets after this state, without having acted."""
    came_back: bool = False
    """True if an event led back to a state on the path."""


def search(space: Space, rules: Rules, limits: Limits, total: Covered) -> Covered:
    """Search depth first, and add the result to `total`."""
    first = space.first()
    gets: dict[ModelState, int] = {first: ON_THE_WAY}
    """The nodes that may be sent packets after each state without having acted."""
    stack = [_frame(space, first)]
    path: list[Move] = []
    before, asks = total.states, 0
    broken = space.machine.model.broken or _at_end(space, rules, first, total)
    while stack and broken is None and not space.machine.needs_restart:
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
        frame.receivers |= receivers
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


def _frame(space: Space, state: ModelState) -> Frame:
    moves = space.moves(state)
    speaks, loud = [], 0
    for k, row in enumerate(moves):
        mask = 0
        for move in row:
            event = move.packet if move.packet >= 0 else move.what
            step = space.machine.step(move.node, state.nodes[move.node], event)
            mask |= step.receivers
            loud |= bool(step.records) << k
        speaks.append(mask)
    busy = [i for i, row in enumerate(moves) if row]

    def worth(k: int) -> tuple[bool, bool, int]:
        """Rank a node: first by its recorded calls, then by the packets that it is sent now, then by its events."""
        return bool(loud >> k & 1), any(speaks[j] >> k & 1 for j in busy if j != k), len(moves[k])

    order = sorted(busy, key=worth, reverse=True)
    return Frame(state, moves, order, list(moves[order[-1]]) if order else [], loud)


def _next_node(frame: Frame) -> bool:
    """Continue with the next node of a state if this is necessary; return whether it is."""
    if not frame.order:
        return False
    k = frame.order.pop()
    enough = not (frame.sent | frame.loud) >> k & 1 and not frame.came_back
    sent = (frame.sent | frame.receivers) & ~(1 << k)
    if enough:
        frame.order.clear()
        frame.all_sent = sent
    frame.all_sent |= sent
    if not frame.order:
        return False
    frame.sent = frame.receivers = 0
    frame.todo = list(frame.moves[frame.order[-1]])
    return True


def _leave(stack: list[Frame], path: list[Move], gets: dict[ModelState, int], frame: Frame) -> None:
    gets[frame.state] = frame.all_sent
    stack.pop()
    if stack:
        path.pop()
        stack[-1].sent |= frame.all_sent


def _at_end(space: Space, rules: Rules, state: ModelState, total: Covered) -> str | None:
    if not space.quiescent(state):
        return None
    total.ends += 1
    return rules.at_end(space.seen(state)) if rules.quiescent else None
