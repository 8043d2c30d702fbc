"""The hot path: broadcast, reception and delivery, event by event over arrays (Algorithm 2 of dcs23).

`handle` processes the events of a window up to a timer, which `vectorized.py` handles, or until it needs more room.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocol import BROADCAST, DELIVER, HELD
from causeway.pycontrol.protocols.dcs.resize import adapt, incarnations_differ
from causeway.pycontrol.protocols.dcs.state import ABSENT
from causeway.pycontrol.slots import DEAD, forget, give_back, has_room, slot_of, take
from causeway.pycontrol.state_arrays import compiled, inlined
from causeway.pycontrol.tape import K_ARRIVAL, K_BROADCAST, K_TIMER, report

CONTROL = 1 << 40
"""The first packet id of rounds. Smaller ids are ids of messages."""

END, AT_TIMER, NEEDS_SLOT, NEEDS_WAITING, NEEDS_TAPE, STALE = range(6)
"""The reasons for which `handle` returns."""
ONE = np.uint64(1)


@compiled
def _has_all(past, got, p, slot):
    """Return whether p has delivered all messages that the sender had delivered when it sent this one."""
    lacking = np.uint64(0)
    for w in range(past.shape[1]):
        lacking |= past[slot, w] & ~got[p, w]
    return lacking == 0


@compiled
def _covers(s, p, slot):
    """Return whether need <= clock in every entry of the message's components: the delivery condition."""
    lacking = np.int32(0)
    for x in range(s.length[slot] * (s.clock.shape[1] // s.incarnation.shape[1])):
        lacking |= s.clock[p, x] - s.need[slot, x]  # without a break, so that the compiler vectorizes it
    return lacking >= 0


@compiled
def _count_in(clock, size, f, sender, m_s_incr, p, slot):
    """Increment the entries that the sender incremented (line 6)."""
    for i in range(m_s_incr.shape[1]):
        c = m_s_incr[slot, i]
        if c != ABSENT:
            for j in range(f.shape[1]):
                clock[p, c * size + f[sender, j]] += 1


@compiled
def _has_message(got, waits, waiting, p, slot):
    """Return whether the process has delivered the message or delays it."""
    here = got[p, slot >> 6] >> np.uint64(slot & 63) & ONE != 0
    for i in range(waits[p]):
        here |= waiting[p, i] == slot
    return here


@compiled
def _note(got, heard, left, p, slot):
    """Mark the message as delivered at p, and return the number of processes that have not delivered it yet."""
    heard[p] += 1
    got[p, slot >> 6] |= ONE << np.uint64(slot & 63)
    left[slot] -= 1
    return left[slot]


@compiled
def _release(slots, slot, id_):
    """Free the slot of a message that all nodes have delivered."""
    forget(slots, id_)
    give_back(slots, slot)


@compiled
def _deliver(s, p, slot):
    size = s.clock.shape[1] // s.incarnation.shape[1]
    _count_in(s.clock, size, s.f, s.sender[slot], s.m_s_incr, p, slot)
    s.counts[0].delivered += 1
    if _note(s.got, s.heard, s.left, p, slot) == 0:
        _release(s.slots, slot, s.m_id[slot])


@compiled
def _forget_slot(s, slot):
    """Clear a slot that gets a new message in all sets."""
    word, others = slot >> 6, ~(ONE << np.uint64(slot & 63))
    for p in range(len(s.got)):
        s.got[p, word] &= others
    for other in range(len(s.past)):
        s.past[other, word] &= others


@compiled
def _broadcast(s, p):
    """Broadcast a message, and deliver it at its sender (lines 1 and 2)."""
    message = s.slots.at[0].next
    slot = take(s.slots)
    size = s.clock.shape[1] // s.incarnation.shape[1]
    length = s.active[p]
    entries = length * size
    for x in range(entries):
        s.need[slot, x] = s.clock[p, x]
    s.length[slot] = length
    for c in range(length):
        s.m_incarnation[slot, c] = s.incarnation[p, c]
        s.last_with[p, c] = message
    for i in range(s.s_incr.shape[1]):
        s.m_s_incr[slot, i] = s.s_incr[p, i]
    s.sender[slot] = p
    s.m_id[slot] = message
    s.left[slot] = len(s.active)
    s.counts[0].sent_entries += entries
    _forget_slot(s, slot)
    for w in range(s.got.shape[1]):
        s.past[slot, w] = s.got[p, w]
    _deliver(s, p, slot)
    return message


@compiled
def _wait(s, p, slot):
    s.counts[0].waited += 1
    s.waiting[p, s.waits[p]] = slot
    s.waits[p] += 1


@compiled
def _deliver_waiting(s, tape, p, now_ps):
    """Deliver waiting messages of p, beginning again with the first deliverable one, until none is deliverable."""
    again = True
    while again:
        again = False
        for i in range(s.waits[p]):
            slot = s.waiting[p, i]
            if _covers(s, p, slot):
                report(tape, DELIVER, now_ps, p, s.m_id[slot])
                _deliver(s, p, slot)
                for j in range(i + 1, s.waits[p]):
                    s.waiting[p, j - 1] = s.waiting[p, j]
                s.waits[p] -= 1
                again = True
                break


@inlined
def _changes(s, p, slot):
    """Return whether the message may change the size of the process's clock."""
    return s.active[p] < s.length[slot] or (
        s.counts[0].removed > 0 and incarnations_differ(s.m_incarnation, s.incarnation, p, slot, s.length[slot])
    )


@compiled
def handle(s, tape, mail, events, row):
    """Handle events from `row` on, and write the rows of packets of rounds to `mail`.

    Nearly every arrival uses single arrays only, since passing the whole state to a function costs more than the work.

    Returns:
        The reason for the return, and the row to continue with.
    """
    waits, got = s.waits, s.got
    size = s.clock.shape[1] // s.incarnation.shape[1]
    while row < len(events.kind):
        kind, p, now_ps, ref = events.kind[row], events.node[row], events.time_ps[row], events.ref[row]
        if tape.rows[0].reported + waits[p] + 2 > len(tape.op):
            return NEEDS_TAPE, row
        if kind == K_ARRIVAL:
            if ref >= CONTROL:
                mail[s.counts[0].control_arrived] = row
                s.counts[0].control_arrived += 1
                row += 1
                continue
            slot = slot_of(s.slots, ref)
            if slot == DEAD or _has_message(got, waits, s.waiting, p, slot):  # a second copy
                row += 1
                continue
            if waits[p] == s.waiting.shape[1]:
                return NEEDS_WAITING, row
            if _changes(s, p, slot) and not adapt(s, p, slot):
                return STALE, row
            # Entries count deliveries, so a process that has delivered everything that the sender had delivered covers
            # every entry. The comparison of entries may also succeed wrongly, which is the error of probabilistic
            # clocks.
            ready = _has_all(s.past, got, p, slot) or _covers(s, p, slot)
            report(tape, DELIVER if ready else HELD, now_ps, p, ref)
            if ready:
                _count_in(s.clock, size, s.f, s.sender[slot], s.m_s_incr, p, slot)
                s.counts[0].delivered += 1
                if _note(got, s.heard, s.left, p, slot) == 0:
                    _release(s.slots, slot, ref)
                if waits[p]:
                    _deliver_waiting(s, tape, p, now_ps)
            else:
                _wait(s, p, slot)
        elif kind == K_BROADCAST:
            if not has_room(s.slots):
                return NEEDS_SLOT, row
            message = _broadcast(s, p)
            report(tape, BROADCAST, now_ps, p, message)
            report(tape, DELIVER, now_ps, p, message)
            if waits[p]:
                _deliver_waiting(s, tape, p, now_ps)
        elif kind == K_TIMER:
            return AT_TIMER, row
        row += 1
    return END, row
