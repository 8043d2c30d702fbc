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
    REMOVED,
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
ONE = np.uint64(1)


@numba.njit(cache=True)
def assign(s, p, limit, avoid=ABSENT):
    """The process assigns itself to components chosen at random among the first `limit` but `avoid`: a new S_incr."""
    s.draws[p] += 1
    s.limit[p] = limit
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
def assign_all(s, nodes, limits, avoid):
    """`assign` for some processes, to active components."""
    for i in range(len(nodes)):
        assign(s, nodes[i], min(limits[i], s.active[nodes[i]]), avoid[i])


@numba.njit(cache=True)
def expand(s, nodes, wanted):
    """Section IV-C: Activate(), or Add() where nothing is inactive, until as many components are active as wanted."""
    for i in range(len(nodes)):
        p = nodes[i]
        before = s.active[p]
        while s.active[p] < min(wanted[i], s.incarnation.shape[1]):
            if s.active[p] < s.total[p]:
                s.active[p] += 1
            else:
                add(s, p)
        if s.active[p] != before:
            assign(s, p, s.active[p])


@numba.njit(cache=True)
def _learn_removals(s, p, slot):
    """A message with a newer incarnation of a component proves its removal: it is as good as the decision."""
    for c in range(s.length[slot]):
        if s.m_incarnation[slot, c] > s.incarnation[p, c]:
            s.total[p] = min(s.total[p], c)
            s.active[p] = min(s.active[p], c)
            s.incarnation[p, c] = s.m_incarnation[slot, c]
            s.counts[REMOVED] += 1


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


@numba.njit(cache=True)
def _incarnations_differ(m_incarnation, incarnation, p, slot, length):
    differ = False
    for c in range(length):
        differ |= m_incarnation[slot, c] != incarnation[p, c]
    return differ


@numba.njit(cache=True)
def _adapt(s, p, slot):
    """Before the delivery condition: removals and expansion. False if the message is older than a removal here."""
    for c in range(s.length[slot]):
        if s.m_incarnation[slot, c] < s.incarnation[p, c]:
            return False
    _learn_removals(s, p, slot)
    if s.active[p] < s.length[slot]:
        _check_expand(s, p, slot)
    return True


@numba.njit(cache=True)
def _has_all(past, got, p, slot):
    """Whether p has delivered all that the sender had delivered when it sent the message."""
    lacking = np.uint64(0)
    for w in range(past.shape[1]):
        lacking |= past[slot, w] & ~got[p, w]
    return lacking == 0


@numba.njit(cache=True)
def _covers(s, p, slot):
    """The delivery condition: need <= clock in every entry of the message's components."""
    lacking = np.int32(0)
    for x in range(s.length[slot] * (s.clock.shape[1] // s.incarnation.shape[1])):
        lacking |= s.clock[p, x] - s.need[slot, x]  # no early end: so it is done many entries at a time
    return lacking >= 0


@numba.njit(cache=True)
def _count_in(clock, size, f, sender, m_s_incr, p, slot):
    """Line 6: the entries the sender incremented."""
    for i in range(m_s_incr.shape[1]):
        c = m_s_incr[slot, i]
        if c != ABSENT:
            for j in range(f.shape[1]):
                clock[p, c * size + f[sender, j]] += 1


@numba.njit(cache=True)
def _note(done, got, heard, left, p, slot):
    """The process has the message; returns how many processes still lack it."""
    heard[p] += 1
    done[slot, p] = DONE
    got[p, slot >> 6] |= ONE << np.uint64(slot & 63)
    left[slot] -= 1
    return left[slot]


@numba.njit(cache=True)
def _release(ring, free, slots, slot, id_):
    """Everybody has the message."""
    forget(ring, id_)
    give_back(free, slots, slot)


@numba.njit(cache=True)
def _deliver(s, p, slot):
    size = s.clock.shape[1] // s.incarnation.shape[1]
    _count_in(s.clock, size, s.f, s.sender[slot], s.m_s_incr, p, slot)
    s.counts[DELIVERED] += 1
    if _note(s.done, s.got, s.heard, s.left, p, slot) == 0:
        _release(s.ring, s.free, s.slots, slot, s.m_id[slot])


@numba.njit(cache=True)
def _forget_slot(s, slot):
    """The slot has another message now."""
    word, others = slot >> 6, ~(ONE << np.uint64(slot & 63))
    for p in range(len(s.got)):
        s.got[p, word] &= others
    for other in range(len(s.past)):
        s.past[other, word] &= others


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
    _forget_slot(s, slot)
    s.past[slot] = s.got[p]
    _deliver(s, p, slot)
    return message


@numba.njit(cache=True)
def _wait(s, p, slot):
    s.counts[WAITED] += 1
    s.waiting[p, s.waits[p]] = slot
    s.waits[p] += 1
    s.done[slot, p] = WAITS


@numba.njit(cache=True)
def _deliver_waiting(s, p, time_ps, log, rows):
    """Delivers what waits at p and may now be delivered, first come first served, until nothing more may."""
    op, when, node, message = log
    again = True
    while again:
        again = False
        for i in range(s.waits[p]):
            slot = s.waiting[p, i]
            if _covers(s, p, slot):
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
    """Handles events from `row` on: (why it stopped, row, rows of the log). `mail` gets the rows of control packets.

    What nearly every arrival does is done on single arrays: handing all of `s` to a function costs more than that.
    """
    op, when, who, what = log
    waits, done, active, length, past, got = s.waits, s.done, s.active, s.length, s.past, s.got
    clock, f, sender, m_s_incr, heard, left, counts = s.clock, s.f, s.sender, s.m_s_incr, s.heard, s.left, s.counts
    ring, slots, incarnation, m_incarnation = s.ring, s.slots, s.incarnation, s.m_incarnation
    size = clock.shape[1] // s.incarnation.shape[1]
    while row < len(kind):
        p, now = node[row], time_ps[row]
        if rows + waits[p] + 2 > len(op):
            return NEEDS_LOG, row, rows
        if kind[row] == K_ARRIVAL:
            if ref[row] >= CONTROL:
                mail[counts[CONTROL_ARRIVED]] = row
                counts[CONTROL_ARRIVED] += 1
                row += 1
                continue
            slot = slot_of(ring, slots, ref[row])
            if slot == DEAD or done[slot, p] != NEW:  # a second copy
                row += 1
                continue
            if waits[p] == s.waiting.shape[1]:
                return NEEDS_WAITING, row, rows
            changes = active[p] < length[slot] or (
                counts[REMOVED] > 0 and _incarnations_differ(m_incarnation, incarnation, p, slot, length[slot])
            )
            if changes and not _adapt(s, p, slot):
                return STALE, row, rows
            # Entries count deliveries: who has delivered all that the sender had finds every entry covered. Others
            # compare, and may find, wrongly, that they lack nothing.
            ready = _has_all(past, got, p, slot) or _covers(s, p, slot)
            op[rows], when[rows], who[rows], what[rows] = DELIVER if ready else HELD, now, p, ref[row]
            rows += 1
            if ready:
                _count_in(clock, size, f, sender[slot], m_s_incr, p, slot)
                counts[DELIVERED] += 1
                if _note(done, got, heard, left, p, slot) == 0:
                    _release(ring, s.free, slots, slot, ref[row])
                if waits[p]:
                    rows = _deliver_waiting(s, p, now, log, rows)
            else:
                _wait(s, p, slot)
        elif kind[row] == K_BROADCAST:
            if not has_room(ring, slots):
                return NEEDS_SLOT, row, rows
            message = _broadcast(s, p)
            op[rows], when[rows], who[rows], what[rows] = BROADCAST, now, p, message
            op[rows + 1], when[rows + 1], who[rows + 1], what[rows + 1] = DELIVER, now, p, message
            rows += 2
            if waits[p]:
                rows = _deliver_waiting(s, p, now, log, rows)
        elif kind[row] == K_TIMER:
            return AT_TIMER, row, rows
        row += 1
    return END, row, rows
