"""Every row of what crosses the border, looked at once. The kernels only find the row; `border.py` says what is wrong.

A run's state is one int64 array. Ids of packets and timers are nearly always handed out one after the other, in one
numbering or two (DCS numbers its control packets apart), so those that exist are two ranges; ids outside of them are
left to the caller (LOOK_UP).

The kernel that looks at actions takes one type of columns and no other (`settle`): what differs is refused by the call
itself, where looking at the type of each column first would cost more than the check.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
import numpy as np
from numba import types

from causeway.bridge.events import TOPICS, Act, Kind
from causeway.bridge.schema import constant, declared

(
    END, NODES, STATIONS, INTERFACES, CHANNELS, PACKET_LOW, PACKET_HIGH, PACKET_LOW_2, PACKET_HIGH_2, TIMER_LOW,
    TIMER_HIGH, TIMER_LOW_2, TIMER_HIGH_2, BROADCASTS, FLOOR, INSTANT, MOST_BROADCASTS, CONNECTIONS, UNICASTS,
    FIRST_MOVER, EFFECT,
) = range(21)  # fmt: skip
"""Places in the state. Ranges are [low, high). BROADCASTS: one more than the highest number so far; FLOOR: the same,
before the INSTANT of the last broadcast (broadcasts of one instant are ordered by their nodes, not by their numbers).
CONNECTIONS: how many there are so far, or NO_TCP. UNICASTS: whether any packet was for one node only.
FIRST_MOVER: nodes from here on can MOVE. EFFECT: actions take effect at or after it."""
STATE = 21
NO_TCP = -1

ALL_GOOD, LOOK_UP, MISFIT = -1, -2, -3
COLUMN_TYPES = (np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.uint8, np.uint8)

FAR_PS = 1 << 62
"""Times lie below this (53 days), so that sums of two of them are still times."""

NODE, STATION, ARRIVAL, LOST = int(Kind.NODE), int(Kind.STATION), int(Kind.ARRIVAL), int(Kind.LOST)
TIMER, BROADCAST = int(Kind.TIMER), int(Kind.BROADCAST)
SEND, SET_TIMER, CANCEL_TIMER = int(Act.SEND), int(Act.SET_TIMER), int(Act.CANCEL_TIMER)
SWITCH, RECORD, MOVE = int(Act.NODE), int(Act.RECORD), int(Act.MOVE)
CONNECTED, ENDED, LISTEN = int(Kind.CONNECTED), int(Kind.ENDED), int(Act.LISTEN)
CONNECT, READ, ABORT = int(Act.CONNECT), int(Act.READ), int(Act.ABORT)
ENDINGS, LAST_PORT = len(declared("Ending")), constant("LAST_PORT")
LAST_KIND, LAST_ACT = int(max(Kind)), int(max(Act))
"""A kind that the contract declares and that has no rule here may hold what it likes."""


KEPT = 1 << 15
"""Of so many packets and timers, the last ones, is known whose they are. A power of two."""
PACKETS_AT, TIMERS_AT = STATE, STATE + 2 * KEPT
"""Where that is kept, in the state: of each an id and a node (a packet's peer, the node that set a timer)."""
SIZE = STATE + 4 * KEPT

compiled: Any = numba.njit(cache=True, _nrt=False)  # type: ignore[call-overload]
"""For what neither makes nor keeps arrays: no reference counts, of which each array that is passed on costs one."""


@compiled
def first_bad_event(s, end_ps, kind, time, node, ref, arg):
    """The first row that may not be in a window that ends at `end_ps`, or ALL_GOOD, or LOOK_UP: all good if ids
    outside the ranges exist and broadcasts of one instant differ. Broadcasts are counted on the way.

    Nearly all rows are arrivals, nearly always in windows of nothing else. Differences are compared unsigned: one
    comparison for both ends of a range.
    """
    if _all_are_good_arrivals(s, end_ps, kind, time, node, ref, arg):
        return ALL_GOOD
    nodes, interfaces = np.uint64(s[NODES]), np.uint64(s[INTERFACES])
    packet_low, packets = s[PACKET_LOW], np.uint64(s[PACKET_HIGH] - s[PACKET_LOW])
    outside: Any = False
    before = s[END] - 1
    for i in range(len(kind)):
        now, k, v = time[i], kind[i], np.int64(node[i])
        if now <= before and (now < before or i == 0 or _comes_before(kind, node, ref, i, i - 1)):
            return i
        before = now
        if now >= end_ps or (np.uint64(v) >= nodes and (k != LOST or v != -1)):
            return i
        if k == ARRIVAL or k == LOST:  # noqa: SIM109 (numba)
            if np.uint64(ref[i] - packet_low) >= packets:
                outside |= not s[PACKET_LOW_2] <= ref[i] < s[PACKET_HIGH_2]
            if np.uint64(np.int64(arg[i])) >= interfaces or (k == ARRIVAL and _is_of_another(s, PACKETS_AT, ref[i], v)):
                return i
        elif _is_bad(s, k, now, ref[i], np.int64(arg[i])):
            return i
        elif k == TIMER:
            outside |= not _is_in(s, TIMER_LOW, ref[i])
            if _is_of_another(s, TIMERS_AT, ref[i], v):
                return i
        elif k == BROADCAST:
            outside |= ref[i] < s[BROADCASTS]
            s[BROADCASTS] = max(s[BROADCASTS], ref[i] + 1)
    return LOOK_UP if outside else ALL_GOOD


@compiled
def _all_are_good_arrivals(s, end_ps, kind, time, node, ref, arg):
    """Whether there is nothing but arrivals of packets in the longest range, and all is well with them.

    Loops without a way out, which the compiler turns into vector instructions: a thousand rows take 0.3 us. Row by row
    they take 1.5.
    """
    rows, one = np.uint64(len(kind)), np.uint64(1)
    if rows == 0:
        return True
    other = np.uint8(0)
    for i in range(rows):
        other |= kind[i] ^ np.uint8(ARRIVAL)
    if other or time[0] < s[END] or time[rows - one] >= end_ps:
        return False
    nodes, interfaces = np.uint32(s[NODES]), np.uint32(s[INTERFACES])
    low, packets = s[PACKET_LOW], np.uint64(s[PACKET_HIGH] - s[PACKET_LOW])
    bad: Any = False
    for i in range(rows):
        bad |= (np.uint32(node[i]) >= nodes) | (np.uint32(arg[i]) >= interfaces)
    for i in range(rows):
        bad |= np.uint64(ref[i] - low) >= packets
    if bad:
        return False
    for i in range(rows - one):
        bad |= time[i + one] <= time[i]
    if bad:  # or some are of one instant
        bad = False
        for i in range(rows - one):
            j = i + one
            later = (node[j] > node[i]) | ((node[j] == node[i]) & (ref[j] >= ref[i]))
            bad |= (time[j] < time[i]) | ((time[j] == time[i]) & (not later))
    if s[UNICASTS] and not bad:
        for i in range(rows):
            at = np.uint64(PACKETS_AT) + np.uint64(2) * (np.uint64(ref[i]) & np.uint64(KEPT - 1))
            bad |= (s[at] == ref[i]) & (s[at + one] >= 0) & (s[at + one] != node[i])
    return not bad


@compiled
def _is_of_another(s, at, id_, node):
    """Whether it is known that a packet is for another node, or a timer another node's."""
    at += 2 * (id_ & (KEPT - 1))
    return s[at] == id_ and 0 <= s[at + 1] != node


@compiled
def _keep(s, at, id_, node):
    """From now on it is known whose that is; of an id that is given to several, that it is not."""
    at += 2 * (id_ & (KEPT - 1))
    s[at], s[at + 1] = id_, node if s[at] != id_ or s[at + 1] == node else -1


@compiled
def _comes_before(kind, node, ref, i, j):
    """Whether row i belongs before row j of the same instant."""
    if kind[i] != kind[j]:
        return kind[i] < kind[j]
    return node[i] < node[j] or (node[i] == node[j] and ref[i] < ref[j])


@compiled
def _is_bad(s, k, now, r, a):
    """Whether an event that has to do with no packet is wrong in itself."""
    if k == TIMER:
        return False
    if k == BROADCAST:
        if now > s[INSTANT]:
            s[INSTANT], s[FLOOR] = now, s[BROADCASTS]
        return r < s[FLOOR] or r >= s[MOST_BROADCASTS] or a < 0
    if k == STATION:
        return a < -1 or a >= s[STATIONS]
    if k == NODE:
        return a < 0 or a > 1
    if CONNECTED <= k <= ENDED:
        return r < 0 or r >= s[CONNECTIONS] or a < 0 or (k == ENDED and a >= ENDINGS)
    return k > LAST_KIND


@compiled
def first_bad_action(s, kind, time, node, ref, peer, size, interface, topic):
    """The first row that may not answer the window before, or ALL_GOOD, or LOOK_UP, as above; new ids
    join their range on the way. MISFIT: the columns are not of one length (none of topics are topics of 0)."""
    rows, topics = len(kind), len(topic)
    if not rows == len(time) == len(node) == len(ref) == len(peer) == len(size) == len(interface):
        return MISFIT
    if topics != 0 and topics != rows:
        return MISFIT
    outside = 0
    for i in range(rows):
        k, r, p = kind[i], ref[i], np.int64(peer[i])
        if time[i] < s[EFFECT] or time[i] >= FAR_PS or node[i] < 0 or node[i] >= s[NODES]:
            return i
        if topics and topic[i] >= TOPICS:
            return i
        if k == SEND:
            if p < -1 or p >= s[NODES] or size[i] < 0 or interface[i] >= s[INTERFACES] or r < 0:
                return i
            outside += _outside(s, PACKET_LOW, r)
            _keep(s, PACKETS_AT, r, p)
            s[UNICASTS] |= p >= 0
        elif k == SET_TIMER:
            if r < 0:
                return i
            outside += _outside(s, TIMER_LOW, r)
            _keep(s, TIMERS_AT, r, np.int64(node[i]))
        elif k == SWITCH:
            if p < 0 or p > 1:
                return i
        elif k == CANCEL_TIMER:
            outside += not _is_in(s, TIMER_LOW, r)
        elif LISTEN <= k <= ABORT:
            if _is_bad_about_tcp(s, k, np.int64(node[i]), r, p, size[i], interface[i]):
                return i
        elif k == MOVE:
            if node[i] < s[FIRST_MOVER] or size[i] < 1:
                return i
        elif k > LAST_ACT or (k == RECORD and (p < 0 or p >= s[CHANNELS])):
            return i
    return LOOK_UP if outside else ALL_GOOD


@compiled
def _is_bad_about_tcp(s, k, v, r, p, size, interface):
    """Whether an action about a connection is wrong; a new connection is counted on the way."""
    if s[CONNECTIONS] == NO_TCP:
        return True
    if k == LISTEN:
        return size < 1 or size > LAST_PORT or p < 0 or p > 1
    if k == CONNECT:
        if r != s[CONNECTIONS] or p < 0 or p >= s[NODES] or p == v or size < 1 or size > LAST_PORT:
            return True
        s[CONNECTIONS] += 1
        return interface < 1 or interface >= s[INTERFACES]
    return r < 0 or r >= s[CONNECTIONS] or (k <= READ and size < 1)


@compiled
def _is_in(s, low, id_):
    """Whether an id is in one of its two ranges."""
    return s[low] <= id_ < s[low + 1] or s[low + 2] <= id_ < s[low + 3]


@compiled
def _outside(s, low, id_):
    """1 if a new id neither is in one of its ranges nor makes one longer by one."""
    for at in (low, low + 2):
        if s[at] == s[at + 1]:
            s[at] = s[at + 1] = id_
        if id_ == s[at + 1]:
            s[at + 1] += 1
        if s[at] <= id_ < s[at + 1]:
            return 0
    return 1


@functools.cache
def settle() -> None:
    """Compiles (or loads) `first_bad_action` for the types that engines read, and for good. Columns of a window, which
    look into its frame, are read-only: what can be written passes as such, not the other way round."""
    if not hasattr(first_bad_action, "compile"):  # NUMBA_DISABLE_JIT, for a debugger: it is plain Python
        return
    columns = [types.Array(numba.from_dtype(np.dtype(t)), 1, "C", readonly=True) for t in COLUMN_TYPES]
    first_bad_action.compile((types.int64[::1], *columns))
    first_bad_action.disable_compile()
