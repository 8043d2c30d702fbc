"""The causality checker: exact and transitive for every protocol, told nothing but broadcasts and deliveries.

A delivery of m at p is a violation if p is still owed some message that is in the causal past of m. The past of m is
all that the sender knew of when it broadcast m: what it had delivered or broadcast, and the pasts of those.

Sets of messages are bitsets over the messages in flight (owed to somebody who has not delivered them yet). A message
that everybody has delivered can be missing nowhere, so it needs no bit: its slot is cleared everywhere and taken again.

    known[p]    causal past of node p              past[s]     causal past of the message in slot s
    missing[p]  what p is owed and has not got     seen[p]     what p told us of before delivering it (HELD, FLAGGED)

The check at a delivery is `past[s] & missing[p]`. Memory: (3 nodes + slots) * slots / 8 bytes.

A node is owed what is broadcast while it is a member. Delivering something it is not owed (broadcast before it joined)
counts as `unowed`; the causal past it brings counts too, unless nobody is owed that message any more: its past is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD, JOINED, LEFT, Observer
from causeway.pycontrol.slots import DEAD, FREE, NEXT, Slots, forget, give_back, has_room, slot_of, take

NAMES = (
    "messages", "deliveries", "violations", "violations_own", "messages_violated", "duplicates", "unowed",
    "arrivals_out_of_order", "flagged", "flagged_and_violated", "violations_undetected", "messages_violated_undetected",
)  # fmt: skip
(
    MESSAGES, DELIVERIES, VIOLATIONS, VIOLATIONS_OWN, MESSAGES_VIOLATED, DUPLICATES, UNOWED,
    OUT_OF_ORDER, FLAGS, FLAGS_RIGHT, UNDETECTED, MESSAGES_UNDETECTED, MEMBERS, DEAD_COUNT, FLAG_NODE, FLAG_MESSAGE,
) = range(16)  # fmt: skip
ONE = np.uint64(1)


class State(NamedTuple):
    """Everything the kernels read and write."""

    ring: NDArray[np.int32]
    free: NDArray[np.int32]
    slots: NDArray[np.int64]
    known: NDArray[np.uint64]
    missing: NDArray[np.uint64]
    seen: NDArray[np.uint64]
    past: NDArray[np.uint64]
    remaining: NDArray[np.int32]
    id_of: NDArray[np.int64]
    sender: NDArray[np.int32]
    violated: NDArray[np.uint8]
    dead: NDArray[np.int32]
    member: NDArray[np.uint8]
    joined: NDArray[np.int64]
    counts: NDArray[np.int64]


@numba.njit(cache=True)
def _broadcast(s, node, message):
    slot = take(s.ring, s.free, s.slots)
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    known, past, missing, member = s.known, s.past, s.missing, s.member  # see _observe
    for w in range(known.shape[1]):
        past[slot, w] = known[node, w]
    known[node, word] |= bit
    for p in range(len(member)):
        if member[p]:
            missing[p, word] |= bit
    s.remaining[slot] = s.counts[MEMBERS]
    s.id_of[slot] = message
    s.sender[slot] = node
    s.violated[slot] = 0
    s.counts[MESSAGES] += 1
    if s.counts[MEMBERS] == 0:
        _die(s, slot)


@numba.njit(cache=True)
def _die(s, slot):
    """Nobody is owed the message any more."""
    forget(s.ring, s.id_of[slot])
    s.dead[s.counts[DEAD_COUNT]] = slot
    s.counts[DEAD_COUNT] += 1


@numba.njit(cache=True)
def _would_violate(past, missing, node, slot):
    """Whether the node still misses something of the message's past."""
    hit = np.uint64(0)
    for w in range(past.shape[1]):
        hit |= past[slot, w] & missing[node, w]
    return hit != 0


@numba.njit(cache=True)
def _tell(s, node, slot):
    """HELD or FLAGGED: whether delivering now would violate; the first word about a message tells how it arrived."""
    wrong = _would_violate(s.past, s.missing, node, slot)
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    if wrong and s.sender[slot] != node and not s.seen[node, word] & bit:
        s.counts[OUT_OF_ORDER] += 1
    s.seen[node, word] |= bit
    return wrong


@numba.njit(cache=True)
def _deliver_unowed(s, node, message, slot):
    """A delivery of something that the node is not owed: from before it joined, or a second time."""
    if s.member[node] and s.joined[node] <= message:
        s.counts[DUPLICATES] += 1
        return False
    s.counts[DELIVERIES] += 1
    s.counts[UNOWED] += 1
    if slot == DEAD:
        return False
    wrong = _would_violate(s.past, s.missing, node, slot)
    if wrong:
        _count_violation(s, node, slot)
    for w in range(s.known.shape[1]):
        s.known[node, w] |= s.past[slot, w]
    s.known[node, slot >> 6] |= ONE << np.uint64(slot & 63)
    return wrong


@numba.njit(cache=True)
def _count_violation(s, node, slot):
    seen = s.seen[node, slot >> 6] & (ONE << np.uint64(slot & 63))
    s.counts[VIOLATIONS] += 1
    if s.sender[slot] == node:
        s.counts[VIOLATIONS_OWN] += 1
    elif not seen:
        s.counts[OUT_OF_ORDER] += 1
    if not s.violated[slot]:
        s.violated[slot] = 1
        s.counts[MESSAGES_VIOLATED] += 1
    if s.counts[FLAG_NODE] != node or s.counts[FLAG_MESSAGE] != s.id_of[slot]:  # not flagged just before
        s.counts[UNDETECTED] += 1
        if s.violated[slot] == 1:
            s.violated[slot] = 2
            s.counts[MESSAGES_UNDETECTED] += 1


@numba.njit(cache=True)
def _leave(s, node):
    """The node is owed nothing any more."""
    for w in range(s.missing.shape[1]):
        bits = s.missing[node, w]
        for b in range(64):
            if bits >> np.uint64(b) & ONE:
                slot = 64 * w + b
                s.remaining[slot] -= 1
                if s.remaining[slot] == 0:
                    _die(s, slot)
        s.missing[node, w] = 0
    s.counts[MEMBERS] -= s.member[node]
    s.member[node] = 0


@numba.njit(cache=True)
def _join(s, node):
    _leave(s, node)
    s.member[node] = 1
    s.joined[node] = s.slots[NEXT]
    s.counts[MEMBERS] += 1


@numba.njit(cache=True)
def _observe(s, op, node, message, row, violating):
    """Handles rows from `row` on; returns the row it stopped at: the end, one that needs room, or one that is wrong."""
    # Taking an array out of `s` costs an atomic reference count, so the hot path keeps its arrays in local names.
    ring, slots, known, missing, past, remaining = s.ring, s.slots, s.known, s.missing, s.past, s.remaining
    delivered = 0
    while row < len(op) and not (op[row] == BROADCAST and not has_room(ring, slots)):
        kind, p, m = op[row], node[row], message[row]
        slot = slot_of(ring, slots, m)
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
                _die(s, slot)
        elif not _observe_other(s, kind, p, m, slot, row, violating):
            break
        row += 1
    s.counts[DELIVERIES] += delivered
    return row


@numba.njit(cache=True)
def _observe_other(s, kind, node, message, slot, row, violating):
    """Everything but the delivery of something owed; False if the row makes no sense."""
    if kind == BROADCAST:
        if message != s.slots[NEXT]:
            return False
        _broadcast(s, node, message)
    elif kind == LEFT:
        _leave(s, node)
    elif kind == JOINED:
        _join(s, node)
    elif message < 0 or message >= s.slots[NEXT]:
        return False
    elif kind == DELIVER:
        violating[row] = _deliver_unowed(s, node, message, slot)
    elif kind == FLAGGED:
        violating[row] = slot != DEAD and _tell(s, node, slot)
        s.counts[FLAGS] += 1
        s.counts[FLAG_NODE], s.counts[FLAG_MESSAGE] = node, message
        s.counts[FLAGS_RIGHT] += violating[row]
    elif kind == HELD and slot != DEAD:
        violating[row] = _tell(s, node, slot)
    return True


@numba.njit(cache=True)
def _sweep(s):
    """Takes the dead messages out of every set and frees their slots."""
    words = s.known.shape[1]
    dead, free, slots = s.dead, s.free, s.slots
    keep = np.full(words, ~np.uint64(0))
    for i in range(s.counts[DEAD_COUNT]):
        slot = np.int64(dead[i])
        keep[slot >> 6] &= ~(ONE << np.uint64(slot & 63))
        give_back(free, slots, slot)
    s.counts[DEAD_COUNT] = 0
    for sets in (s.known, s.seen, s.past):
        for i in range(sets.shape[0]):
            for w in range(words):
                sets[i, w] &= keep[w]


class CausalityChecker(Observer):
    """Checks a run.

    `last_violating`: which rows of the last `observe` violated (DELIVER) or would have, had they been a delivery
    (FLAGGED, HELD).
    """

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.last_violating: NDArray[np.bool_] = np.empty(0, np.bool_)
        self._slots = Slots(64)
        of_node, of_slot = (nodes, 1), (64, 1)
        self._s = State(
            *(self._slots.ring, self._slots.free, self._slots.state),
            known=np.zeros(of_node, np.uint64), missing=np.zeros(of_node, np.uint64), seen=np.zeros(of_node, np.uint64),
            past=np.zeros(of_slot, np.uint64), remaining=np.zeros(64, np.int32), id_of=np.zeros(64, np.int64),
            sender=np.zeros(64, np.int32), violated=np.zeros(64, np.uint8), dead=np.zeros(64, np.int32),
            member=np.ones(nodes, np.uint8), joined=np.zeros(nodes, np.int64), counts=np.zeros(16, np.int64),
        )  # fmt: skip
        self._s.counts[MEMBERS] = nodes
        self._s.counts[FLAG_NODE] = -1

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        violating = np.zeros(len(op), np.bool_)
        row = 0
        while (row := _observe(self._s, op, node, message, row, violating)) < len(op):
            self._refuse_nonsense(int(op[row]), int(node[row]), int(message[row]))
            self._make_room()
        self.last_violating = violating

    def scalars(self) -> Mapping[str, float]:
        found = {name: float(self._s.counts[i]) for i, name in enumerate(NAMES)}
        found["missing"] = float(np.bitwise_count(self._s.missing).sum())
        return found

    @property
    def capacity(self) -> int:
        """How many messages can be in flight before the sets grow: what the memory depends on."""
        return self._slots.capacity

    def _refuse_nonsense(self, op: int, node: int, message: int) -> None:
        following = int(self._s.slots[NEXT])
        if op == BROADCAST and message != following:
            raise ValueError(f"node {node} broadcasts message {message}, but the next message is {following}")
        if op != BROADCAST:
            raise ValueError(f"node {node} delivers message {message}, which was not broadcast yet")

    def _make_room(self) -> None:
        """Frees the slots of dead messages; doubles the sets if that does not free a half of them."""
        _sweep(self._s)
        live = self.capacity - int(self._s.slots[FREE])
        wanted = 1 if live <= self.capacity // 2 else self.capacity - live + 1
        if self._slots.reserve(wanted):
            self._grow()
        self._s = self._s._replace(ring=self._slots.ring, free=self._slots.free)

    def _grow(self) -> None:
        old, capacity = self._s, self.capacity
        extra = capacity // 64 - old.known.shape[1]
        wide = {k: np.pad(getattr(old, k), ((0, 0), (0, extra))) for k in ("known", "missing", "seen", "past")}
        wide["past"] = np.pad(wide["past"], ((0, capacity - len(old.past)), (0, 0)))
        names = ("remaining", "id_of", "sender", "violated", "dead")
        longer = {k: np.pad(getattr(old, k), (0, capacity - len(getattr(old, k)))) for k in names}
        self._s = old._replace(**wide, **longer)
