"""The hot path: broadcast, reception and delivery, event by event over arrays (Algorithm 2 of dcs23).

`handle` goes through the events of a window until one that is not its business (a timer) or until it runs out of room.
"""

from __future__ import annotations

import numba
import numpy as np

from causeway.bridge.events import Kind
from causeway.pycontrol.protocol import BROADCAST, DELIVER, HELD
from causeway.pycontrol.protocols.dcs.resize import adapt, incarnations_differ
from causeway.pycontrol.protocols.dcs.state import (
    ABSENT,
    CONTROL_ARRIVED,
    DELIVERED,
    REMOVED,
    SENT_ENTRIES,
    WAITED,
)
from causeway.pycontrol.slots import DEAD, NEXT, forget, give_back, has_room, slot_of, take

K_ARRIVAL, K_TIMER, K_BROADCAST = int(Kind.ARRIVAL), int(Kind.TIMER), int(Kind.BROADCAST)
CONTROL = 1 << 40
"""Packet ids below are messages (packet = message), ids from here on belong to rounds."""

END, AT_TIMER, NEEDS_SLOT, NEEDS_WAITING, NEEDS_LOG, STALE = range(6)
"""What `handle` came back for."""
ONE = np.uint64(1)


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
def _is_here(got, waits, waiting, p, slot):
    """Whether the process has delivered the message or delays it."""
    here = got[p, slot >> 6] >> np.uint64(slot & 63) & ONE != 0
    for i in range(waits[p]):
        here |= waiting[p, i] == slot
    return here


@numba.njit(cache=True)
def _note(got, heard, left, p, slot):
    """The process has the message; returns how many processes still lack it."""
    heard[p] += 1
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
    if _note(s.got, s.heard, s.left, p, slot) == 0:
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
    waits, active, length, past, got = s.waits, s.active, s.length, s.past, s.got
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
            if slot == DEAD or _is_here(got, waits, s.waiting, p, slot):  # a second copy
                row += 1
                continue
            if waits[p] == s.waiting.shape[1]:
                return NEEDS_WAITING, row, rows
            changes = active[p] < length[slot] or (
                counts[REMOVED] > 0 and incarnations_differ(m_incarnation, incarnation, p, slot, length[slot])
            )
            if changes and not adapt(s, p, slot):
                return STALE, row, rows
            # Entries count deliveries: who has delivered all that the sender had finds every entry covered. Others
            # compare, and may find, wrongly, that they lack nothing.
            ready = _has_all(past, got, p, slot) or _covers(s, p, slot)
            op[rows], when[rows], who[rows], what[rows] = DELIVER if ready else HELD, now, p, ref[row]
            rows += 1
            if ready:
                _count_in(clock, size, f, sender[slot], m_s_incr, p, slot)
                counts[DELIVERED] += 1
                if _note(got, heard, left, p, slot) == 0:
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
