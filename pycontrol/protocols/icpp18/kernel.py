"""The hot path of causal broadcast with aggregation (icpp18, Algorithm 2), event by event over arrays.

Message number q of node s has the slot q * nodes + s. A vector clock is then a bitset over slots: entry l of m.vc is v
exactly if the first v messages of l are in the set, so that "m'.vc[l] > vector_max[l] for some l" is one operation on a
word for 64 entries. `depends[m]` is m.vc (m included), `known[i]` vector_max, `delivered[i]` vector_clock.

The nodes l in whose trees k = i ^ 2**b is a child of i are those that agree with i in the lowest b + 1 bits, since the
path from a root changes differing bits from the highest down. Their messages are every 2**(b+1)-th slot.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocol import BROADCAST, DELIVER
from causeway.pycontrol.protocols.icpp18.state import Load
from causeway.pycontrol.state_arrays import compiled, inlined
from causeway.pycontrol.tape import K_ARRIVAL, K_BROADCAST, Here, report, send

ONE = np.uint64(1)
ZERO = np.uint64(0)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
SINGLE_ROOT = 0
"""The root of the tree that all messages share in the single-tree baseline."""

MESSAGE_CLASSES = 64
SIZE_CLASS_BYTES = 100


@inlined
def _has(bits, row, slot):
    return bits[row, slot >> 6] >> np.uint64(slot & 63) & ONE != ZERO


@inlined
def _add(bits, row, slot):
    bits[row, slot >> 6] |= ONE << np.uint64(slot & 63)


@inlined
def height_below(i, source, nodes, single_tree):
    """Return the height of the subtree of i in the tree of a source. The children of i are i ^ 2**b for b below it."""
    differ = i ^ (SINGLE_ROOT if single_tree else source)
    height = 0
    while (1 << height) < nodes and not (differ >> height) & 1:
        height += 1
    return height


@compiled
def _lacks(depends, m, known, i, b, single_tree):
    """Return whether i lacks a message of m.vc that it will have to send to i ^ 2**b (line 26, second condition)."""
    start, step, pattern = 0, 1, ALL
    if not single_tree and b + 1 <= 6:
        pattern = ZERO
        for bit in range(i & ((2 << b) - 1), 64, 2 << b):
            pattern |= ONE << np.uint64(bit)
    elif not single_tree:
        step = 1 << (b - 5)
        start = (i >> 6) & (step - 1)
        pattern = ONE << np.uint64(i & 63)
    for w in range(start, depends.shape[1], step):  # noqa: SIM110 (numba)
        if depends[m, w] & ~known[i, w] & pattern:
            return True
    return False


@compiled
def _emit(c, s, tape, here, k, load):
    """Send one packet to k."""
    i = here.node
    packet = s.next[0].packet
    s.next[0].packet += 1
    s.content[packet] = -1 - load.first
    due_ps = here.now_ps + c.reaction_ps + s.slow_ps[i]
    send(tape, due_ps, i, packet, k, load.size_bytes)
    start_ps = max(due_ps, s.cpu_free_ps[i])
    s.counts[0].queue_ps += start_ps - due_ps
    s.cpu_free_ps[i] = start_ps + c.send_ps
    s.counts[0].packets += 1
    s.counts[0].carried += load.messages
    s.counts[0].bytes += load.size_bytes
    s.counts[0].largest = max(s.counts[0].largest, load.messages)
    s.by_messages[min(load.messages, MESSAGE_CLASSES - 1)] += 1
    s.by_size[min((load.size_bytes - 1) // SIZE_CLASS_BYTES, len(s.by_size) - 1)] += 1
    if load.messages > 1:
        s.counts[0].aggregated += 1
        s.max_aggregated[i] = max(s.max_aggregated[i], load.messages)


@compiled
def _emit_one(c, s, tape, here, k, m):
    _emit(c, s, tape, here, k, Load(0, 1, c.header_bytes + s.size[m]))
    s.content[s.next[0].packet - 1] = m


@compiled
def _check_agg(c, s, tape, here, b, m):
    """SEND the result of CHECKAGG (line 23) in packets of at most the MTU. Return whether m itself was sent."""
    i = here.node
    k, child_mask = i ^ (1 << b), (2 << b) - 1
    first, count, size, sent_m = s.next[0].bundled, 0, c.header_bytes, False
    word, shift = m >> 6, np.uint64(m & 63)
    for at in range(s.waiting[i]):
        other = s.pending[i, at]
        if not c.single_tree and (other & (c.nodes - 1) ^ i) & child_mask:
            continue  # line 25: k is not a child of i in the tree of m'.s
        if not s.depends[other, word] >> shift & ONE or _lacks(s.depends, other, s.known, i, b, c.single_tree):
            continue
        if count > 0 and size + s.size[other] > c.mtu_bytes:
            s.counts[0].full += 1
            _send_bundle(c, s, tape, here, k, Load(first, count, size))
            first, count, size = s.next[0].bundled, 0, c.header_bytes
        s.bundles[first + count] = other
        count += 1
        size += s.size[other]
        sent_m = sent_m or other == m
    if count > 0:
        _send_bundle(c, s, tape, here, k, Load(first, count, size))
    return sent_m


@compiled
def _send_bundle(c, s, tape, here, k, load):
    if load.messages == 1:
        _emit_one(c, s, tape, here, k, s.bundles[load.first])
        return
    s.bundles[load.first + load.messages] = -1  # the end of the list
    s.next[0].bundled = load.first + load.messages + 1
    _emit(c, s, tape, here, k, load)


@compiled
def _deliver(c, s, tape, here, m):
    i = here.node
    _add(s.delivered, i, m)
    source = m & (c.nodes - 1)
    if not s.changed[i, source]:
        s.changed[i, source] = 1
        s.changes[i] += 1
    report(tape, DELIVER, here.now_ps, i, s.id_of[m])
    if len(s.kept) > 0:
        s.kept[i, m].delivered_ps = here.now_ps
    if source != i:
        latency_ps = here.now_ps - s.born_ps[m]
        s.counts[0].delivered += 1
        s.counts[0].delivery_ps += latency_ps
        s.counts[0].max_delivery_ps = max(s.counts[0].max_delivery_ps, latency_ps)


@compiled
def _broadcast(c, s, tape, here):
    """CO_BROADCAST a message (line 5)."""
    i = here.node
    m = s.sent[i] * c.nodes + i
    s.sent[i] += 1
    s.id_of[m] = s.next[0].message
    s.next[0].message += 1
    s.born_ps[m] = here.now_ps
    s.counts[0].messages += 1
    report(tape, BROADCAST, here.now_ps, i, s.id_of[m])
    _add(s.received, i, m)
    _add(s.known, i, m)
    s.vector_max[i, i] += 1
    for w in range(s.depends.shape[1]):
        s.depends[m, w] = s.delivered[i, w]
    _add(s.depends, m, m)
    s.entries[m] = s.changes[i] + 1
    s.size[m] = c.message_bytes + c.entry_bytes * s.entries[m]
    s.changed[i, :] = 0
    s.changes[i] = 0
    s.changed[i, i] = 1  # its own entry is in every clock that it sends
    _deliver(c, s, tape, here, m)
    if c.single_tree and i != SINGLE_ROOT:
        _emit_one(c, s, tape, here, SINGLE_ROOT, m)
        return
    for b in range(height_below(i, i, c.nodes, c.single_tree)):
        _emit_one(c, s, tape, here, i ^ (1 << b), m)


@compiled
def _receive(c, s, tape, here, m, company):
    """Receive one message of a packet with `company` messages (line 13)."""
    i = here.node
    source = m & (c.nodes - 1)
    height = height_below(i, source, c.nodes, c.single_tree)
    if source == i:  # only with a single tree: the node's own message on its way down
        for b in range(height):
            _emit_one(c, s, tape, here, i ^ (1 << b), m)
        return
    if _has(s.received, i, m):
        s.counts[0].duplicates += 1
        return
    latency_ps = here.now_ps - s.born_ps[m]
    s.counts[0].received += 1
    s.counts[0].reception_ps += latency_ps
    s.counts[0].max_reception_ps = max(s.counts[0].max_reception_ps, latency_ps)
    if len(s.kept) > 0:
        s.kept[i, m].company = company
        s.kept[i, m].came_ps = here.now_ps
    _add(s.received, i, m)
    at = s.waiting[i]
    s.pending[i, at] = m
    s.blocker[i, at] = 0
    s.waiting[i] += 1
    following = s.vector_max[i, source] * c.nodes + source
    while following < len(s.id_of) and _has(s.received, i, following):  # line 16
        _add(s.known, i, following)
        s.vector_max[i, source] += 1
        following += c.nodes
    for b in range(height):
        if not c.aggregate:
            _emit_one(c, s, tape, here, i ^ (1 << b), m)
        elif not _check_agg(c, s, tape, here, b, m):
            s.counts[0].postponed += 1
    _check_delivery(c, s, tape, here)


@compiled
def _count_held(s, i, packet):
    """Count the messages of a packet that must wait.

    All are received before, since they may depend on later ones in it.
    """
    if s.content[packet] >= 0:
        s.counts[0].held += not _has(s.delivered, i, np.int64(s.content[packet]))
    else:
        at = np.int64(-1 - s.content[packet])
        while s.bundles[at] >= 0:
            s.counts[0].held += not _has(s.delivered, i, np.int64(s.bundles[at]))
            at += 1
    s.max_waiting[i] = max(s.max_waiting[i], s.waiting[i])


@compiled
def _deliverable(s, i, at):
    """Return whether the dependencies of a pending message are delivered.

    The comparison starts at the word in which one was missing.
    """
    m = s.pending[i, at]
    own_word, own_bit = m >> 6, ONE << np.uint64(m & 63)
    for w in range(s.blocker[i, at], s.depends.shape[1]):
        missing = s.depends[m, w] & ~s.delivered[i, w]
        if w == own_word:
            missing &= ~own_bit
        if missing:
            s.blocker[i, at] = w
            return False
    return True


@compiled
def _check_delivery(c, s, tape, here):
    """Deliver pending messages until a whole pass delivers none: CHECKDELIVERY (line 29)."""
    i = here.node
    progress = True
    while progress:
        progress, kept = False, 0
        for at in range(s.waiting[i]):
            if _deliverable(s, i, at):
                _deliver(c, s, tape, here, s.pending[i, at])
                progress = True
                continue
            if kept != at:
                s.pending[i, kept] = s.pending[i, at]
                s.blocker[i, kept] = s.blocker[i, at]
            kept += 1
        s.waiting[i] = kept


@compiled
def _room_for(c, s, i, messages):
    """Return the maximum number of packets that one event can cause: each message is sent to each child once."""
    height = 1
    while (1 << height) < c.nodes:
        height += 1
    return (s.waiting[i] + messages + 1) * height


@compiled
def handle(c, s, tape, events, start):
    """Handle events from `start` on while there is room for one more. Return the row of the first event not handled."""
    for e in range(start, len(events.kind)):
        kind, packet = events.kind[e], events.ref[e]
        here = Here(np.int64(events.node[e]), events.time_ps[e])
        first, messages = np.int64(0), 1
        if kind == K_ARRIVAL and s.content[packet] < 0:
            first = np.int64(-1 - s.content[packet])
            while s.bundles[first + messages] >= 0:
                messages += 1
        room = _room_for(c, s, here.node, messages)
        if (
            tape.rows[0].acts + room > len(tape.kind)
            or tape.rows[0].reported + room + 2 > len(tape.op)
            or s.next[0].packet + room > len(s.content)
            or s.next[0].bundled + 3 * room > len(s.bundles)
        ):
            return e
        if kind == K_BROADCAST:
            _broadcast(c, s, tape, here)
        elif kind == K_ARRIVAL:
            if s.content[packet] >= 0:
                _receive(c, s, tape, here, np.int64(s.content[packet]), 1)
            else:
                for at in range(messages):
                    _receive(c, s, tape, here, np.int64(s.bundles[first + at]), messages)
            _count_held(s, here.node, packet)
    return len(events.kind)
