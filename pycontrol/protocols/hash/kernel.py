"""The hot path of the hash error detector (Algorithms 1-3 of the paper `hash`), event by event over arrays.

Dependencies, and the messages that a process has not delivered, are bitsets over the messages in flight, as in the
causality checker: a message that all nodes have delivered needs no bit. Hashes cover all messages since the start.
"""

from __future__ import annotations

import numpy as np

from causeway.bridge.events import BROADCAST_PEER
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD
from causeway.pycontrol.protocols.clocks.entries import entry_lacking
from causeway.pycontrol.protocols.clocks.lines import hold, take_out
from causeway.pycontrol.protocols.clocks.state import END
from causeway.pycontrol.protocols.hash.near import find_near, meet
from causeway.pycontrol.protocols.hash.search import find_dependencies, hash_of
from causeway.pycontrol.protocols.hash.state import APP, REQ, RSP
from causeway.pycontrol.slots import forget, give_back, slot_of, take
from causeway.pycontrol.state_arrays import compiled, inlined
from causeway.pycontrol.tape import K_ARRIVAL, K_BROADCAST, K_LOST, Here, report, send

ASKED, ANSWERED, DELIVERABLE, SUSPECTED = -1, -2, -3, -4
"""The states of an item that waits for no entry of the clock: its request was sent; its request was answered; the
message can be delivered; it is suspected, but its process must first get the answer to another request."""
ONE = np.uint64(1)


@compiled
def _send(packets, tape, kind, leaves, peer, message, size_bytes, copies):
    """Send a packet; `leaves` has the sender and the time of the effect."""
    packet = packets.slots.at[0].next
    slot = take(packets.slots)
    packets.kind[slot], packets.message[slot] = kind, message
    packets.sender[slot], packets.copies[slot] = leaves.node, copies
    send(tape, leaves.now_ps, leaves.node, packet, peer, size_bytes)


@inlined
def _remember(s, p, sender, message):
    """Add a message to Deliv of p: to its hash and to the ring of its last deliveries."""
    search = s.search
    s.hash_now[p] += hash_of(message)
    place = search.delivered[p] & (search.senders.shape[1] - 1)
    search.senders[p, place] = sender
    search.messages[p, place] = message
    search.delivered[p] += 1


@compiled
def _broadcast(c, s, packets, tape, time_ps, p, size_bytes):
    """Broadcast a message (Algorithm 2, lines 1-7) and deliver it at its sender, too (docs/papers/hash.md)."""
    message = s.slots.at[0].next
    slot = take(s.slots)
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    clock, need, lacks = s.search.clock, s.search.need, s.lacks
    for x in range(clock.shape[1]):
        need[slot, x] = clock[p, x]
    s.dep_count[slot] = s.dep_count_now[p]
    for w in range(s.dep.shape[1]):
        s.dep[slot, w] = s.dep_now[p, w]
        s.dep_now[p, w] = 0
    s.dep_now[p, word] = bit
    s.dep_count_now[p] = 1
    for q in range(len(lacks)):
        lacks[q, word] |= bit
    lacks[p, word] &= ~bit
    for x in s.search.f[p]:
        s.search.clock[p, x] += 1
    s.hash_at[slot] = meet(s.near, c.near, p, message, clock) if c.near > 0 else s.hash_now[p]
    _remember(s, p, p, message)
    others = len(s.hash_now) - 1
    s.sender[slot], s.id_of[slot], s.copies[slot] = p, message, others
    report(tape, BROADCAST, time_ps, p, message)
    report(tape, DELIVER, time_ps, p, message)
    size_bytes += c.app_bytes
    _send(packets, tape, APP, Here(p, time_ps + c.reaction_ps), BROADCAST_PEER, message, size_bytes, others)
    if others == 0:
        _release(s, slot)


@compiled
def _release(s, slot):
    """Retire a message that all nodes have delivered; `sweep` frees its slot."""
    forget(s.slots, s.id_of[slot])
    s.dead[s.counts[0].dead] = slot
    s.counts[0].dead += 1


@inlined
def _find(c, s, p, slot):
    """Return whether a set of delivered messages has the hash of the dependencies, and the hashes computed."""
    if c.near > 0:
        return find_near(s.near, c, p, s.id_of[slot], s.hash_at[slot], s.slots.at[0].next)
    return find_dependencies(s.search, c, p, slot, s.hash_now[p] - s.hash_at[slot])


@compiled
def _error(c, s, p, slot):
    found, hashes = _find(c, s, p, slot)
    s.counts[0].hashes += hashes
    return not found


@compiled
def _request(c, s, packets, tape, time_ps, p, slot):
    """Request the dependencies from the sender (line 11). The message keeps its slot until the answer arrives."""
    s.copies[slot] += 1
    report(tape, FLAGGED, time_ps, p, s.id_of[slot])
    s.counts[0].requests += 1
    s.asking[p] = 1
    leaves = Here(p, time_ps + c.reaction_ps)
    _send(packets, tape, REQ, leaves, s.sender[slot], s.id_of[slot], c.header_bytes, 1)


@inlined
def _deliver(c, s, tape, time_ps, p, slot):
    """Deliver a message (handle(), lines 17-21)."""
    message, sender = s.id_of[slot], s.sender[slot]
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    for x in s.search.f[sender]:
        s.search.clock[p, x] += 1
    _remember(s, p, sender, message)
    s.lacks[p, word] &= ~bit
    if c.near > 0:
        near = message & (len(s.near.found) - 1)
        s.near.lacks[p, near >> 6] &= ~(ONE << np.uint64(near & 63))
    s.dep_now[p, word] |= bit
    s.dep_count_now[p] += 1
    report(tape, DELIVER, time_ps, p, message)
    s.copies[slot] -= 1
    if s.copies[slot] == 0:
        _release(s, slot)


@compiled
def _ready(c, s, packets, tape, time_ps, p, item):
    """Return whether an item in the queue of p can be delivered now. It is tested as soon as the clock allows it."""
    slot, entry = s.lines.slot[item], s.lines.entry[item]
    if entry == ASKED:
        return c.retest and not _error(c, s, p, slot)
    if entry == SUSPECTED and s.asking[p] and not c.retest:
        return False
    if entry == ANSWERED:  # line 15
        lacking = np.uint64(0)
        for w in range(s.dep.shape[1]):
            lacking |= s.dep[slot, w] & s.lacks[p, w]
        return lacking == 0
    if entry >= 0:
        if s.search.clock[p, entry] < s.search.need[slot, entry]:
            return False
        s.lines.entry[item] = entry = entry_lacking(s.search.clock, p, s.search.need, slot)
        if entry >= 0:
            return False
    if not _error(c, s, p, slot):
        return True
    s.lines.entry[item] = SUSPECTED
    if not (c.one_request and s.asking[p]):
        s.lines.entry[item] = ASKED
        _request(c, s, packets, tape, time_ps, p, slot)
    return False


@compiled
def _deliver_waiting(c, s, packets, tape, time_ps, p):
    """Deliver waiting messages of p, beginning again with the first deliverable one, until none is deliverable."""
    previous, item = END, s.lines.first[p]
    while item != END:
        if _ready(c, s, packets, tape, time_ps, p, item):
            take_out(s.lines, p, previous, item)
            _deliver(c, s, tape, time_ps, p, s.lines.slot[item])
            previous, item = END, s.lines.first[p]
        else:
            previous, item = item, s.lines.following[item]


@compiled
def _answer(c, s, packets, tape, time_ps, p, peer, message):
    """Answer a request (line 14)."""
    slot = slot_of(s.slots, message)
    size_bytes = c.header_bytes + c.id_bytes * s.dep_count[slot]
    _send(packets, tape, RSP, Here(p, time_ps + c.reaction_ps), peer, message, size_bytes, 1)


@compiled
def _answered(s, p, message):
    """Handle an answer: the message's item now waits for its dependencies, unless it has been delivered meanwhile."""
    slot = slot_of(s.slots, message)
    item = s.lines.first[p]
    while item != END and s.lines.slot[item] != slot:
        item = s.lines.following[item]
    if item != END:
        s.lines.entry[item] = ANSWERED
    s.asking[p] = 0
    s.copies[slot] -= 1
    if s.copies[slot] == 0:
        _release(s, slot)


@compiled
def _lost(s, packets, packet, node):
    """Handle the loss of copies. Messages that depend on a lost APP wait for ever."""
    slot = slot_of(packets.slots, packet)
    gone = packets.copies[slot] if node < 0 else 1
    if packets.kind[slot] == APP:
        message = slot_of(s.slots, packets.message[slot])
        s.copies[message] -= gone
        if s.copies[message] == 0:
            _release(s, message)
    _drop_copies(packets, packet, slot, gone)


@inlined
def _drop_copies(packets, packet, slot, copies):
    packets.copies[slot] -= copies
    if packets.copies[slot] == 0:
        forget(packets.slots, packet)
        give_back(packets.slots, slot)


@compiled
def _not_deliverable(c, s, packets, tape, time_ps, p, slot, entry):
    """Queue an APP for which the clock is behind in this entry (line 9), or which is suspected (lines 10-11)."""
    if entry == ASKED and c.one_request and s.asking[p]:
        entry = SUSPECTED
    hold(s.lines, p, slot, entry)
    if entry == ASKED:
        _request(c, s, packets, tape, time_ps, p, slot)
    else:
        report(tape, HELD, time_ps, p, s.id_of[slot])


@compiled
def _handle_other(c, s, packets, tape, kind, here, ref, arg):
    """Handle an event that is not the arrival of an APP."""
    p, time_ps = here.node, here.now_ps
    if kind == K_BROADCAST:
        if c.quiet and s.asking[p]:
            s.counts[0].skipped += 1
            return
        _broadcast(c, s, packets, tape, time_ps, p, arg)
        _deliver_waiting(c, s, packets, tape, time_ps, p)
    elif kind == K_LOST:
        _lost(s, packets, ref, p)
    elif kind == K_ARRIVAL:
        slot = slot_of(packets.slots, ref)
        content, message, sender = packets.kind[slot], packets.message[slot], packets.sender[slot]
        _drop_copies(packets, ref, slot, 1)
        if content == REQ:
            _answer(c, s, packets, tape, time_ps, p, sender, message)
        else:
            _answered(s, p, message)
            _deliver_waiting(c, s, packets, tape, time_ps, p)


@compiled
def handle(c, s, packets, tape, events):
    """Handle the events of one window. There must be room for everything that they can cause."""
    for i in range(len(events.kind)):
        kind, now_ps, p, ref = events.kind[i], events.time_ps[i], events.node[i], events.ref[i]
        packet = slot_of(packets.slots, ref) if kind == K_ARRIVAL else -1
        if packet < 0 or packets.kind[packet] != APP:
            _handle_other(c, s, packets, tape, kind, Here(p, now_ps), ref, events.arg[i])
            continue
        slot = slot_of(s.slots, packets.message[packet])
        _drop_copies(packets, ref, packet, 1)
        entry = entry_lacking(s.search.clock, p, s.search.need, slot)
        if entry < 0:
            found, hashes = _find(c, s, p, slot)
            s.counts[0].hashes += hashes
            entry = DELIVERABLE if found else ASKED
        if entry != DELIVERABLE:
            _not_deliverable(c, s, packets, tape, now_ps, p, slot, entry)
            continue
        _deliver(c, s, tape, now_ps, p, slot)
        if s.lines.first[p] != END:
            _deliver_waiting(c, s, packets, tape, now_ps, p)


@compiled
def sweep(s):
    """Remove the messages that all nodes have delivered from every set, and free their slots."""
    words, keep = s.dep.shape[1], s.keep
    keep[:] = ~np.uint64(0)
    for i in range(s.counts[0].dead):
        slot = np.int64(s.dead[i])
        keep[slot >> 6] &= ~(ONE << np.uint64(slot & 63))
        give_back(s.slots, slot)
    s.counts[0].dead = 0
    for sets in (s.dep_now, s.dep):
        for i in range(sets.shape[0]):
            for w in range(words):
                sets[i, w] &= keep[w]
