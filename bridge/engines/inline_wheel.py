"""The inline engine's kernels: a time wheel of arrays and the abstract network's rules. Start at `collect`.

An event is a row of the pool; rows of one stretch of time (a slot) are chained. A slot is taken out as a whole, sorted
in canonical order (the batch), and handed out event by event. Events for a slot that has been taken out already go to a
heap beside the batch, however many they are. The slots of the wheel are those of its current turn. Events of a later
turn wait in a chain of that turn and are put into its slots when the turn begins, so that an event is touched a few
times, however many others are in flight. Nothing here allocates per event; a kernel that runs out of room returns and
is called again with more.

Internal kinds follow the public ones in canonical order: at one instant, events that the controller sees come first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.engines.inline_faults import FaultRows, is_fault_on, is_link_down
from causeway.bridge.engines.inline_links import NO_LINK_PS, NO_ROOM, LinkRows, is_lost_on_link, link_ps
from causeway.bridge.engines.inline_order import earlier, sort
from causeway.bridge.events import BROADCAST_PEER, Kind
from causeway.network.random import STREAM_DELAY, STREAM_LOSS, draw_ps, draw_unit
from causeway.network.workload import NEVER, WorkloadTables, next_broadcast
from causeway.proto.contract import constant
from causeway.toolchain.jit import compiled

K_NODE, K_ARRIVAL, K_LOST, K_TIMER, K_BROADCAST = (
    int(k) for k in (Kind.NODE, Kind.ARRIVAL, Kind.LOST, Kind.TIMER, Kind.BROADCAST)
)
K_SEND = int(max(Kind)) + 1
"""A SEND takes effect."""
K_LEAVE = K_SEND + 1
"""A packet leaves its sender (only on networks with failures or bandwidths; else the copies are made at once)."""
K_REACH = K_SEND + 2
"""A copy reaches its receiver's CPU (only on networks where that takes time)."""

NOTHING = -1  # marks a free place in the table of cancelled timers
MIN_DELAY_PS = constant("MIN_DELAY_PS")
SPREAD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
"""Multiplying by the golden ratio spreads consecutive numbers over a hash table."""

WINDOW_FULL, WINDOW_END, NEEDS_ROWS, NEEDS_BATCH, NEEDS_OUT = range(5)
"""The reasons for which `collect` returns: a window is complete, or an array needs more room."""

POOL = np.dtype(
    [("time", "i8"), ("ref", "i8"), ("extra", "i8"), ("node", "i4"), ("arg", "i4"), ("next", "i4"), ("kind", "i4")]
)
"""A pooled event. extra: peer << 43 | size (K_SEND, K_LEAVE) | the sender's number of failures << 31 (K_LEAVE)."""
SIZE_BITS, FAILURE_BITS = 31, 12
"""The number of failures is counted modulo 2^12: nobody fails so often while a packet waits for its CPU."""
SIZE, FAILURES = (1 << SIZE_BITS) - 1, (1 << FAILURE_BITS) - 1

AT = np.dtype([
    ("epoch", "i8"),  # the slot that is being handed out, counted from the beginning of the run
    ("turn", "i8"),  # the turn of the slots
    ("in_slots", "i8"),  # the number of rows in slots
    ("touched", "i8"),  # the number of times that a row was taken out of a chain so far
    ("dirty", "i8"),  # 1: the slot `epoch` is still to be taken out
    ("next", "i8"), ("batch", "i8"),  # the next event of the batch; the end of the batch
    ("heap", "i8"), ("live", "i8"),  # the number of rows in the heap; the number of events that are still to come
    ("free", "i8"), ("free_rows", "i8"),  # the first free row of the pool; the number of free rows
    ("more_batch", "i8"),  # the length that the batch must have (NEEDS_BATCH)
    ("broadcast_ps", "i8"), ("broadcast_node", "i8"), ("broadcast", "i8"),  # the workload's next broadcast
    ("now", "i8"), ("events", "i8"),
    ("out", "i8"),  # the number of events in the window
    ("active", "i8"), ("horizon", "i8"),  # 1: the window wants a reply; the end of such a window
    ("last", "i8"),  # the time of the window's last event
    ("faulty", "i8"),  # 1: nodes may go down, or packets may meet a link failure or partition when they leave
    ("cancelled", "i8"),  # the number of occupied places in the table of cancelled timers
])  # fmt: skip
"""The state of the wheel, besides its arrays."""


class Rules(NamedTuple):
    """The settings of a run, constant for all of it."""

    nodes: int
    seed: int
    width_ps: int
    """The width of a slot."""
    reaction_ps: int
    duration_ps: int
    cap: int
    passive_cap: int
    passive_kinds: int
    delay_quantiles_ns: NDArray[np.float64]
    loss: float
    send_ps: int
    send_ps_per_byte: int
    recv_ps: int
    network_faults: FaultRows
    links: LinkRows


class Load(NamedTuple):
    """The workload: a script, or else the segments in the tables."""

    tables: WorkloadTables
    messages: int
    size_bytes: int
    script_ps: NDArray[np.int64]
    script_node: NDArray[np.int32]
    script_size: NDArray[np.int32]


class Wheel(NamedTuple):
    """The arrays that change.

    `send_free`, `recv_free`, `down` and `failures` have one row for each node: the time at which it can send or receive
    next, whether it is down, and how often it failed.
    """

    at: NDArray[np.void]
    pool: NDArray[np.void]
    heads: NDArray[np.int32]
    """The first row of each slot's chain."""
    turns: NDArray[np.int32]
    """The first row of each later turn's chain. Turns many turns apart share a chain; the times of its rows differ."""
    heap: NDArray[np.int32]
    batch: NDArray[np.void]
    spare: NDArray[np.void]
    places: NDArray[np.int64]
    more_places: NDArray[np.int64]
    out: NDArray[np.void]
    send_free: NDArray[np.int64]
    recv_free: NDArray[np.int64]
    down: NDArray[np.uint8]
    failures: NDArray[np.int64]
    cancelled: NDArray[np.int64]
    """A hash table of cancelled timers; free places contain NOTHING. `cancelled_ps` has the time from which each timer
    is cancelled. It becomes NEVER when the time of the timer comes."""
    cancelled_ps: NDArray[np.int64]


@compiled
def put(w, width_ps, time, kind, node, ref, arg, extra):
    """Put an event on the wheel. The caller has made sure that a row is free."""
    pool, at = w.pool, w.at
    row = _row(w)
    at[0].live += 1
    epoch = time // width_ps
    pool[row].time, pool[row].kind, pool[row].node = time, kind, node
    pool[row].ref, pool[row].arg, pool[row].extra = ref, arg, extra
    if epoch == at[0].epoch and not at[0].dirty:
        _push(w, row)
        return
    if epoch // len(w.heads) == at[0].turn:
        _put_into_slot(w, row, epoch)
    else:
        place = epoch // len(w.heads) & (len(w.turns) - 1)
        pool[row].next = w.turns[place]
        w.turns[place] = row


@compiled
def _put_into_slot(w, row, epoch):
    """Add a row of the current turn to the chain of its slot."""
    slot = epoch & (len(w.heads) - 1)
    w.pool[row].next = w.heads[slot]
    w.heads[slot] = row
    w.at[0].in_slots += 1


@compiled
def _begin_turn(w, width_ps, turn):
    """Put the rows that waited for this turn into its slots, which are empty."""
    pool, at = w.pool, w.at
    place = turn & (len(w.turns) - 1)
    row, later = w.turns[place], np.int32(-1)
    while row >= 0:
        following = pool[row].next
        at[0].touched += 1
        epoch = pool[row].time // width_ps
        if epoch // len(w.heads) == turn:
            _put_into_slot(w, row, epoch)
        else:
            pool[row].next = later
            later = row
        row = following
    w.turns[place] = later
    at[0].turn = turn


@compiled
def _row(w):
    row = w.at[0].free
    w.at[0].free = w.pool[row].next
    w.at[0].free_rows -= 1
    return row


@compiled
def _free(w, row):
    w.pool[row].next = w.at[0].free
    w.at[0].free = row
    w.at[0].free_rows += 1


@compiled
def _push(w, row):
    """Add a row to the heap, which has room for all rows."""
    pool, heap = w.pool, w.heap
    here = w.at[0].heap
    w.at[0].heap += 1
    while here > 0:
        parent = (here - 1) >> 1
        if not earlier(pool, row, pool, heap[parent]):
            break
        heap[here] = heap[parent]
        here = parent
    heap[here] = row


@compiled
def _pop(w):
    """Remove the first row in canonical order from the heap and return it."""
    pool, heap = w.pool, w.heap
    first = heap[0]
    w.at[0].heap -= 1
    rows, here = w.at[0].heap, 0
    row = heap[rows]
    while 2 * here + 1 < rows:
        child = 2 * here + 1
        if child + 1 < rows and earlier(pool, heap[child + 1], pool, heap[child]):
            child += 1
        if not earlier(pool, heap[child], pool, row):
            break
        heap[here] = heap[child]
        here = child
    heap[here] = row
    return first


@compiled
def _gather(w):
    """Move the events of the current slot from the wheel into the batch. Return False if the batch is too small.

    The batch begins at 1, so that `_take_from_heap` can put an event before the next one.
    """
    pool, heads, at, batch = w.pool, w.heads, w.at, w.batch
    slot = at[0].epoch & (len(heads) - 1)
    count = 1
    row = heads[slot]
    while row >= 0:
        count += 1
        row = pool[row].next
    if count > len(batch):
        at[0].more_batch = count
        return False
    n = 1
    row = heads[slot]
    while row >= 0:
        following = pool[row].next
        batch[n] = pool[row]
        n += 1
        _free(w, row)
        row = following
    heads[slot] = -1
    at[0].in_slots -= n - 1
    at[0].touched += n - 1
    at[0].next, at[0].batch, at[0].dirty = 1, n, 0
    sort(w, 1, n)
    return True


@compiled
def _take_from_heap(w):
    """Move the first event of the heap before the batch's next one, if it is earlier."""
    at, batch = w.at, w.batch
    if at[0].next < at[0].batch and not earlier(w.pool, w.heap[0], batch, at[0].next):
        return
    if at[0].next == 0:  # an event was put there before, and an answer has brought an earlier one since: swap them
        row = _row(w)
        w.pool[row] = batch[0]
        _push(w, row)
        at[0].next = 1
    row = _pop(w)
    at[0].next -= 1
    batch[at[0].next] = w.pool[row]
    _free(w, row)


@compiled
def _copies(c, w, now, node, packet, peer, interface, size):
    """Send a packet: one copy per receiver leaves now."""
    first, last = (0, c.nodes) if peer == BROADCAST_PEER else (peer, peer + 1)
    fault_on = is_fault_on(c.network_faults, now)
    differ = len(c.links.site) > 0
    for receiver in range(first, last):
        if receiver == node and peer == BROADCAST_PEER:
            continue
        delay = draw_ps(c.delay_quantiles_ns, c.seed, STREAM_DELAY, packet, receiver)
        kind = K_REACH if c.recv_ps > 0 else K_ARRIVAL
        if differ:
            one, other = c.links.site[node], c.links.site[receiver]
            if c.links.delay_ps[one, other] == NO_LINK_PS:
                if peer == BROADCAST_PEER:
                    continue
                kind = K_LOST
            else:
                there = link_ps(c.links, now, one, other, size)
                if there == NO_ROOM or is_lost_on_link(c.links, c.seed, packet, receiver, one, other):
                    kind = K_LOST
                delay += c.links.delay_ps[one, other] if there == NO_ROOM else there
        reach = now + max(np.int64(MIN_DELAY_PS), delay)
        if c.loss > 0.0 and draw_unit(c.seed, STREAM_LOSS, packet, receiver) < c.loss:
            kind = K_LOST
        if fault_on and is_link_down(c.network_faults, now, node, receiver):
            kind = K_LOST
        put(w, c.width_ps, reach, kind, receiver, packet, interface, 0)


@compiled
def _advance(c, w, limit_ps):
    """Move to the next slot that may hold an event. Return False if that is at or after the limit."""
    at, heads = w.at, w.heads
    while True:
        if at[0].in_slots == 0:  # skip slots: up to the next turn, the workload's next broadcast or the limit
            next_turn = (at[0].epoch // len(heads) + 1) * len(heads)
            ahead = min(next_turn, at[0].broadcast_ps // c.width_ps, limit_ps // c.width_ps) - 1
            at[0].epoch = max(at[0].epoch, ahead)
        at[0].epoch += 1
        start_ps = at[0].epoch * c.width_ps
        if start_ps >= limit_ps:
            at[0].epoch -= 1
            return False
        if at[0].epoch // len(heads) > at[0].turn:
            _begin_turn(w, c.width_ps, at[0].epoch // len(heads))
        if heads[at[0].epoch & (len(heads) - 1)] >= 0 or at[0].broadcast_ps < start_ps + c.width_ps:
            return True


@compiled
def _feed_workload(c, w, load):
    """Put the broadcasts of the current slot on the wheel while rows are free. Return whether all of them are there."""
    at, scripted = w.at, len(load.script_ps)
    end_ps = (at[0].epoch + 1) * c.width_ps
    while at[0].broadcast_ps < end_ps and at[0].free_rows > 0:
        i = at[0].broadcast
        arg = np.int64(load.script_size[i]) if scripted > 0 else load.size_bytes
        put(w, c.width_ps, at[0].broadcast_ps, K_BROADCAST, at[0].broadcast_node, i, arg, 0)
        i += 1
        at[0].broadcast = i
        if scripted > 0:
            at[0].broadcast_ps = load.script_ps[i] if i < scripted else NEVER
            at[0].broadcast_node = load.script_node[i] if i < scripted else 0
        elif load.messages > 0 and i >= load.messages:
            at[0].broadcast_ps = NEVER
        else:
            at[0].broadcast_ps, at[0].broadcast_node = next_broadcast(load.tables, c.seed, i, at[0].broadcast_ps)
    return at[0].broadcast_ps >= end_ps


@compiled
def _internal(c, w, i):
    """Process an event of the batch that the controller does not see."""
    e = w.batch[i]
    now, node, ref, arg, extra, kind = e.time, np.int64(e.node), e.ref, np.int64(e.arg), e.extra, e.kind
    if kind == K_SEND:
        if w.down[node]:
            return
        size, peer = extra & SIZE, extra >> (SIZE_BITS + FAILURE_BITS)
        leave = max(now, w.send_free[node]) + c.send_ps + c.send_ps_per_byte * size
        w.send_free[node] = leave
        if w.at[0].faulty or len(c.links.bps) > 0:
            put(w, c.width_ps, leave, K_LEAVE, node, ref, arg, extra | (w.failures[node] & FAILURES) << SIZE_BITS)
        else:
            _copies(c, w, leave, node, ref, peer, arg, size)
    elif kind == K_LEAVE:
        if (extra >> SIZE_BITS & FAILURES) == w.failures[node] & FAILURES:
            _copies(c, w, now, node, ref, extra >> (SIZE_BITS + FAILURE_BITS), arg, extra & SIZE)
    else:  # K_REACH
        done = max(now, w.recv_free[node]) + c.recv_ps
        w.recv_free[node] = done
        put(w, c.width_ps, done, K_ARRIVAL, node, ref, arg, 0)


@compiled
def _visible(w, i):
    """Return whether the controller sees an event. A NODE event changes the state of the node."""
    e = w.batch[i]
    if e.kind == K_NODE:
        if (e.arg == 0) == (w.down[e.node] == 1):
            return False
        w.down[e.node] = 1 - e.arg
        if e.arg == 0:
            w.failures[e.node] += 1
        return True
    if w.down[e.node]:
        return False
    return e.kind != K_TIMER or _is_due(w, e.ref, e.time)


@compiled
def _place_of(w, timer):
    """Return the place of a timer in the table of cancelled ones, or the free place where it would be."""
    mask = len(w.cancelled) - 1
    place = (timer * SPREAD >> 20) & mask
    while w.cancelled[place] != NOTHING and w.cancelled[place] != timer:
        place = (place + 1) & mask
    return place


@compiled
def cancel(w, timer, time_ps):
    """Cancel a timer from a time on. The caller has made sure that the table has room."""
    place = _place_of(w, timer)
    w.at[0].cancelled += w.cancelled[place] == NOTHING
    w.cancelled[place], w.cancelled_ps[place] = timer, time_ps


@compiled
def _is_due(w, timer, time_ps):
    """Return whether a timer has not been cancelled, and forget its cancellation."""
    place = _place_of(w, timer)
    if w.cancelled[place] == NOTHING:
        return True
    effect_ps = w.cancelled_ps[place]
    w.cancelled_ps[place] = NEVER
    return time_ps < effect_ps


@compiled
def collect(c: Rules, w: Wheel, load: Load):
    """Fill `out` with the events of the next window. Return WINDOW_FULL, WINDOW_END or the array that needs more room.

    After one of NEEDS_* the caller makes room and calls it again: all its state is in the arrays.
    """
    at, batch, out, down = w.at, w.batch, w.out, w.down
    while True:
        if at[0].free_rows < c.nodes + 2:
            return NEEDS_ROWS
        if at[0].dirty and not _gather(w):
            return NEEDS_BATCH
        if at[0].heap > 0:
            _take_from_heap(w)
        if at[0].next >= at[0].batch:
            if at[0].live == 0 and at[0].broadcast_ps == NEVER:
                return WINDOW_END
            if not _advance(c, w, at[0].horizon if at[0].active else c.duration_ps):
                return WINDOW_FULL if at[0].active else WINDOW_END
            at[0].dirty = 1
            if not _feed_workload(c, w, load):
                at[0].epoch -= 1  # the rows ran out in the middle of a slot: feed its remaining broadcasts next time
                at[0].dirty = 0
                return NEEDS_ROWS
            continue
        i = at[0].next
        time, kind = batch[i].time, batch[i].kind
        if time >= c.duration_ps:
            return WINDOW_END
        if at[0].active and time >= at[0].horizon:
            return WINDOW_FULL
        full = c.cap if c.cap > 0 else (np.int64(1) << 62 if at[0].active else c.passive_cap)
        if at[0].out >= full and time > at[0].last:
            at[0].horizon = time
            return WINDOW_FULL
        if at[0].out >= len(out):
            return NEEDS_OUT
        at[0].next += 1
        at[0].live -= 1
        at[0].events += 1
        at[0].now = time
        if kind >= K_SEND:
            _internal(c, w, i)
        elif (kind == K_ARRIVAL and not down[batch[i].node]) or _visible(w, i):
            out[at[0].out] = batch[i]
            at[0].out += 1
            at[0].last = time
            if not at[0].active and not (c.passive_kinds >> kind) & 1:
                at[0].active = 1
                at[0].horizon = time + c.reaction_ps
