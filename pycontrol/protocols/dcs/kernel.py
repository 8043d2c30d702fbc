"""The hot path: broadcast, reception, checkExpand and delivery, event by event over arrays (Algorithm 2 of dcs23).

`handle` goes through the events of a window until one that is not its business (a timer) or until it runs out of room.
"""

from __future__ import annotations

import numba
import numpy as np

from bridge.events import Kind
from bridge.random import below, draw, unit
from pycontrol.protocol import BROADCAST, DELIVER, HELD
from pycontrol.protocols.dcs.state import (
    ABSENT,
    ASSIGNED,
    CONTROL_ARRIVED,
    DELIVERED,
    DONE,
    EXPANDED_BY_MESSAGE,
    NEW,
    SENT_ENTRIES,
    STREAM_ASSIGN,
    STREAM_POLICY,
    WAITED,
    WAITS,
)
from pycontrol.slots import DEAD, NEXT, forget, give_back, has_room, slot_of, take

K_ARRIVAL, K_TIMER, K_BROADCAST = int(Kind.ARRIVAL), int(Kind.TIMER), int(Kind.BROADCAST)
CONTROL = 1 << 40
"""Packet ids below are messages (packet = message), ids from here on belong to rounds."""

END, AT_TIMER, NEEDS_SLOT, NEEDS_WAITING, NEEDS_LOG, STALE = range(6)
"""What `handle` came back for."""
BLOCK = 64


@numba.njit(cache=True)
def assign(s, p, limit, avoid=ABSENT):
    """The process assigns itself to components chosen at random among the first `limit` but `avoid`: a new S_incr."""
    s.draws[p] += 1
    s.counts[ASSIGNED] += 1
    width = s.s_incr.shape[1]
    taken = np.full(width + 1, limit, np.int64)
    first = 0 if avoid == ABSENT else 1
    if first:
        taken[0] = avoid
    chosen = min(width, limit - first)
    for i in range(chosen):
        k = below(draw(s.seed[0], STREAM_ASSIGN, p, s.draws[p] * width + i), limit - first - i)
        for q in range(first + i):  # taken is ascending: k becomes the k-th of those not taken
            if taken[q] <= k:
                k += 1
        taken[first + i] = k
        taken.sort()
    place = 0
    for i in range(first + chosen):
        if taken[i] != avoid:
            s.s_incr[p, place] = taken[i]
            place += 1
    s.s_incr[p, place:] = ABSENT


@numba.njit(cache=True)
def uniform(seed, nodes, tick):
    """What the policy of each of these processes draws at a tick, in [0, 1)."""
    drawn = np.empty(len(nodes))
    for i in range(len(nodes)):
        drawn[i] = unit(draw(seed, STREAM_POLICY, nodes[i], tick))
    return drawn


@numba.njit(cache=True)
def add(s, p):
    """Add(): a new component at the end, entries 0; all components become active. There must be room for it."""
    size = s.clock.shape[1] // s.incarnation.shape[1]
    k = s.total[p]
    for x in range(k * size, (k + 1) * size):
        s.clock[p, x] = 0
    s.total[p] = k + 1
    s.active[p] = k + 1


@numba.njit(cache=True)
def _learn_removals(s, p, slot):
    """A message with a newer incarnation of a component proves its removal: it is as good as the decision."""
    for c in range(s.length[slot]):
        if s.m_incarnation[slot, c] > s.incarnation[p, c]:
            s.total[p] = min(s.total[p], c)
            s.active[p] = min(s.active[p], c)
            s.incarnation[p, c] = s.m_incarnation[slot, c]


@numba.njit(cache=True)
def _has_news(s, p, slot, c):
    """Whether some entry of component c of the message is greater than the process's own."""
    size = s.clock.shape[1] // s.incarnation.shape[1]
    for x in range(c * size, (c + 1) * size):
        if s.need[slot, x] > s.clock[p, x]:
            return True
    for i in range(s.m_s_incr.shape[1]):
        if s.m_s_incr[slot, i] == c:
            for x in s.f[s.sender[slot]]:
                if s.need[slot, c * size + x] + 1 > s.clock[p, c * size + x]:
                    return True
    return False


@numba.njit(cache=True)
def _check_expand(s, p, slot):
    """checkExpand(), Section IV-B: add what is lacking; reactivate what holds news; then a new S_incr."""
    length = s.length[slot]
    before = s.active[p]
    if s.total[p] < length:
        while s.total[p] < length:
            add(s, p)
    else:
        for c in range(length - 1, s.active[p] - 1, -1):
            if _has_news(s, p, slot, c):
                s.active[p] = c + 1
                break
    if s.active[p] != before:
        s.counts[EXPANDED_BY_MESSAGE] += 1
        assign(s, p, s.active[p])


@numba.njit(cache=True, inline="always")
def _incarnations(s, p, slot):
    """-1: the message is older than a removal here (must not happen); 1: newer; 0: the same."""
    for c in range(s.length[slot]):
        if s.m_incarnation[slot, c] != s.incarnation[p, c]:
            return 1 if s.m_incarnation[slot, c] > s.incarnation[p, c] else -1
    return 0


@numba.njit(cache=True, inline="always")
def _deliverable(s, p, slot):
    """The delivery condition: need <= clock in every entry of the message's components."""
    entries = s.length[slot] * (s.clock.shape[1] // s.incarnation.shape[1])
    need, clock = s.need[slot], s.clock[p]
    lacking = np.int32(0)
    for x in range(entries):  # no early end: so the loop is done many entries at a time
        lacking |= clock[x] - need[x]
    return lacking >= 0


@numba.njit(cache=True, inline="always")
def _deliver(s, p, slot):
    """Line 6: the entries the sender incremented. The last delivery frees the slot."""
    size = s.clock.shape[1] // s.incarnation.shape[1]
    sender = s.sender[slot]
    for i in range(s.m_s_incr.shape[1]):
        c = s.m_s_incr[slot, i]
        if c != ABSENT:
            for j in range(s.f.shape[1]):
                s.clock[p, c * size + s.f[sender, j]] += 1
    s.heard[p] += 1
    s.counts[DELIVERED] += 1
    s.done[slot, p] = DONE
    s.left[slot] -= 1
    if s.left[slot] == 0:
        forget(s.ring, s.m_id[slot])
        give_back(s.free, s.slots, slot)


@numba.njit(cache=True)
def _broadcast(s, p):
    """Lines 1 and 2. The broadcaster has delivered its own message."""
    message = s.slots[NEXT]
    slot = take(s.ring, s.free, s.slots)
    size = s.clock.shape[1] // s.incarnation.shape[1]
    length = s.active[p]
    entries = length * size
    s.need[slot, :entries] = s.clock[p, :entries]
    s.length[slot] = length
    s.m_incarnation[slot, :length] = s.incarnation[p, :length]
    s.m_s_incr[slot] = s.s_incr[p]
    s.sender[slot] = p
    s.m_id[slot] = message
    s.left[slot] = len(s.active)
    s.done[slot] = NEW
    s.last_with[p, :length] = message
    s.counts[SENT_ENTRIES] += entries
    _deliver(s, p, slot)
    return message


@numba.njit(cache=True)
def _deliver_waiting(s, p, time_ps, log, rows):
    """Delivers what waits at p and may now be delivered, first come first served, until nothing more may."""
    op, when, node, message = log
    again = True
    while again:
        again = False
        for i in range(s.waits[p]):
            slot = s.waiting[p, i]
            if _deliverable(s, p, slot):
                op[rows], when[rows], node[rows], message[rows] = DELIVER, time_ps, p, s.m_id[slot]
                rows += 1
                _deliver(s, p, slot)
                for j in range(i + 1, s.waits[p]):
                    s.waiting[p, j - 1] = s.waiting[p, j]
                s.waits[p] -= 1
                again = True
                break
    return rows


@numba.njit(cache=True)
def handle(s, kind, time_ps, node, ref, row, log, rows, mail):
    """Handles events from `row` on: (why it stopped, row, rows of the log). `mail` gets the rows of control packets."""
    op, when, who, what = log
    while row < len(kind):
        p = node[row]
        if rows + s.waits[p] + 2 > len(op):
            return NEEDS_LOG, row, rows
        if kind[row] == K_BROADCAST:
            if not has_room(s.ring, s.slots):
                return NEEDS_SLOT, row, rows
            message = _broadcast(s, p)
            op[rows], when[rows], who[rows], what[rows] = BROADCAST, time_ps[row], p, message
            op[rows + 1], when[rows + 1], who[rows + 1], what[rows + 1] = DELIVER, time_ps[row], p, message
            rows = _deliver_waiting(s, p, time_ps[row], log, rows + 2) if s.waits[p] else rows + 2
        elif kind[row] == K_ARRIVAL:
            if ref[row] >= CONTROL:
                mail[s.counts[CONTROL_ARRIVED]] = row
                s.counts[CONTROL_ARRIVED] += 1
                row += 1
                continue
            if s.waits[p] == s.waiting.shape[1]:
                return NEEDS_WAITING, row, rows
            slot = slot_of(s.ring, s.slots, ref[row])
            if slot == DEAD or s.done[slot, p] != NEW:  # a second copy
                row += 1
                continue
            order = _incarnations(s, p, slot)
            if order < 0:
                return STALE, row, rows
            if order > 0:
                _learn_removals(s, p, slot)
            if s.active[p] < s.length[slot]:
                _check_expand(s, p, slot)
            if _deliverable(s, p, slot):
                op[rows], when[rows], who[rows], what[rows] = DELIVER, time_ps[row], p, ref[row]
                rows += 1
                _deliver(s, p, slot)
                if s.waits[p]:
                    rows = _deliver_waiting(s, p, time_ps[row], log, rows)
            else:
                op[rows], when[rows], who[rows], what[rows] = HELD, time_ps[row], p, ref[row]
                rows += 1
                s.counts[WAITED] += 1
                s.waiting[p, s.waits[p]] = slot
                s.waits[p] += 1
                s.done[slot, p] = WAITS
        elif kind[row] == K_TIMER:
            return AT_TIMER, row, rows
        row += 1
    return END, row, rows
