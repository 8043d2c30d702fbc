"""The hot path of the hash error detector (Algorithms 1-3 of the paper `hash`), event by event over arrays.

Sets of messages that matter (dependencies, what a process has not delivered) are bitsets over the messages in flight,
as in the causality checker: what everybody has delivered needs no bit. Hashes cover everything since the beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import BROADCAST_PEER, Kind
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD
from causeway.pycontrol.protocols.clocks.entries import entry_lacking
from causeway.pycontrol.protocols.clocks.kernel import END, ROWS, hold, take_out, tell
from causeway.pycontrol.protocols.hash.search import find_dependencies, hash_of
from causeway.pycontrol.slots import NEXT, forget, give_back, slot_of, take

K_ARRIVAL, K_LOST, K_BROADCAST = int(Kind.ARRIVAL), int(Kind.LOST), int(Kind.BROADCAST)
APP, REQ, RSP = 0, 1, 2
"""Kinds of packets."""
ASKED, ANSWERED, DELIVERABLE = -1, -2, -3
"""What an item waits for, instead of an entry: the answer to its request, or the dependencies that it named."""
SENDS, REQUESTS, HASHES, DEAD_COUNT = 3, 4, 5, 6
"""Places in `counts`, after those of the clock's kernel."""
ONE = np.uint64(1)


class Sends(NamedTuple):
    """SEND actions to be."""

    time_ps: NDArray[np.int64]
    node: NDArray[np.int32]
    packet: NDArray[np.int64]
    peer: NDArray[np.int32]
    size_bytes: NDArray[np.int32]


class Packets(NamedTuple):
    """Packets in flight: which message, which kind, from whom, and how many copies are still to come."""

    ring: NDArray[np.int32]
    free: NDArray[np.int32]
    slots: NDArray[np.int64]
    kind: NDArray[np.uint8]
    message: NDArray[np.int64]
    sender: NDArray[np.int32]
    copies: NDArray[np.int32]


class State(NamedTuple):
    """Everything else that the kernel reads and writes."""

    ring: NDArray[np.int32]
    free: NDArray[np.int32]
    slots: NDArray[np.int64]
    clock: NDArray[np.int32]
    f: NDArray[np.int32]
    hash_now: NDArray[np.uint64]
    lacks: NDArray[np.uint64]
    dep_now: NDArray[np.uint64]
    dep_count_now: NDArray[np.int32]
    recent_sender: NDArray[np.int32]
    recent_message: NDArray[np.int64]
    delivered: NDArray[np.int64]
    need: NDArray[np.int32]
    sender: NDArray[np.int32]
    id_of: NDArray[np.int64]
    copies: NDArray[np.int32]
    hash_at: NDArray[np.uint64]
    dep: NDArray[np.uint64]
    dep_count: NDArray[np.int32]
    dead: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    item_next: NDArray[np.int32]
    item_slot: NDArray[np.int32]
    item_entry: NDArray[np.int32]
    spare: NDArray[np.int32]
    counts: NDArray[np.int64]
    by_entry: NDArray[np.int32]
    candidate_entries: NDArray[np.int32]
    candidate_hash: NDArray[np.uint64]
    chosen: NDArray[np.bool_]


class Config(NamedTuple):
    """What does not change in a run."""

    reaction_ps: int
    app_bytes: int
    """Of an APP packet, besides its payload."""
    header_bytes: int
    id_bytes: int
    mask: np.uint64
    """Of the bits that a hash has."""
    limit: int
    retest: bool
    """Whether a message that was suspected is tested again after every delivery, until the answer comes."""


@numba.njit(cache=True)
def _send(s, packets, sends, kind, time_ps, p, peer, message, size_bytes, copies):
    """A packet leaves p; `time_ps` is when the send takes effect."""
    packet = packets.slots[NEXT]
    slot = take(packets.ring, packets.free, packets.slots)
    packets.kind[slot], packets.message[slot] = kind, message
    packets.sender[slot], packets.copies[slot] = p, copies
    row = s.counts[SENDS]
    sends.time_ps[row], sends.node[row], sends.packet[row] = time_ps, p, packet
    sends.peer[row], sends.size_bytes[row] = peer, size_bytes
    s.counts[SENDS] = row + 1


@numba.njit(cache=True)
def _remember(hash_now, recent_sender, recent_message, delivered, p, sender, message):
    """Adds to Deliv of p: its hash, and the newest deliveries themselves."""
    hash_now[p] += hash_of(message)
    place = delivered[p] & (recent_sender.shape[1] - 1)
    recent_sender[p, place] = sender
    recent_message[p, place] = message
    delivered[p] += 1


@numba.njit(cache=True)
def _broadcast(s, packets, out, sends, config, time_ps, p, size_bytes):
    """Algorithm 2, lines 1-7. A process delivers its own messages too (docs/deviations/hash.md)."""
    message = s.slots[NEXT]
    slot = take(s.ring, s.free, s.slots)
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    clock, need, lacks = s.clock, s.need, s.lacks
    for x in range(clock.shape[1]):
        need[slot, x] = clock[p, x]
    s.hash_at[slot] = s.hash_now[p]
    s.dep_count[slot] = s.dep_count_now[p]
    for w in range(s.dep.shape[1]):
        s.dep[slot, w] = s.dep_now[p, w]
        s.dep_now[p, w] = 0
    s.dep_now[p, word] = bit
    s.dep_count_now[p] = 1
    for q in range(len(lacks)):
        lacks[q, word] |= bit
    lacks[p, word] &= ~bit
    for x in s.f[p]:
        s.clock[p, x] += 1
    _remember(s.hash_now, s.recent_sender, s.recent_message, s.delivered, p, p, message)
    others = len(s.first) - 1
    s.sender[slot], s.id_of[slot], s.copies[slot] = p, message, others
    tell(out, s.counts, BROADCAST, time_ps, p, message)
    tell(out, s.counts, DELIVER, time_ps, p, message)
    size_bytes += config.app_bytes
    _send(s, packets, sends, APP, time_ps + config.reaction_ps, p, BROADCAST_PEER, message, size_bytes, others)
    if others == 0:
        _release(s, slot)


@numba.njit(cache=True)
def _release(s, slot):
    """Everybody has the message. Its slot is free once the sets are swept."""
    forget(s.ring, s.id_of[slot])
    s.dead[s.counts[DEAD_COUNT]] = slot
    s.counts[DEAD_COUNT] += 1


@numba.njit(cache=True)
def _error(s, config, p, slot):
    """Algorithm 3: true if no set of delivered messages has the hash of the dependencies."""
    found, hashes = find_dependencies(
        s.f, s.clock, s.need, s.recent_sender, s.recent_message, s.delivered[p], p, slot,
        s.hash_now[p] - s.hash_at[slot], config.mask, config.limit,
        s.by_entry, s.candidate_entries, s.candidate_hash, s.chosen,
    )  # fmt: skip
    s.counts[HASHES] += hashes
    return not found


@numba.njit(cache=True)
def _request(s, packets, out, sends, config, time_ps, p, slot):
    """Line 11: asks the sender for the dependencies. Until the answer is here the message stays in its slot."""
    s.copies[slot] += 1
    tell(out, s.counts, FLAGGED, time_ps, p, s.id_of[slot])
    s.counts[REQUESTS] += 1
    effect_ps = time_ps + config.reaction_ps
    _send(s, packets, sends, REQ, effect_ps, p, s.sender[slot], s.id_of[slot], config.header_bytes, 1)


@numba.njit(cache=True)
def _deliver(s, out, time_ps, p, slot):
    """handle(), lines 17-21."""
    message, sender = s.id_of[slot], s.sender[slot]
    word, bit = slot >> 6, ONE << np.uint64(slot & 63)
    for x in s.f[sender]:
        s.clock[p, x] += 1
    _remember(s.hash_now, s.recent_sender, s.recent_message, s.delivered, p, sender, message)
    s.lacks[p, word] &= ~bit
    s.dep_now[p, word] |= bit
    s.dep_count_now[p] += 1
    tell(out, s.counts, DELIVER, time_ps, p, message)
    s.copies[slot] -= 1
    if s.copies[slot] == 0:
        _release(s, slot)


@numba.njit(cache=True)
def _ready(s, packets, out, sends, config, time_ps, p, item):
    """Whether an item that waits at p can be delivered now. The first time that its clock allows it, it is tested."""
    slot, entry = s.item_slot[item], s.item_entry[item]
    if entry == ASKED:
        return config.retest and not _error(s, config, p, slot)
    if entry == ANSWERED:  # line 15
        lacking = np.uint64(0)
        for w in range(s.dep.shape[1]):
            lacking |= s.dep[slot, w] & s.lacks[p, w]
        return lacking == 0
    if s.clock[p, entry] < s.need[slot, entry]:
        return False
    s.item_entry[item] = entry = entry_lacking(s.clock, p, s.need, slot)
    if entry >= 0:
        return False
    if _error(s, config, p, slot):
        s.item_entry[item] = ASKED
        _request(s, packets, out, sends, config, time_ps, p, slot)
        return False
    return True


@numba.njit(cache=True)
def _look_again(s, packets, out, sends, config, time_ps, p):
    """After something changed at p: the first item that can be is delivered, then all are looked at again."""
    previous, item = END, s.first[p]
    while item != END:
        if _ready(s, packets, out, sends, config, time_ps, p, item):
            take_out(s, p, previous, item)
            _deliver(s, out, time_ps, p, s.item_slot[item])
            previous, item = END, s.first[p]
        else:
            previous, item = item, s.item_next[item]


@numba.njit(cache=True)
def _answer(s, packets, sends, config, time_ps, p, peer, message):
    """Line 14. The answer goes to the process that asked."""
    slot = slot_of(s.ring, s.slots, message)
    size_bytes = config.header_bytes + config.id_bytes * s.dep_count[slot]
    _send(s, packets, sends, RSP, time_ps + config.reaction_ps, p, peer, message, size_bytes, 1)


@numba.njit(cache=True)
def _answered(s, p, message):
    """The item of this message now waits for its dependencies (unless a later test let it pass)."""
    slot = slot_of(s.ring, s.slots, message)
    item = s.first[p]
    while item != END and s.item_slot[item] != slot:
        item = s.item_next[item]
    if item != END:
        s.item_entry[item] = ANSWERED
    s.copies[slot] -= 1
    if s.copies[slot] == 0:
        _release(s, slot)


@numba.njit(cache=True)
def _lost(s, packets, packet, node):
    """Copies that will never arrive; what depends on an APP that was lost waits for ever."""
    slot = slot_of(packets.ring, packets.slots, packet)
    gone = packets.copies[slot] if node < 0 else 1
    if packets.kind[slot] == APP:
        message = slot_of(s.ring, s.slots, packets.message[slot])
        s.copies[message] -= gone
        if s.copies[message] == 0:
            _release(s, message)
    _use_up(packets, packet, slot, gone)


@numba.njit(cache=True, inline="always")
def _use_up(packets, packet, slot, copies):
    packets.copies[slot] -= copies
    if packets.copies[slot] == 0:
        forget(packets.ring, packet)
        give_back(packets.free, packets.slots, slot)


@numba.njit(cache=True)
def _not_deliverable(s, packets, out, sends, config, time_ps, p, slot, entry):
    """An APP that lacks something in this entry (line 9), or that the detector suspects (lines 10-11)."""
    hold(s, p, slot, entry)
    if entry == ASKED:
        _request(s, packets, out, sends, config, time_ps, p, slot)
    else:
        tell(out, s.counts, HELD, time_ps, p, s.id_of[slot])


@numba.njit(cache=True)
def _handle_other(s, packets, out, sends, config, kind, time_ps, p, ref, arg):
    """Everything but the arrival of an APP."""
    if kind == K_BROADCAST:
        _broadcast(s, packets, out, sends, config, time_ps, p, arg)
        _look_again(s, packets, out, sends, config, time_ps, p)
    elif kind == K_LOST:
        _lost(s, packets, ref, p)
    elif kind == K_ARRIVAL:
        slot = slot_of(packets.ring, packets.slots, ref)
        what, message, sender = packets.kind[slot], packets.message[slot], packets.sender[slot]
        _use_up(packets, ref, slot, 1)
        if what == REQ:
            _answer(s, packets, sends, config, time_ps, p, sender, message)
        else:
            _answered(s, p, message)
            _look_again(s, packets, out, sends, config, time_ps, p)


@numba.njit(cache=True)
def handle(s, packets, out, sends, config, kind, time_ps, node, ref, arg):
    """Handles the events of one window; there must be room for all that they can cause."""
    # Taking an array out of a tuple costs an atomic reference count, and passing a tuple a copy of all of it: so the
    # hot path (an APP arrives, is tested, and is delivered) keeps its arrays in local names.
    ring, slots, clock, need, f, counts, copies = s.ring, s.slots, s.clock, s.need, s.f, s.counts, s.copies
    recent_sender, recent_message, delivered, senders, first = (
        s.recent_sender, s.recent_message, s.delivered, s.sender, s.first
    )  # fmt: skip
    hash_now, hash_at, lacks, dep_now, dep_count_now = s.hash_now, s.hash_at, s.lacks, s.dep_now, s.dep_count_now
    by_entry, entries, hashes, chosen = s.by_entry, s.candidate_entries, s.candidate_hash, s.chosen
    packet_ring, packet_slots, packet_kind, packet_message, packet_copies = (
        packets.ring, packets.slots, packets.kind, packets.message, packets.copies
    )  # fmt: skip
    mask, limit = config.mask, config.limit
    out_op, out_time, out_node, out_message = out.op, out.time_ps, out.node, out.message
    for i in range(len(kind)):
        p = node[i]
        packet = slot_of(packet_ring, packet_slots, ref[i]) if kind[i] == K_ARRIVAL else -1
        if packet < 0 or packet_kind[packet] != APP:
            _handle_other(s, packets, out, sends, config, kind[i], time_ps[i], p, ref[i], arg[i])
            continue
        message = packet_message[packet]
        slot = slot_of(ring, slots, message)
        packet_copies[packet] -= 1
        if packet_copies[packet] == 0:
            _use_up(packets, ref[i], packet, 0)
        lacking = np.int32(0)
        for x in range(clock.shape[1]):
            lacking |= clock[p, x] - need[slot, x]
        if lacking < 0:
            entry = entry_lacking(clock, p, need, slot)
        else:
            found, tried = find_dependencies(
                f, clock, need, recent_sender, recent_message, delivered[p], p, slot, hash_now[p] - hash_at[slot],
                mask, limit, by_entry, entries, hashes, chosen,
            )  # fmt: skip
            counts[HASHES] += tried
            entry = DELIVERABLE if found else ASKED
        if entry != DELIVERABLE:
            _not_deliverable(s, packets, out, sends, config, time_ps[i], p, slot, entry)
            continue
        sender = senders[slot]
        for j in range(f.shape[1]):
            clock[p, f[sender, j]] += 1
        _remember(hash_now, recent_sender, recent_message, delivered, p, sender, message)
        lacks[p, slot >> 6] &= ~(ONE << np.uint64(slot & 63))
        dep_now[p, slot >> 6] |= ONE << np.uint64(slot & 63)
        dep_count_now[p] += 1
        row = counts[ROWS]
        out_op[row], out_time[row], out_node[row], out_message[row] = DELIVER, time_ps[i], p, message
        counts[ROWS] = row + 1
        copies[slot] -= 1
        if copies[slot] == 0:
            _release(s, slot)
        if first[p] != END:
            _look_again(s, packets, out, sends, config, time_ps[i], p)


@numba.njit(cache=True)
def sweep(s):
    """Takes the messages that everybody has out of every set, and frees their slots."""
    words = s.dep.shape[1]
    keep = np.full(words, ~np.uint64(0))
    for i in range(s.counts[DEAD_COUNT]):
        slot = np.int64(s.dead[i])
        keep[slot >> 6] &= ~(ONE << np.uint64(slot & 63))
        give_back(s.free, s.slots, slot)
    s.counts[DEAD_COUNT] = 0
    for sets in (s.dep_now, s.dep):
        for i in range(sets.shape[0]):
            for w in range(words):
                sets[i, w] &= keep[w]
