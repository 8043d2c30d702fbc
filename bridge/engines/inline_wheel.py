"""The inline engine's kernels: a time wheel of arrays and the abstract network's rules.

An event lives in a row of the pool; rows of one stretch of time (a slot) are chained. A slot is taken out whole,
sorted in canonical order (the batch), and handed out event by event. What is put into a slot that has been taken out
already goes to a heap beside the batch, however much of it there is. Slots of later turns of the wheel share a chain
and are told apart by their time. Nothing here allocates per event; a kernel that runs out of room returns and is
called again with more.

Internal kinds follow the public ones in canonical order: at one instant, what the controller sees comes first.
"""

from __future__ import annotations

import numba
import numpy as np

from causeway.bridge.events import BROADCAST_PEER, Kind
from causeway.bridge.random import STREAM_DELAY, STREAM_LOSS, draw_ps, draw_unit
from causeway.bridge.schema import constant, pb
from causeway.bridge.workload import NEVER, next_broadcast

K_NODE, K_ARRIVAL, K_LOST, K_TIMER, K_BROADCAST = (
    int(k) for k in (Kind.NODE, Kind.ARRIVAL, Kind.LOST, Kind.TIMER, Kind.BROADCAST)
)
K_SEND = int(max(Kind)) + 1
"""A SEND takes effect."""
K_LEAVE = K_SEND + 1
"""A packet leaves its sender (only on networks with failures; else the copies are made at once)."""
K_REACH = K_SEND + 2
"""A copy reaches its receiver's CPU (only on networks where that takes time)."""

KIND_BITS, NODE_BITS = 4, 20
"""Of a key that many events are sorted by."""
KIND_SHIFT, TIME_SHIFT = np.int64(NODE_BITS), np.int64(KIND_BITS + NODE_BITS)
assert K_REACH < 1 << KIND_BITS and constant("MOST_NODES") <= 1 << NODE_BITS

MIN_DELAY_PS = constant("MIN_DELAY_PS")
TROUBLE_CUT, TROUBLE_PARTITION = int(pb.Trouble.CUT), int(pb.Trouble.PARTITION)
FAR_SIDE = 2
"""Of nodes that are on no side of a partition: with it, no two sides add up to 1."""

# The engine's scalars, in one int64 array so that kernels can change them.
(
    EPOCH, POS, BATCH, FREE, FREE_ROWS, LIVE, NEXT_TIME, NEXT_NODE, NEXT_INDEX, DIRTY, EVENTS, NOW, OUT, ACTIVE,
    HORIZON, LAST, MORE_BATCH, HEAP,
) = range(18)  # fmt: skip
SCALARS = 18

WINDOW_FULL, WINDOW_END, NEEDS_ROWS, NEEDS_BATCH, NEEDS_OUT = range(5)
"""What `collect` came back for."""

POOL = np.dtype(
    [("time", "i8"), ("ref", "i8"), ("extra", "i8"), ("node", "i4"), ("arg", "i4"), ("next", "i4"), ("kind", "i4")]
)
"""A pooled event. extra: peer << 32 | size (K_SEND), peer << 32 | how often the sender had failed (K_LEAVE)."""


@numba.njit(cache=True)
def put(s, pool, queues, width_ps, time, kind, node, ref, arg, extra):
    """Puts an event on the wheel. The caller has made sure that there is a free row."""
    heads, heap = queues
    row = s[FREE]
    s[FREE] = pool[row].next
    s[FREE_ROWS] -= 1
    s[LIVE] += 1
    epoch = time // width_ps
    slot = epoch & (len(heads) - 1)
    pool[row].time, pool[row].kind, pool[row].node = time, kind, node
    pool[row].ref, pool[row].arg, pool[row].extra = ref, arg, extra
    if epoch == s[EPOCH] and not s[DIRTY]:
        _push(s, pool, heap, row)
        return
    pool[row].next = heads[slot]
    heads[slot] = row


@numba.njit(cache=True)
def _push(s, pool, heap, row):
    """Adds a row to the heap, which has room for all rows."""
    at = s[HEAP]
    s[HEAP] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _earlier(pool, row, pool, heap[parent]):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = row


@numba.njit(cache=True)
def _pop(s, pool, heap):
    """Takes the first row in canonical order out of the heap."""
    first = heap[0]
    s[HEAP] -= 1
    row, rows, at = heap[s[HEAP]], s[HEAP], 0
    while 2 * at + 1 < rows:
        child = 2 * at + 1
        if child + 1 < rows and _earlier(pool, heap[child + 1], pool, heap[child]):
            child += 1
        if not _earlier(pool, heap[child], pool, row):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = row
    return first


@numba.njit(cache=True)
def _earlier(some, a, others, b):
    """Canonical order of two events."""
    if some[a].time != others[b].time:
        return some[a].time < others[b].time
    if some[a].kind != others[b].kind:
        return some[a].kind < others[b].kind
    if some[a].node != others[b].node:
        return some[a].node < others[b].node
    return some[a].ref < others[b].ref


@numba.njit(cache=True)
def _before(batch, a, b):
    """Canonical order of two events of one instant."""
    if batch[a].kind != batch[b].kind:
        return batch[a].kind < batch[b].kind
    if batch[a].node != batch[b].node:
        return batch[a].node < batch[b].node
    return batch[a].ref < batch[b].ref


@numba.njit(cache=True)
def _sort(batch, first, n, spare):
    """Sorts batch[first:n] in canonical order: insertion for few, two stable passes for many."""
    rows = n - first
    keys = np.empty(rows, np.int64)
    if rows <= 40:
        places = np.empty(rows, np.int64)
        for i in range(rows):
            j, time = i, batch[first + i].time
            while j > 0 and (
                time < keys[j - 1] or (time == keys[j - 1] and _before(batch, first + i, first + places[j - 1]))
            ):
                keys[j], places[j] = keys[j - 1], places[j - 1]
                j -= 1
            keys[j], places[j] = time, i
        for i in range(rows):
            spare[i] = batch[first + places[i]]
        batch[first:n] = spare[:rows]
        return
    start = batch[first].time
    for i in range(rows):
        start = min(start, batch[first + i].time)
        keys[i] = batch[first + i].ref
    by_ref = np.argsort(keys, kind="mergesort")
    for i in range(rows):
        e = batch[first + by_ref[i]]
        keys[i] = ((e.time - start) << TIME_SHIFT) | (np.int64(e.kind) << KIND_SHIFT) | np.int64(e.node)
    order = np.argsort(keys, kind="mergesort")
    for i in range(rows):
        spare[i] = batch[first + by_ref[order[i]]]
    batch[first:n] = spare[:rows]


@numba.njit(cache=True)
def _gather(s, pool, heads, width_ps, batch, spare):
    """Takes the events of the current slot out of the wheel into the batch; False if the batch is too small.

    The batch begins at 1: the place before its next event is for one out of the heap.
    """
    slot = s[EPOCH] & (len(heads) - 1)
    count = 1
    row = heads[slot]
    while row >= 0:
        count += 1
        row = pool[row].next
    if count > len(batch):
        s[MORE_BATCH] = count
        return False
    n = 1
    keep = -1
    row = heads[slot]
    while row >= 0:
        following = pool[row].next
        if pool[row].time // width_ps == s[EPOCH]:
            batch[n] = pool[row]
            n += 1
            _free(s, pool, row)
        else:
            pool[row].next = keep
            keep = row
        row = following
    heads[slot] = keep
    s[POS], s[BATCH], s[DIRTY] = 1, n, 0
    _sort(batch, 1, n, spare)
    return True


@numba.njit(cache=True)
def _free(s, pool, row):
    pool[row].next = s[FREE]
    s[FREE] = row
    s[FREE_ROWS] += 1


@numba.njit(cache=True)
def _take_from_heap(s, pool, heap, batch):
    """Puts the first event of the heap before the batch's next one, if it is earlier."""
    if s[POS] < s[BATCH] and not _earlier(pool, heap[0], batch, s[POS]):
        return
    if s[POS] == 0:  # one out of the heap is there already: an answer came in between, with something earlier
        row = s[FREE]
        s[FREE] = pool[row].next
        s[FREE_ROWS] -= 1
        pool[row] = batch[0]
        _push(s, pool, heap, row)
        s[POS] = 1
    row = _pop(s, pool, heap)
    s[POS] -= 1
    batch[s[POS]] = pool[row]
    _free(s, pool, row)


@numba.njit(cache=True)
def _copies(s, pool, queues, width_ps, net, seed, air, recv_ps, now, node, packet, peer, interface):
    """A packet leaves: one copy per receiver goes on its way."""
    table, loss, trouble = air
    first, last = (0, net) if peer == BROADCAST_PEER else (peer, peer + 1)
    troubled = _is_troubled(trouble, now)
    for receiver in range(first, last):
        if receiver == node and peer == BROADCAST_PEER:
            continue
        delay = draw_ps(table, seed, STREAM_DELAY, packet, receiver)
        reach = now + max(np.int64(MIN_DELAY_PS), delay)
        kind = K_REACH if recv_ps > 0 else K_ARRIVAL
        if loss > 0.0 and draw_unit(seed, STREAM_LOSS, packet, receiver) < loss:
            kind = K_LOST
        if troubled and _is_cut(trouble, now, node, receiver):
            kind = K_LOST
        put(s, pool, queues, width_ps, reach, kind, receiver, packet, interface, 0)


@numba.njit(cache=True)
def _is_troubled(trouble, now):
    """Whether any trouble is on."""
    _, from_ps, to_ps, _, _, _ = trouble
    for row in range(len(from_ps)):  # noqa: SIM110 (numba)
        if from_ps[row] <= now < to_ps[row]:
            return True
    return False


@numba.njit(cache=True)
def _is_cut(trouble, now, a, b):
    """Whether a cut or a partition is between two nodes; the twin of `cut` in bridge/cpp/trouble.h."""
    kind, from_ps, to_ps, one, other, side = trouble
    for row in range(len(kind)):
        if now < from_ps[row] or now >= to_ps[row]:
            continue
        if kind[row] == TROUBLE_CUT and ((one[row] == a and other[row] == b) or (one[row] == b and other[row] == a)):
            return True
        if kind[row] == TROUBLE_PARTITION and side[row, a] + side[row, b] == 1:
            return True
    return False


@numba.njit(cache=True)
def _advance(s, heads, pool, width_ps, limit):
    """Moves to the next slot that may hold something; False if that is at or after `limit` (a time)."""
    while True:
        s[EPOCH] += 1
        start = s[EPOCH] * width_ps
        if start >= limit:
            s[EPOCH] -= 1
            return False
        if heads[s[EPOCH] & (len(heads) - 1)] >= 0 or (s[NEXT_TIME] < start + width_ps):
            return True


@numba.njit(cache=True)
def _feed_workload(s, pool, queues, width_ps, seed, first, nodes, messages, tables, script):
    """Puts the broadcasts that fall into the current slot on the wheel. The caller has left enough free rows."""
    start_ps, mean_ns, hot_share, hot_nodes, exponential = tables
    script_time, script_node, script_size, size = script
    end = (s[EPOCH] + 1) * width_ps
    while s[NEXT_TIME] < end and s[FREE_ROWS] > 0:
        i = s[NEXT_INDEX]
        arg = script_size[i] if len(script_time) > 0 else size
        put(s, pool, queues, width_ps, s[NEXT_TIME], K_BROADCAST, s[NEXT_NODE], i, arg, 0)
        i += 1
        s[NEXT_INDEX] = i
        if len(script_time) > 0:
            s[NEXT_TIME] = script_time[i] if i < len(script_time) else NEVER
            s[NEXT_NODE] = script_node[i] if i < len(script_time) else 0
        elif messages > 0 and i >= messages:
            s[NEXT_TIME] = NEVER
        else:
            s[NEXT_TIME], s[NEXT_NODE] = next_broadcast(
                seed, i, s[NEXT_TIME], first, nodes, start_ps, mean_ns, hot_share, hot_nodes, exponential
            )
    return s[NEXT_TIME] >= end


@numba.njit(cache=True)
def _internal(s, pool, queues, width_ps, e, net, seed, air, cpu, state):
    """Handles an event that the controller does not see."""
    send_ps, send_ps_per_byte, recv_ps, faulty = cpu
    send_free, recv_free, down, failures = state
    now, node = e.time, e.node
    if e.kind == K_SEND:
        if down[node]:
            return
        size = e.extra & 0xFFFFFFFF
        leave = max(now, send_free[node]) + send_ps + send_ps_per_byte * size
        send_free[node] = leave
        peer = e.extra >> 32
        if faulty:
            extra = (peer << 32) | (failures[node] & 0xFFFFFFFF)
            put(s, pool, queues, width_ps, leave, K_LEAVE, node, e.ref, e.arg, extra)
        else:
            _copies(s, pool, queues, width_ps, net, seed, air, recv_ps, leave, node, e.ref, peer, e.arg)
    elif e.kind == K_LEAVE:
        if (e.extra & 0xFFFFFFFF) == failures[node]:
            peer = e.extra >> 32
            _copies(s, pool, queues, width_ps, net, seed, air, recv_ps, now, node, e.ref, peer, e.arg)
    else:  # K_REACH
        done = max(now, recv_free[node]) + recv_ps
        recv_free[node] = done
        put(s, pool, queues, width_ps, done, K_ARRIVAL, node, e.ref, e.arg, 0)


@numba.njit(cache=True)
def _visible(e, down, failures, cancelled):
    """Whether the controller gets to see an event (and what a NODE event does to the node)."""
    if e.kind == K_NODE:
        if (e.arg == 0) == (down[e.node] == 1):
            return False
        down[e.node] = 1 - e.arg
        if e.arg == 0:
            failures[e.node] += 1
        return True
    if down[e.node]:
        return False
    if e.kind == K_TIMER and e.ref in cancelled:
        effect = cancelled.pop(e.ref)
        return e.time < effect
    return True


@numba.njit(cache=True)
def collect(s, pool, queues, width_ps, batch, spare, out, limits, net, seed, air, cpu, state, cancelled, work):
    """Fills `out` with the events of the next window; returns why it stopped (see WINDOW_FULL ...).

    It can be called again after NEEDS_*: all its state is in the arrays.
    """
    reaction_ps, cap, passive, duration_ps, passive_cap = limits
    first, nodes, messages, tables, script = work
    _, _, down, failures = state
    heads, heap = queues
    while True:
        if s[FREE_ROWS] < net + 2:
            return NEEDS_ROWS
        if s[DIRTY] and not _gather(s, pool, heads, width_ps, batch, spare):
            return NEEDS_BATCH
        if s[HEAP] > 0:
            _take_from_heap(s, pool, heap, batch)
        if s[POS] >= s[BATCH]:
            limit = s[HORIZON] if s[ACTIVE] else duration_ps
            if s[LIVE] == 0 and s[NEXT_TIME] == NEVER:
                return WINDOW_END
            if not _advance(s, heads, pool, width_ps, limit):
                if s[ACTIVE]:
                    return WINDOW_FULL
                return WINDOW_END
            s[DIRTY] = 1
            if not _feed_workload(s, pool, queues, width_ps, seed, first, nodes, messages, tables, script):
                s[EPOCH] -= 1  # out of rows in the middle of a slot: come back to it and feed the rest
                return NEEDS_ROWS
            continue
        # A record in a variable costs atomic reference counts; on the hot path its fields are read where they are.
        i = s[POS]
        time, kind = batch[i].time, batch[i].kind
        if time >= duration_ps:
            return WINDOW_END
        if s[ACTIVE] and time >= s[HORIZON]:
            return WINDOW_FULL
        full = cap if cap > 0 else (np.int64(1) << 62 if s[ACTIVE] else passive_cap)
        if s[OUT] >= full and time > s[LAST]:
            s[HORIZON] = time
            return WINDOW_FULL
        if s[OUT] >= len(out):
            return NEEDS_OUT
        s[POS] += 1
        s[LIVE] -= 1
        s[EVENTS] += 1
        s[NOW] = time
        if kind >= K_SEND:
            _internal(s, pool, queues, width_ps, batch[i], net, seed, air, cpu, state)
        elif (kind == K_ARRIVAL and not down[batch[i].node]) or _visible(batch[i], down, failures, cancelled):
            out[s[OUT]] = batch[i]
            s[OUT] += 1
            s[LAST] = time
            if not s[ACTIVE] and not (passive >> kind) & 1:
                s[ACTIVE] = 1
                s[HORIZON] = time + reaction_ps
