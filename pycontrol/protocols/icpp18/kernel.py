"""The hot path of causal broadcast with aggregation (icpp18, Algorithm 2), event by event over arrays.

A message is a slot: message number q of node s is slot q * nodes + s. A vector clock is then a bitset over slots: entry
l of m.vc is v exactly if the first v messages of l are in the set, so "m'.vc[l] > vector_max[l] for some l" is one word
operation for 64 entries. `depends[m]` is m.vc (m included), `known[i]` vector_max, `delivered[i]` vector_clock.

Which nodes l have k as a child of i in their tree is arithmetic, too: with k = i ^ 2**b they are those that agree with
i on the lowest b + 1 bits (the way down from a root clears differing bits from the highest down): every 2**(b+1)-th
slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocol import BROADCAST, DELIVER

ONE = np.uint64(1)
ZERO = np.uint64(0)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
SINGLE_ROOT = 0
"""The root of the one tree that all share in the single-tree baseline."""

(
    PACKETS, MESSAGES, CARRIED, RECEIVED, RECEPTION_PS, DELIVERED, DELIVERY_PS, AGGREGATED, POSTPONED, BYTES,
    DUPLICATES, LARGEST, MAX_RECEPTION_PS, MAX_DELIVERY_PS, FULL, HELD,
) = range(16)  # fmt: skip
COUNTS = 16
COMPANY, CAME_PS, DELIVERED_PS = KEPT = range(3)
"""Of a copy of a message: messages in the packet it came in, and when. (One array: with three fields more in `State`
calls cost three times as much.)"""
MESSAGE_CLASSES = 64
SIZE_CLASS_BYTES = 100


class Config(NamedTuple):
    """The parameters of a run."""

    reaction_ps: int
    aggregate: bool
    single_tree: bool
    message_bytes: int
    header_bytes: int
    entry_bytes: int
    mtu_bytes: int


class State(NamedTuple):
    """All nodes. Rows are nodes or slots; bitsets over slots are rows of words."""

    depends: NDArray[np.uint64]  # slot
    size: NDArray[np.int32]  # slot: bytes in a packet
    entries: NDArray[np.int32]  # slot: entries of the compressed vector clock
    id_of: NDArray[np.int64]  # slot
    born_ps: NDArray[np.int64]  # slot
    sent: NDArray[np.int32]  # node: messages it has broadcast
    received: NDArray[np.uint64]  # node
    known: NDArray[np.uint64]  # node: vector_max
    vector_max: NDArray[np.int32]  # node, node
    delivered: NDArray[np.uint64]  # node: vector_clock
    changed: NDArray[np.uint8]  # node, node: clock entries that changed since its last broadcast
    changes: NDArray[np.int32]  # node
    pending: NDArray[np.int32]  # node: slots received and not delivered, in order of arrival
    blocker: NDArray[np.int32]  # node: word of `depends` that still lacked something
    waiting: NDArray[np.int32]  # node: length of its row of `pending`
    max_waiting: NDArray[np.int32]  # node
    max_aggregated: NDArray[np.int32]  # node
    content: NDArray[np.int32]  # packet: slot, or -1 - offset into `bundles`
    counts: NDArray[np.int64]
    next: NDArray[np.int64]  # next packet, next message id, next free place in `bundles`
    by_messages: NDArray[np.int64]  # packets, by number of messages
    by_size: NDArray[np.int64]  # packets, by hundreds of bytes
    kept: NDArray[np.int64]  # node, slot: what KEPT says; no rows if nobody asks


class Out(NamedTuple):
    """What a stretch of events gave: sends, and what to tell the observers."""

    send_time: NDArray[np.int64]
    send_node: NDArray[np.int32]
    send_packet: NDArray[np.int64]
    send_peer: NDArray[np.int32]
    send_size: NDArray[np.int32]
    op: NDArray[np.uint8]
    op_time: NDArray[np.int64]
    op_node: NDArray[np.int32]
    op_message: NDArray[np.int64]
    rows: NDArray[np.int64]  # sends, observations


@numba.njit(cache=True, inline="always")
def _has(bits, row, slot):
    return bits[row, slot >> 6] >> np.uint64(slot & 63) & ONE != ZERO


@numba.njit(cache=True, inline="always")
def _add(bits, row, slot):
    bits[row, slot >> 6] |= ONE << np.uint64(slot & 63)


@numba.njit(cache=True, inline="always")
def height_below(i, source, nodes, single_tree):
    """The height of the subtree that i heads in the tree of a source: its children are i ^ 2**b for b below it."""
    differ = i ^ (SINGLE_ROOT if single_tree else source)
    height = 0
    while (1 << height) < nodes and not (differ >> height) & 1:
        height += 1
    return height


@numba.njit(cache=True)
def _lacks(depends, m, known, i, b, single_tree):
    """Whether i still misses something of m.vc that it will have to forward to i ^ 2**b (line 26, second condition)."""
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


@numba.njit(cache=True)
def _emit(c, s, out, i, k, first, count, size, now_ps):
    """Sends one packet; its messages are bundles[first : first + count]."""
    packet = s.next[0]
    s.next[0] += 1
    s.content[packet] = -1 - first
    row = out.rows[0]
    out.rows[0] += 1
    out.send_time[row] = now_ps + c.reaction_ps
    out.send_node[row] = i
    out.send_packet[row] = packet
    out.send_peer[row] = k
    out.send_size[row] = size
    s.counts[PACKETS] += 1
    s.counts[CARRIED] += count
    s.counts[BYTES] += size
    s.counts[LARGEST] = max(s.counts[LARGEST], count)
    s.by_messages[min(count, MESSAGE_CLASSES - 1)] += 1
    s.by_size[min((size - 1) // SIZE_CLASS_BYTES, len(s.by_size) - 1)] += 1
    if count > 1:
        s.counts[AGGREGATED] += 1
        s.max_aggregated[i] = max(s.max_aggregated[i], count)


@numba.njit(cache=True)
def _emit_one(c, s, out, i, k, m, now_ps):
    _emit(c, s, out, i, k, 0, 1, c.header_bytes + s.size[m], now_ps)
    s.content[s.next[0] - 1] = m


@numba.njit(cache=True)
def _check_agg(c, s, bundles, out, i, b, m, nodes, now_ps):
    """CHECKAGG (line 23) and the SEND of what it gives, in packets of at most the MTU. Whether m itself was sent."""
    k, child_mask = i ^ (1 << b), (2 << b) - 1
    first, count, size, sent_m = s.next[2], 0, c.header_bytes, False
    word, shift = m >> 6, np.uint64(m & 63)
    for at in range(s.waiting[i]):
        other = s.pending[i, at]
        if not c.single_tree and (other & (nodes - 1) ^ i) & child_mask:
            continue  # line 25: k is no child of i in the tree of m'.s
        if not s.depends[other, word] >> shift & ONE or _lacks(s.depends, other, s.known, i, b, c.single_tree):
            continue
        if count > 0 and size + s.size[other] > c.mtu_bytes:
            s.counts[FULL] += 1
            _send_bundle(c, s, bundles, out, i, k, first, count, size, now_ps)
            first, count, size = s.next[2], 0, c.header_bytes
        bundles[first + count] = other
        count += 1
        size += s.size[other]
        sent_m = sent_m or other == m
    if count > 0:
        _send_bundle(c, s, bundles, out, i, k, first, count, size, now_ps)
    return sent_m


@numba.njit(cache=True)
def _send_bundle(c, s, bundles, out, i, k, first, count, size, now_ps):
    if count == 1:
        _emit_one(c, s, out, i, k, bundles[first], now_ps)
        return
    bundles[first + count] = -1  # the end
    s.next[2] = first + count + 1
    _emit(c, s, out, i, k, first, count, size, now_ps)


@numba.njit(cache=True)
def _tell(s, out, op, i, m, now_ps):
    row = out.rows[1]
    out.rows[1] += 1
    out.op[row] = op
    out.op_time[row] = now_ps
    out.op_node[row] = i
    out.op_message[row] = s.id_of[m]


@numba.njit(cache=True)
def _deliver(s, out, i, m, nodes, now_ps):
    _add(s.delivered, i, m)
    source = m & (nodes - 1)
    if not s.changed[i, source]:
        s.changed[i, source] = 1
        s.changes[i] += 1
    _tell(s, out, DELIVER, i, m, now_ps)
    if len(s.kept) > 0:
        s.kept[i, m, DELIVERED_PS] = now_ps
    if source != i:
        latency_ps = now_ps - s.born_ps[m]
        s.counts[DELIVERED] += 1
        s.counts[DELIVERY_PS] += latency_ps
        s.counts[MAX_DELIVERY_PS] = max(s.counts[MAX_DELIVERY_PS], latency_ps)


@numba.njit(cache=True)
def _broadcast(c, s, out, i, nodes, now_ps):
    """CO_BROADCAST (line 5)."""
    m = s.sent[i] * nodes + i
    s.sent[i] += 1
    s.id_of[m] = s.next[1]
    s.next[1] += 1
    s.born_ps[m] = now_ps
    s.counts[MESSAGES] += 1
    _tell(s, out, BROADCAST, i, m, now_ps)
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
    s.changed[i, i] = 1  # its own entry is in every clock it sends
    _deliver(s, out, i, m, nodes, now_ps)
    if c.single_tree and i != SINGLE_ROOT:
        _emit_one(c, s, out, i, SINGLE_ROOT, m, now_ps)
        return
    for b in range(height_below(i, i, nodes, c.single_tree)):
        _emit_one(c, s, out, i, i ^ (1 << b), m, now_ps)


@numba.njit(cache=True)
def _receive(c, s, bundles, out, i, m, company, nodes, now_ps):
    """One message of a received set of `company` (line 13)."""
    source = m & (nodes - 1)
    height = height_below(i, source, nodes, c.single_tree)
    if source == i:  # single tree only: its own message comes by on its way down
        for b in range(height):
            _emit_one(c, s, out, i, i ^ (1 << b), m, now_ps)
        return
    if _has(s.received, i, m):
        s.counts[DUPLICATES] += 1
        return
    latency_ps = now_ps - s.born_ps[m]
    s.counts[RECEIVED] += 1
    s.counts[RECEPTION_PS] += latency_ps
    s.counts[MAX_RECEPTION_PS] = max(s.counts[MAX_RECEPTION_PS], latency_ps)
    if len(s.kept) > 0:
        s.kept[i, m, COMPANY] = company
        s.kept[i, m, CAME_PS] = now_ps
    _add(s.received, i, m)
    at = s.waiting[i]
    s.pending[i, at] = m
    s.blocker[i, at] = 0
    s.waiting[i] += 1
    following = s.vector_max[i, source] * nodes + source
    while following < len(s.id_of) and _has(s.received, i, following):  # line 16
        _add(s.known, i, following)
        s.vector_max[i, source] += 1
        following += nodes
    for b in range(height):
        if not c.aggregate:
            _emit_one(c, s, out, i, i ^ (1 << b), m, now_ps)
        elif not _check_agg(c, s, bundles, out, i, b, m, nodes, now_ps):
            s.counts[POSTPONED] += 1
    _check_delivery(s, out, i, nodes, now_ps)


@numba.njit(cache=True)
def _count_held(s, bundles, i, packet):
    """After a whole packet: what of it must wait. Inside a set a message may come before what it depends on."""
    if s.content[packet] >= 0:
        s.counts[HELD] += not _has(s.delivered, i, np.int64(s.content[packet]))
    else:
        at = np.int64(-1 - s.content[packet])
        while bundles[at] >= 0:
            s.counts[HELD] += not _has(s.delivered, i, np.int64(bundles[at]))
            at += 1
    s.max_waiting[i] = max(s.max_waiting[i], s.waiting[i])


@numba.njit(cache=True)
def _deliverable(s, i, at):
    """Whether all that the message depends on has been delivered; looks first where something was missing last time."""
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


@numba.njit(cache=True)
def _check_delivery(s, out, i, nodes, now_ps):
    """CHECKDELIVERY (line 29): until a whole pass delivers nothing."""
    progress = True
    while progress:
        progress, kept = False, 0
        for at in range(s.waiting[i]):
            if _deliverable(s, i, at):
                _deliver(s, out, i, s.pending[i, at], nodes, now_ps)
                progress = True
                continue
            if kept != at:
                s.pending[i, kept] = s.pending[i, at]
                s.blocker[i, kept] = s.blocker[i, at]
            kept += 1
        s.waiting[i] = kept


@numba.njit(cache=True)
def handle(c, s, bundles, out, start, kind, time, node, ref, nodes, arrival, broadcast):
    """Handles events from `start` on while there is room for what one event can give; how many it has handled."""
    height = 1
    while (1 << height) < nodes:
        height += 1
    for e in range(start, len(kind)):
        i, now_ps, packet, messages = np.int64(node[e]), time[e], ref[e], 1
        if kind[e] == arrival and s.content[packet] < 0:
            first = np.int64(-1 - s.content[packet])
            while bundles[first + messages] >= 0:
                messages += 1
        room = (s.waiting[i] + messages + 1) * height  # a message goes to a child once
        if (
            out.rows[0] + room > len(out.send_time)
            or out.rows[1] + room + 2 > len(out.op)
            or s.next[0] + room > len(s.content)
            or s.next[2] + 3 * room > len(bundles)
        ):
            return e
        if kind[e] == broadcast:
            _broadcast(c, s, out, i, nodes, now_ps)
        elif kind[e] == arrival:
            if s.content[packet] >= 0:
                _receive(c, s, bundles, out, i, np.int64(s.content[packet]), 1, nodes, now_ps)
            else:
                for at in range(messages):
                    _receive(c, s, bundles, out, i, np.int64(bundles[first + at]), messages, nodes, now_ps)
            _count_held(s, bundles, i, packet)
    return len(kind)
