"""Compiled validation of windows and answers: find the first bad row, which `validation_frames.py` describes.

The state of a run is one record (`STATE`) in an array of one row. Ids of packets and timers are nearly always
consecutive, in one sequence or two (DCS numbers its control packets separately). So the existing ids are kept as two
ranges; the caller checks ids outside the ranges (LOOK_UP).

Each kernel accepts columns of one type only (`compiled_kernels`). A call with other types fails, which costs less than
a check of the type of each column.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from causeway.bridge.events import TOPICS, Act, Kind
from causeway.bridge.validation import (
    FIRST,
    LATEST_PS,
    LEAST,
    LEAST_PLUS,
    LIMITS,
    MOST,
    MOST_PLUS,
    OF,
    OPERANDS,
    PLACES,
    TABLE,
    UNLIKE,
)
from causeway.proto.contract import declared
from causeway.toolchain.jit import compiled

NO_TCP = -1

ALL_GOOD, LOOK_UP, MISFIT, OUT_OF_TURN = -1, -2, -3, -4
EVENT_TYPES = (np.uint8, np.int64, np.int32, np.int64, np.int32)
ACTION_TYPES = (np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.uint8)

FAR_PS = LATEST_PS + 1
"""All times are below this one (53 days), so that the sum of two times does not overflow."""

NODE, STATION, ARRIVAL, LOST = int(Kind.NODE), int(Kind.STATION), int(Kind.ARRIVAL), int(Kind.LOST)
TIMER, BROADCAST = int(Kind.TIMER), int(Kind.BROADCAST)
SEND, SET_TIMER, CANCEL_TIMER, CONNECT = int(Act.SEND), int(Act.SET_TIMER), int(Act.CANCEL_TIMER), int(Act.CONNECT)
CONNECTED, ENDED = int(Kind.CONNECTED), int(Kind.ENDED)
ENDINGS = len(declared("Ending"))
LAST_KIND, LAST_ACT = int(max(Kind)), int(max(Act))  # a kind below without a rule here may hold any values
TIME, BY, REF, PEER, SIZE, INTERFACE = (
    PLACES[column] for column in ("time_ps", "node", "ref", "peer", "size_bytes", "interface")
)
NODES, INTERFACES, CHANNELS, FIRST_MOVER, MOVERS, TCP, CONNECTIONS, EARLIEST = (PLACES[limit] for limit in LIMITS)

KEPT = 1 << 15
"""The number of packets and timers whose owners are stored, the most recent ones. A power of two."""

RANGES = np.dtype([(name, np.int64) for name in ("low", "high", "low_2", "high_2")])
"""Two ranges of ids, [low, high) each."""
OWNER = np.dtype([("id", np.int64), ("node", np.int64)])
"""A packet and its peer, or a timer and the node that set it; node -1: several nodes."""
STATE = np.dtype([
    ("number", np.int64),  # the number of the next window
    ("end_ps", np.int64),  # the end of the last window: no action may take effect before it
    ("nodes", np.int64), ("stations", np.int64), ("interfaces", np.int64), ("channels", np.int64),
    ("first_mover", np.int64),  # nodes from this number on can MOVE
    ("connections", np.int64),  # the number of connections opened so far, or NO_TCP
    ("unicasts", np.int64),  # 1 once a packet was for one node only
    # broadcasts: one more than the highest number so far; floor: the same, before the instant of the last broadcast
    # (broadcasts of one instant are ordered by their nodes, not by their numbers)
    ("most_broadcasts", np.int64), ("broadcasts", np.int64), ("floor", np.int64), ("instant_ps", np.int64),
    ("packets", RANGES), ("timers", RANGES),
    ("held", np.int64, len(OPERANDS)),  # the row being checked, and the limits, with the names of the rules
    ("packet_owners", OWNER, KEPT), ("timer_owners", OWNER, KEPT),
])  # fmt: skip


@compiled
def first_bad_event(s, number, end_ps, kind, time, node, ref, arg):
    """Return the first row that may not be in a window, or a code. Count broadcasts on the way.

    Nearly all rows are arrivals, nearly always in windows without other events. Differences are compared as unsigned
    numbers, so one comparison covers both ends of a range.

    Returns:
        A row, or ALL_GOOD; LOOK_UP if the caller must still check that ids outside the ranges exist and that no
        broadcast is repeated; OUT_OF_TURN if the window's number or end is wrong.
    """
    at = s[0]
    if number != at.number or end_ps < at.end_ps or end_ps >= FAR_PS or (number == 0 and (end_ps != 0 or len(kind))):
        return OUT_OF_TURN
    if _all_are_good_arrivals(at, end_ps, kind, time, node, ref, arg):
        return ALL_GOOD
    nodes, interfaces = np.uint64(at.nodes), np.uint64(at.interfaces)
    packet_low, packets = at.packets.low, np.uint64(at.packets.high - at.packets.low)
    outside: Any = False
    before = at.end_ps - 1
    for i in range(len(kind)):
        now, k, v = time[i], kind[i], np.int64(node[i])
        if now <= before and (now < before or i == 0 or _comes_before(kind, node, ref, i, i - 1)):
            return i
        before = now
        if now >= end_ps or (np.uint64(v) >= nodes and (k != LOST or v != -1)):
            return i
        if k == ARRIVAL or k == LOST:  # noqa: SIM109 (numba)
            if np.uint64(ref[i] - packet_low) >= packets:
                outside |= not at.packets.low_2 <= ref[i] < at.packets.high_2
            if np.uint64(np.int64(arg[i])) >= interfaces or (
                k == ARRIVAL and _is_of_another(at.packet_owners, ref[i], v)
            ):
                return i
        elif _is_bad(at, k, now, ref[i], np.int64(arg[i])):
            return i
        elif k == TIMER:
            outside |= not _is_in(at.timers, ref[i])
            if _is_of_another(at.timer_owners, ref[i], v):
                return i
        elif k == BROADCAST:
            outside |= ref[i] < at.broadcasts
            at.broadcasts = max(at.broadcasts, ref[i] + 1)
    return LOOK_UP if outside else ALL_GOOD


@compiled
def _all_are_good_arrivals(at, end_ps, kind, time, node, ref, arg):
    """Return whether all rows are correct arrivals of packets in the longest range.

    The loops have no early exit, so that the compiler vectorizes them: a thousand rows take 0.3 us, row by row 1.5 us.
    """
    rows, one = np.uint64(len(kind)), np.uint64(1)
    if rows == 0:
        return True
    other = np.uint8(0)
    for i in range(rows):
        other |= kind[i] ^ np.uint8(ARRIVAL)
    if other or time[0] < at.end_ps or time[rows - one] >= end_ps:
        return False
    nodes, interfaces = np.uint32(at.nodes), np.uint32(at.interfaces)
    low, packets = at.packets.low, np.uint64(at.packets.high - at.packets.low)
    bad: Any = False
    for i in range(rows):
        bad |= (np.uint32(node[i]) >= nodes) | (np.uint32(arg[i]) >= interfaces)
    for i in range(rows):
        bad |= np.uint64(ref[i] - low) >= packets
    if bad:
        return False
    for i in range(rows - one):
        bad |= time[i + one] <= time[i]
    if bad:  # a wrong row, or two rows of one instant, whose order must be checked
        bad = False
        for i in range(rows - one):
            j = i + one
            later = (node[j] > node[i]) | ((node[j] == node[i]) & (ref[j] >= ref[i]))
            bad |= (time[j] < time[i]) | ((time[j] == time[i]) & (not later))
    if at.unicasts and not bad:
        owners = at.packet_owners
        for i in range(rows):
            owner = owners[np.uint64(ref[i]) & np.uint64(KEPT - 1)]
            bad |= (owner.id == ref[i]) & (owner.node >= 0) & (owner.node != node[i])
    return not bad


@compiled
def _is_of_another(owners, id_, node):
    """Return whether a packet is known to be for another node, or a timer to have been set by another node."""
    owner = owners[id_ & (KEPT - 1)]
    return owner.id == id_ and 0 <= owner.node != node


@compiled
def _keep(owners, id_, node):
    """Store the owner of an id; -1 if a second node has the same id."""
    owner = owners[id_ & (KEPT - 1)]
    owner.node = node if owner.id != id_ or owner.node == node else -1
    owner.id = id_


@compiled
def _comes_before(kind, node, ref, i, j):
    """Return whether row i belongs before row j of the same instant."""
    if kind[i] != kind[j]:
        return kind[i] < kind[j]
    return node[i] < node[j] or (node[i] == node[j] and ref[i] < ref[j])


@compiled
def _is_bad(at, k, now, r, a):
    """Return whether the values of an event that concerns no packet are wrong."""
    if k == TIMER:
        return False
    if k == BROADCAST:
        if now > at.instant_ps:
            at.instant_ps, at.floor = now, at.broadcasts
        return r < at.floor or r >= at.most_broadcasts or a < 0
    if k == STATION:
        return a < -1 or a >= at.stations
    if k == NODE:
        return a < 0 or a > 1
    if CONNECTED <= k <= ENDED:
        return r < 0 or r >= at.connections or a < 0 or (k == ENDED and a >= ENDINGS)
    return k > LAST_KIND


@compiled
def first_bad_action(s, kind, time, node, ref, peer, size, interface):
    """Return the first row that may not answer the last window, or a code. Add new ids to their ranges on the way.

    Topics, which few answers have, are checked by `first_bad_topic`.

    Returns:
        A row, ALL_GOOD, or LOOK_UP, all as for `first_bad_event`; MISFIT if the columns differ in length.
    """
    at, rows = s[0], len(kind)
    if not rows == len(time) == len(node) == len(ref) == len(peer) == len(size) == len(interface):
        return MISFIT
    _copy_limits(at)
    outside = 0
    for i in range(rows):
        k, r = kind[i], ref[i]
        if k > LAST_ACT:
            return i
        held = at.held
        held[TIME], held[BY], held[REF], held[PEER] = time[i], node[i], r, peer[i]
        held[SIZE], held[INTERFACE] = size[i], interface[i]
        if _breaks_a_rule(held, k):
            return i
        if k == SEND:
            outside += _outside(at.packets, r)
            _keep(at.packet_owners, r, np.int64(peer[i]))
            at.unicasts |= peer[i] >= 0
        elif k == SET_TIMER:
            outside += _outside(at.timers, r)
            _keep(at.timer_owners, r, np.int64(node[i]))
        elif k == CANCEL_TIMER:
            outside += not _is_in(at.timers, r)
        elif k == CONNECT:
            at.connections += 1
            held[CONNECTIONS] += 1
    return LOOK_UP if outside else ALL_GOOD


@compiled
def _copy_limits(at):
    """Copy the limits of the run to the places where rules read them."""
    held = at.held
    held[NODES], held[INTERFACES], held[CHANNELS] = at.nodes, at.interfaces, at.channels
    held[FIRST_MOVER], held[MOVERS] = at.first_mover, at.nodes - at.first_mover
    held[TCP], held[CONNECTIONS], held[EARLIEST] = at.connections != NO_TCP, at.connections, at.end_ps


@compiled
def _breaks_a_rule(held, k):
    """Return whether the row in `held` breaks a rule of its kind."""
    for i in range(FIRST[k], FIRST[k + 1]):
        value = held[TABLE[i, OF]]
        if value < held[TABLE[i, LEAST]] + TABLE[i, LEAST_PLUS] or value > held[TABLE[i, MOST]] + TABLE[i, MOST_PLUS]:
            return True
        if TABLE[i, UNLIKE] >= 0 and value == held[TABLE[i, UNLIKE]]:
            return True
    return False


@compiled
def first_bad_topic(topic, rows):
    """Return the first row whose topic does not exist, or ALL_GOOD; MISFIT if the number of rows differs."""
    if len(topic) != rows:
        return MISFIT
    for i in range(rows):
        if topic[i] >= TOPICS:
            return i
    return ALL_GOOD


@compiled
def _is_in(ranges, id_):
    """Return whether an id is in one of its two ranges."""
    return ranges.low <= id_ < ranges.high or ranges.low_2 <= id_ < ranges.high_2


@compiled
def _outside(ranges, id_):
    """Add a new id to its ranges if it extends one. Return 1 if no range contains it, else 0."""
    if ranges.low == ranges.high:
        ranges.low = ranges.high = id_
    if id_ == ranges.high:
        ranges.high += 1
    if ranges.low <= id_ < ranges.high:
        return 0
    if ranges.low_2 == ranges.high_2:
        ranges.low_2 = ranges.high_2 = id_
    if id_ == ranges.high_2:
        ranges.high_2 += 1
    return 0 if ranges.low_2 <= id_ < ranges.high_2 else 1


class Kernels(NamedTuple):
    """The kernels that `FrameValidator` calls."""

    first_bad_event: Any
    first_bad_action: Any
    first_bad_topic: Any


_compiling = threading.Lock()


def compiled_kernels() -> Kernels:
    """Return the kernels, compiled by the first thread that needs them."""
    with _compiling:
        return _compile_kernels()


@functools.cache
def _compile_kernels() -> Kernels:
    """Compile (or load) the kernels for the types that engines read, and for no others.

    Columns are declared read-only, because those of a window view its frame; a writable array may be passed as
    read-only.
    """
    kernels = Kernels(first_bad_event, first_bad_action, first_bad_topic)
    if not hasattr(first_bad_action, "compile"):  # NUMBA_DISABLE_JIT is set, for a debugger: then it is plain Python
        event, action = (lambda s, *rest, by=kernel: by(s.view(np.recarray), *rest) for kernel in kernels[:2])
        return Kernels(event, action, first_bad_topic)
    state = types.Array(numba.from_dtype(STATE), 1, "C")
    first_bad_event.compile((state, types.int64, types.int64, *map(_column, EVENT_TYPES)))
    first_bad_action.compile((state, *map(_column, ACTION_TYPES)))
    first_bad_topic.compile((_column(np.uint8), types.int64))
    for kernel in kernels:
        kernel.disable_compile()
    return kernels


def _column(of: type) -> Any:
    return types.Array(numba.from_dtype(np.dtype(of)), 1, "C", readonly=True)
