"""The hot path of the clocks: broadcast, reception and delivery, event by event over arrays.

A message in flight has a slot until all nodes have delivered it. A message that cannot be delivered yet waits in its
process's queue, in order of arrival. A queued item keeps one entry in which the clock was behind; all entries are
compared only after that entry has caught up.
"""

from __future__ import annotations

from causeway.bridge.events import BROADCAST_PEER
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD
from causeway.pycontrol.protocols.clocks.entries import entry_lacking
from causeway.pycontrol.protocols.clocks.lines import hold, take_out
from causeway.pycontrol.protocols.clocks.state import END
from causeway.pycontrol.slots import forget, give_back, slot_of, take
from causeway.pycontrol.state_arrays import compiled, inlined
from causeway.pycontrol.tape import K_ARRIVAL, K_BROADCAST, K_LOST, report, send


@compiled
def _broadcast(c, s, tape, now_ps, p, size_bytes):
    """Broadcast a message, and deliver it at its sender (Algorithm 1, lines 1-3)."""
    message = s.slots.at[0].next
    slot = take(s.slots)
    for x in range(s.clock.shape[1]):
        s.need[slot, x] = s.clock[p, x]
    for x in s.f[p]:
        s.clock[p, x] += 1
    s.sender[slot] = p
    s.id_of[slot] = message
    s.copies[slot] = others = len(s.clock) - 1
    send(tape, now_ps + c.reaction_ps, p, message, BROADCAST_PEER, c.overhead_bytes + size_bytes)
    report(tape, BROADCAST, now_ps, p, message)
    report(tape, DELIVER, now_ps, p, message)
    if others == 0:
        _release(s, slot)


@compiled
def _release(s, slot):
    """Free the slot of a message that all nodes have delivered."""
    forget(s.slots, s.id_of[slot])
    give_back(s.slots, slot)


@compiled
def _suspicious(s, p, slot, sender):
    """Return whether each entry in which the message counts is already ahead of its need (Mostefaoui's detector)."""
    ahead = True
    for x in s.f[sender]:
        ahead &= s.clock[p, x] > s.need[slot, x]
    return ahead


@inlined
def _deliver(c, s, tape, now_ps, p, slot):
    """Deliver a message (Algorithm 1, lines 5-6)."""
    sender = s.sender[slot]
    if c.detect and _suspicious(s, p, slot, sender):
        report(tape, FLAGGED, now_ps, p, s.id_of[slot])
    for j in range(s.f.shape[1]):
        s.clock[p, s.f[sender, j]] += 1
    report(tape, DELIVER, now_ps, p, s.id_of[slot])
    s.copies[slot] -= 1
    if s.copies[slot] == 0:
        _release(s, slot)


@compiled
def _deliver_waiting(c, s, tape, now_ps, p):
    """Deliver waiting messages of p, beginning again with the first deliverable one, until none is deliverable."""
    lines = s.lines
    previous, item = END, lines.first[p]
    while item != END:
        slot, entry = lines.slot[item], lines.entry[item]
        if s.clock[p, entry] >= s.need[slot, entry]:
            entry = entry_lacking(s.clock, p, s.need, slot)
            if entry < 0:
                take_out(lines, p, previous, item)
                _deliver(c, s, tape, now_ps, p, slot)
                previous, item = END, lines.first[p]
                continue
            lines.entry[item] = entry
        previous, item = item, lines.following[item]


@compiled
def _lost(s, p, message):
    """Handle a copy that will never arrive, or all copies if p < 0."""
    slot = slot_of(s.slots, message)
    s.copies[slot] -= 1 if p >= 0 else len(s.clock) - 1
    if s.copies[slot] == 0:
        _release(s, slot)


@compiled
def handle(c, s, tape, events):
    """Handle the events of one window. The tape and the queues must have room for them."""
    for i in range(len(events.kind)):
        kind, now_ps, p, message = events.kind[i], events.time_ps[i], events.node[i], events.ref[i]
        if kind == K_ARRIVAL:
            slot = slot_of(s.slots, message)
            entry = entry_lacking(s.clock, p, s.need, slot)
            if entry >= 0:
                hold(s.lines, p, slot, entry)
                report(tape, HELD, now_ps, p, message)
                continue
            _deliver(c, s, tape, now_ps, p, slot)
        elif kind == K_BROADCAST:
            _broadcast(c, s, tape, now_ps, p, events.arg[i])
        else:
            if kind == K_LOST:
                _lost(s, p, message)
            continue
        if s.lines.first[p] != END:
            _deliver_waiting(c, s, tape, now_ps, p)
