"""The hot path of the clocks: broadcast, reception and delivery, event by event over arrays.

A message in flight lives in a slot until everybody has delivered it. What cannot be delivered yet waits in a list of
its process, in order of arrival; each item remembers one entry that lacked, and is looked at in full only once that
entry has caught up.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from causeway.bridge.events import Kind
from causeway.pycontrol.protocol import BROADCAST, DELIVER, FLAGGED, HELD
from causeway.pycontrol.protocols.clocks.entries import entry_lacking
from causeway.pycontrol.slots import NEXT, forget, give_back, slot_of, take

K_ARRIVAL, K_LOST, K_BROADCAST = int(Kind.ARRIVAL), int(Kind.LOST), int(Kind.BROADCAST)
END = -1
WAITING, WAITED, ROWS = range(3)
"""Places in `counts`: items waiting now, items that ever waited, rows of `out`."""


class Out(NamedTuple):
    """What the observers are told."""

    op: NDArray[np.uint8]
    time_ps: NDArray[np.int64]
    node: NDArray[np.int32]
    message: NDArray[np.int64]


class State(NamedTuple):
    """Everything the kernel reads and writes."""

    ring: NDArray[np.int32]
    free: NDArray[np.int32]
    slots: NDArray[np.int64]
    clock: NDArray[np.int32]
    f: NDArray[np.int32]
    need: NDArray[np.int32]
    sender: NDArray[np.int32]
    id_of: NDArray[np.int64]
    copies: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    item_next: NDArray[np.int32]
    item_slot: NDArray[np.int32]
    item_entry: NDArray[np.int32]
    spare: NDArray[np.int32]
    counts: NDArray[np.int64]


@numba.njit(cache=True)
def tell(out, counts, op, time_ps, node, message):
    """One more row for the observers."""
    row = counts[ROWS]
    out.op[row] = op
    out.time_ps[row] = time_ps
    out.node[row] = node
    out.message[row] = message
    counts[ROWS] = row + 1


@numba.njit(cache=True)
def _broadcast(s, out, time_ps, p, others):
    """Algorithm 1, lines 1-3 (and the delivery at the sender itself)."""
    message = s.slots[NEXT]
    slot = take(s.ring, s.free, s.slots)
    clock, need = s.clock, s.need
    for x in range(clock.shape[1]):
        need[slot, x] = clock[p, x]
    for x in s.f[p]:
        s.clock[p, x] += 1
    s.sender[slot] = p
    s.id_of[slot] = message
    s.copies[slot] = others
    tell(out, s.counts, BROADCAST, time_ps, p, message)
    tell(out, s.counts, DELIVER, time_ps, p, message)
    if others == 0:
        _release(s, slot)


@numba.njit(cache=True)
def _release(s, slot):
    """Everybody has the message: its slot may be taken again."""
    forget(s.ring, s.id_of[slot])
    give_back(s.free, s.slots, slot)


@numba.njit(cache=True)
def hold(s, p, slot, entry):
    """The message waits at p, last in line."""
    item = s.spare[s.counts[WAITING]]
    s.counts[WAITING] += 1
    s.counts[WAITED] += 1
    s.item_slot[item] = slot
    s.item_entry[item] = entry
    s.item_next[item] = END
    if s.last[p] == END:
        s.first[p] = item
    else:
        s.item_next[s.last[p]] = item
    s.last[p] = item


@numba.njit(cache=True)
def _suspicious(clock, f, need, p, slot, sender):
    """Mostefaoui's detector: every entry in which the message counts is ahead of what it needs already."""
    ahead = True
    for x in f[sender]:
        ahead &= clock[p, x] > need[slot, x]
    return ahead


@numba.njit(cache=True)
def _deliver_waiting(s, out, detect, time_ps, p):
    """After something changed at p: the first deliverable item is delivered, then all are looked at again."""
    previous, item = END, s.first[p]
    while item != END:
        slot, entry = s.item_slot[item], s.item_entry[item]
        if s.clock[p, entry] >= s.need[slot, entry]:
            entry = entry_lacking(s.clock, p, s.need, slot)
            if entry < 0:
                take_out(s, p, previous, item)
                _deliver(s, out, detect, time_ps, p, slot)
                previous, item = END, s.first[p]
                continue
            s.item_entry[item] = entry
        previous, item = item, s.item_next[item]


@numba.njit(cache=True)
def take_out(s, p, previous, item):
    following = s.item_next[item]
    if previous == END:
        s.first[p] = following
    else:
        s.item_next[previous] = following
    if following == END:
        s.last[p] = previous
    s.counts[WAITING] -= 1
    s.spare[s.counts[WAITING]] = item


@numba.njit(cache=True)
def _deliver(s, out, detect, time_ps, p, slot):
    """Algorithm 1, lines 5-6."""
    sender = s.sender[slot]
    if detect and _suspicious(s.clock, s.f, s.need, p, slot, sender):
        tell(out, s.counts, FLAGGED, time_ps, p, s.id_of[slot])
    for x in s.f[sender]:
        s.clock[p, x] += 1
    tell(out, s.counts, DELIVER, time_ps, p, s.id_of[slot])
    s.copies[slot] -= 1
    if s.copies[slot] == 0:
        _release(s, slot)


@numba.njit(cache=True)
def handle(s, out, detect, kind, time_ps, node, ref):
    """Handles the events of one window; `out` and the spare items must have room for them."""
    # Taking an array out of a tuple costs an atomic reference count, so the hot path keeps its arrays in local names.
    ring, slots, clock, need, first, copies, sender = s.ring, s.slots, s.clock, s.need, s.first, s.copies, s.sender
    f, counts, out_op, out_time, out_node, out_message = s.f, s.counts, out.op, out.time_ps, out.node, out.message
    entries = f.shape[1]
    for i in range(len(kind)):
        p = node[i]
        if kind[i] == K_ARRIVAL:
            slot = slot_of(ring, slots, ref[i])
            lacking = np.int32(0)
            for x in range(clock.shape[1]):
                lacking |= clock[p, x] - need[slot, x]
            if lacking < 0:
                hold(s, p, slot, entry_lacking(clock, p, need, slot))
                tell(out, counts, HELD, time_ps[i], p, ref[i])
                continue
            if detect and _suspicious(clock, f, need, p, slot, sender[slot]):
                tell(out, counts, FLAGGED, time_ps[i], p, ref[i])
            for j in range(entries):
                clock[p, f[sender[slot], j]] += 1
            row = counts[ROWS]
            out_op[row], out_time[row], out_node[row], out_message[row] = DELIVER, time_ps[i], p, ref[i]
            counts[ROWS] = row + 1
            copies[slot] -= 1
            if copies[slot] == 0:
                _release(s, slot)
            if first[p] != END:
                _deliver_waiting(s, out, detect, time_ps[i], p)
        elif kind[i] == K_BROADCAST:
            _broadcast(s, out, time_ps[i], p, len(first) - 1)
            if first[p] != END:
                _deliver_waiting(s, out, detect, time_ps[i], p)
        elif kind[i] == K_LOST:
            slot = slot_of(ring, slots, ref[i])
            copies[slot] -= 1 if p >= 0 else len(first) - 1
            if copies[slot] == 0:
                _release(s, slot)
