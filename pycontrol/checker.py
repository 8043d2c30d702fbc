"""The causality checker: exact and transitive for every protocol. It sees only broadcasts and deliveries.

A node is owed each message that is broadcast while it is a member, until it delivers the message. A delivery of m at p
is a violation if p is still owed a message in the causal past of m. The past of m consists of the messages that its
sender had delivered or broadcast when it broadcast m, and of their pasts.

Sets of messages are bitsets over the messages in flight, which are those still owed to a member. A message that
all nodes have delivered needs no bit: its slot is cleared in every set and used again.

    known[p]    causal past of node p              past[s]     causal past of the message in slot s
    missing[p]  messages that p is still owed      seen[p]     messages that p reported before delivery (HELD, FLAGGED)

The check at a delivery is `past[s] & missing[p]`. Memory: (3 nodes + slots) * slots / 8 bytes.

A node that leaves and joins is a new process. Its past ends when it leaves, or when it joins without having left. Its
actions between leaving and joining belong to the new process.

A delivery of a message that was broadcast before the node joined counts as `unowed`. While the message is in flight,
the node then also knows its past; afterwards the past is forgotten.

Start here: `_observe`, which handles the rows, and `_count_violation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.errors import UserError
from causeway.network.field_shapes import MOST_NODES, checked_values
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD, JOINED, LEFT, Observer
from causeway.pycontrol.slots import DEAD, SLOT, Slots, forget, give_back, has_room, new_slots, reserve, slot_of, take
from causeway.pycontrol.state_arrays import I32, I64, U8, U64, Axis, Record, allocate, compiled, fields, fill

NAMES = (
    "messages", "deliveries", "violations", "violations_own", "messages_violated", "duplicates", "unowed",
    "arrivals_out_of_order", "flagged", "flagged_and_violated", "violations_undetected", "messages_violated_undetected",
)  # fmt: skip
"""The counters. `causeway.pycontrol.scalar_meanings` describes them for reports."""
ONE = np.uint64(1)


NODE = Axis("node")
NOBODY = -1


class CheckerState(NamedTuple):
    """The arrays that the kernels read and write."""

    slots: Slots
    known: Annotated[U64, NODE, SLOT.words]
    missing: Annotated[U64, NODE, SLOT.words]
    seen: Annotated[U64, NODE, SLOT.words]
    past: Annotated[U64, SLOT, SLOT.words]
    keep: Annotated[U64, SLOT.words]  # scratch space of `_sweep`
    remaining: Annotated[I32, SLOT]  # the number of members to which the message is owed
    id_of: Annotated[I64, SLOT]
    sender: Annotated[I32, SLOT]
    violated: Annotated[U8, SLOT]
    dead: Annotated[I32, SLOT]  # slots of messages that no member is owed any more, until `_sweep` frees them
    member: Annotated[U8, NODE, fill(1)]
    joined: Annotated[I64, NODE]  # the first message that the node is owed
    counts: Annotated[Record, fields(**dict.fromkeys(NAMES, "i8"))]
    now: Annotated[Record, fields(members="i8", dead="i8", flag_node="i8", flag_message="i8")]
    """The number of members, the number of slots in `dead`, and the node and message that were flagged last."""


@compiled
def _broadcast(s, node, message):
    slot = take(s.slots)
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    known, past, missing, member = s.known, s.past, s.missing, s.member
    for w in range(known.shape[1]):
        past[slot, w] = known[node, w]
    known[node, word] |= bit
    for p in range(len(member)):
        if member[p]:
            missing[p, word] |= bit
    s.remaining[slot] = s.now[0].members
    s.id_of[slot] = message
    s.sender[slot] = node
    s.violated[slot] = 0
    s.counts[0].messages += 1
    if s.now[0].members == 0:
        _retire(s, slot)


@compiled
def _retire(s, slot):
    """Retire a message that no member is owed any more. `_sweep` frees its slot."""
    forget(s.slots, s.id_of[slot])
    s.dead[s.now[0].dead] = slot
    s.now[0].dead += 1


@compiled
def _would_violate(past, missing, node, slot):
    """Return whether the node is still owed a message in the past of the one in `slot`."""
    hit = np.uint64(0)
    for w in range(past.shape[1]):
        hit |= past[slot, w] & missing[node, w]
    return hit != 0


@compiled
def _report(s, node, slot):
    """Handle HELD or FLAGGED, and return whether a delivery now would be a violation.

    The first such row about a message is its arrival, which is counted if it is out of order.
    """
    wrong = _would_violate(s.past, s.missing, node, slot)
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    if wrong and s.sender[slot] != node and not s.seen[node, word] & bit:
        s.counts[0].arrivals_out_of_order += 1
    s.seen[node, word] |= bit
    return wrong


@compiled
def _deliver_unowed(s, node, message, slot):
    """Count a delivery of a message that the node is not owed: a duplicate, or a message from before it joined."""
    if s.member[node] and s.joined[node] <= message:
        s.counts[0].duplicates += 1
        return False
    s.counts[0].deliveries += 1
    s.counts[0].unowed += 1
    if slot == DEAD:
        return False
    wrong = _would_violate(s.past, s.missing, node, slot)
    if wrong:
        _count_violation(s, node, slot)
    for w in range(s.known.shape[1]):
        s.known[node, w] |= s.past[slot, w]
    s.known[node, slot >> 6] |= ONE << np.uint64(slot & 63)
    return wrong


@compiled
def _count_violation(s, node, slot):
    seen = s.seen[node, slot >> 6] & (ONE << np.uint64(slot & 63))
    s.counts[0].violations += 1
    if s.sender[slot] == node:
        s.counts[0].violations_own += 1
    elif not seen:
        s.counts[0].arrivals_out_of_order += 1
    if not s.violated[slot]:
        s.violated[slot] = 1
        s.counts[0].messages_violated += 1
    if s.now[0].flag_node != node or s.now[0].flag_message != s.id_of[slot]:  # not flagged just before
        s.counts[0].violations_undetected += 1
        if s.violated[slot] == 1:
            s.violated[slot] = 2
            s.counts[0].messages_violated_undetected += 1


@compiled
def _leave(s, node):
    """End the membership of a node: it is owed no message any more, and its past becomes that of a new process."""
    for w in range(s.missing.shape[1]):
        bits = s.missing[node, w]
        for b in range(64):
            if bits >> np.uint64(b) & ONE:
                slot = 64 * w + b
                s.remaining[slot] -= 1
                if s.remaining[slot] == 0:
                    _retire(s, slot)
        s.missing[node, w] = 0
        s.known[node, w] = 0
        s.seen[node, w] = 0
    if s.now[0].flag_node == node:
        s.now[0].flag_node = NOBODY
    s.now[0].members -= s.member[node]
    s.member[node] = 0


@compiled
def _join(s, node):
    if s.member[node]:
        _leave(s, node)
    s.member[node] = 1
    s.joined[node] = s.slots.at[0].next
    s.now[0].members += 1


@compiled
def _observe(s, op, node, message, row, violating):
    """Handle rows from `row` on, and return the row at which handling stopped.

    It stops after the last row, at a broadcast without a free slot, and at an invalid row.
    """
    known, missing, past, remaining = s.known, s.missing, s.past, s.remaining
    delivered = 0
    while row < len(op) and not (op[row] == BROADCAST and not has_room(s.slots)):
        kind, p, m = op[row], node[row], message[row]
        slot = slot_of(s.slots, m)
        word, bit = slot >> 6, ONE << np.uint64(slot & 63)
        if kind == DELIVER and slot != DEAD and missing[p, word] & bit:
            early = np.uint64(0)
            for w in range(known.shape[1]):
                early |= past[slot, w] & missing[p, w]
                known[p, w] |= past[slot, w]
            if early:
                violating[row] = True
                _count_violation(s, p, slot)
            known[p, word] |= bit
            missing[p, word] &= ~bit
            remaining[slot] -= 1
            delivered += 1
            if remaining[slot] == 0:
                _retire(s, slot)
        elif not _observe_other(s, kind, p, m, slot, row, violating):
            break
        row += 1
    s.counts[0].deliveries += delivered
    return row


@compiled
def _observe_other(s, kind, node, message, slot, row, violating):
    """Handle a row that is not the delivery of an owed message. Return False if it is invalid."""
    if kind == BROADCAST:
        if message != s.slots.at[0].next:
            return False
        _broadcast(s, node, message)
    elif kind == LEFT:
        _leave(s, node)
    elif kind == JOINED:
        _join(s, node)
    elif message < 0 or message >= s.slots.at[0].next:
        return False
    elif kind == DELIVER:
        violating[row] = _deliver_unowed(s, node, message, slot)
    elif kind == FLAGGED:
        violating[row] = slot != DEAD and _report(s, node, slot)
        s.counts[0].flagged += 1
        s.now[0].flag_node, s.now[0].flag_message = node, message
        s.counts[0].flagged_and_violated += violating[row]
    elif kind == HELD and slot != DEAD:
        violating[row] = _report(s, node, slot)
    return True


@compiled
def _sweep(s):
    """Remove the dead messages from every set and free their slots."""
    words, keep = s.known.shape[1], s.keep
    keep[:] = ~np.uint64(0)
    for i in range(s.now[0].dead):
        slot = np.int64(s.dead[i])
        keep[slot >> 6] &= ~(ONE << np.uint64(slot & 63))
        give_back(s.slots, slot)
    s.now[0].dead = 0
    for sets in (s.known, s.seen, s.past):
        for i in range(sets.shape[0]):
            for w in range(words):
                sets[i, w] &= keep[w]


@checked_values
class CausalityChecker(Observer):
    """An observer that checks the causal order of a run.

    `last_violating` marks the violations among the rows of the last `observe`: deliveries (DELIVER), and messages whose
    delivery would have been a violation (FLAGGED, HELD).
    """

    def __init__(self, nodes: int) -> None:
        if not 1 <= nodes <= MOST_NODES:
            raise UserError(f"CausalityChecker: nodes is {nodes}; allowed: 1 to {MOST_NODES:,}")
        self.nodes = nodes
        self.last_violating: NDArray[np.bool_] = np.empty(0, np.bool_)
        self._s = allocate(CheckerState, {"slots": new_slots()}, node=nodes, slot=64)
        self._s.now["members"] = nodes
        self._s.now["flag_node"] = NOBODY

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        """Check rows of observations.

        Raises:
            ValueError: A message is broadcast out of order or delivered before its broadcast; or a node's number
                exceeds the size of the arrays.
        """
        for one in (int(node.min()), int(node.max())) if len(node) else ():
            if not 0 <= one < self.nodes:
                raise ValueError(
                    f"node {one} is observed by a CausalityChecker for {self.nodes} nodes; make it with the number of "
                    f"nodes of the run"
                )
        violating = np.zeros(len(op), np.bool_)
        row = 0
        while (row := _observe(self._s, op, node, message, row, violating)) < len(op):
            self._refuse_invalid(int(op[row]), int(node[row]), int(message[row]))
            self._make_room()
        self.last_violating = violating

    def scalars(self) -> Mapping[str, float]:
        """Return the counters, and the number of deliveries that are still owed."""
        found = {name: float(self._s.counts[name][0]) for name in NAMES}
        found["missing"] = float(np.bitwise_count(self._s.missing).sum())
        return found

    @property
    def capacity(self) -> int:
        """The number of messages that can be in flight before the sets grow. Memory grows with its square."""
        return len(self._s.slots.free)

    def _refuse_invalid(self, op: int, node: int, message: int) -> None:
        following = int(self._s.slots.at["next"][0])
        if op == BROADCAST and message != following:
            raise ValueError(f"node {node} broadcasts message {message}, but the next message must be {following}")
        if op != BROADCAST:
            raise ValueError(f"node {node} delivers message {message}, which has not been broadcast yet")

    def _make_room(self) -> None:
        """Free the slots of dead messages, and double the sets if more than half of the slots are still live."""
        _sweep(self._s)
        live = self.capacity - int(self._s.slots.at["free"][0])
        self._s = reserve(self._s, 1 if live <= self.capacity // 2 else self.capacity - live + 1)
