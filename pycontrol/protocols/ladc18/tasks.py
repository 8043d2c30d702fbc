"""One process (ladc18, Algorithm 2) over arrays: acks that are awaited, and what it does about each event.

`# l. N` is the paper's line. A message m is its number; the item <TREE, m> is 2 * m, <ACK, m> is 2 * m + 1. The windows
rcv_base and rcv_win are one flag for each process and message: `delivered`. msg_set is what has pending acks.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.arrays import compiled
from causeway.pycontrol.protocol import BROADCAST, DELIVER, LEFT
from causeway.pycontrol.protocols.ladc18.bundles import (
    bundle_for,
    cancel_timer,
    check_bundle,
    close_bundle,
    cluster_of,
    ff_neighbor,
    flush_due,
    free_row,
    send_delayed,
    take,
    tell,
)
from causeway.pycontrol.protocols.ladc18.state import (
    A_CHILD,
    A_M,
    A_NEXT,
    A_PARENT,
    A_PREVIOUS,
    ACKS,
    B_NEXT,
    B_TIMER,
    LAST_ARRIVAL,
    MESSAGES,
    NONE,
    UNFINISHED,
)


# ---- pending acks ----------------------------------------------------------------------------------------------------
@compiled
def _expect_ack(s, i, m, j, k):
    """Adds (j, k, m) to ack_set unless it is there: behind the other acks for m, or behind all of them."""
    row, last = s.first_ack[i, m], s.last_ack[i]
    while row >= 0 and s.ack[row, A_M] == m:
        if s.ack[row, A_PARENT] == j and s.ack[row, A_CHILD] == k:
            return
        last = row
        row = s.ack[row, A_NEXT]
    new = take(s.ack, A_NEXT, s.counts, ACKS)
    s.ack[new, A_M], s.ack[new, A_PARENT], s.ack[new, A_CHILD] = m, j, k
    if s.first_ack[i, m] < 0:
        s.first_ack[i, m] = new
    following = NONE if last < 0 else s.ack[last, A_NEXT]
    s.ack[new, A_PREVIOUS], s.ack[new, A_NEXT] = last, following
    if last >= 0:
        s.ack[last, A_NEXT] = new
    else:
        s.first[i] = new
    if following >= 0:
        s.ack[following, A_PREVIOUS] = new
    else:
        s.last_ack[i] = new
    s.owed[i] += 1
    s.counts[UNFINISHED] += 1


@compiled
def _drop_ack(s, i, row):
    """Removes an element of ack_set."""
    m, before, following = s.ack[row, A_M], s.ack[row, A_PREVIOUS], s.ack[row, A_NEXT]
    if s.first_ack[i, m] == row:
        s.first_ack[i, m] = following if following >= 0 and s.ack[following, A_M] == m else NONE
    if before >= 0:
        s.ack[before, A_NEXT] = following
    else:
        s.first[i] = following
    if following >= 0:
        s.ack[following, A_PREVIOUS] = before
    else:
        s.last_ack[i] = before
    free_row(s.ack, A_NEXT, s.counts, ACKS, row)
    s.owed[i] -= 1
    s.counts[UNFINISHED] -= 1


@compiled
def _check_acks(c, s, out, i, m, k, now_ps):  # l. 51
    # Departure (l. 53): m stays in msg_set while any ack of it is pending, not only one for k.
    row = s.first_ack[i, m]
    while row >= 0 and s.ack[row, A_M] == m:
        if s.ack[row, A_PARENT] == k:
            return
        row = s.ack[row, A_NEXT]
    if k != i and s.correct[i, s.source[m]] and s.correct[i, k]:
        check_bundle(c, s, out, i, 2 * m + 1, k, now_ps)


# ---- events ----------------------------------------------------------------------------------------------------------
@compiled
def _handle_message(c, s, out, i, m, j, now_ps):  # l. 10
    if not s.delivered[i, m]:  # l. 12
        s.delivered[i, m] = 1
        tell(out, DELIVER, i, m, now_ps)
    # Departure (l. 33): the subtree depends on who the message came from, not on its source.
    height = c.height if j == i else cluster_of(i, j) - 1
    for cluster in range(height, 0, -1):
        k = ff_neighbor(s, i, i, cluster)
        if k >= 0:
            check_bundle(c, s, out, i, 2 * m, k, now_ps)
            _expect_ack(s, i, m, j, k)
    _check_acks(c, s, out, i, m, j, now_ps)


@compiled
def on_broadcast(c, s, out, i, now_ps):  # l. 8
    m = s.counts[MESSAGES]
    s.counts[MESSAGES] += 1
    s.source[m] = i
    tell(out, BROADCAST, i, m, now_ps)
    _handle_message(c, s, out, i, m, i, now_ps)


@compiled
def _receive_ack(c, s, out, i, m, j, now_ps):  # l. 66
    # Departure (l. 67): m may have come from several parents x and gone on to j for each, but j acks it once. That
    # settles all of them: everybody below j has m. After a crash there may be none: the ack is late.
    row, parents = s.first_ack[i, m], 0
    while row >= 0 and s.ack[row, A_M] == m:
        following = s.ack[row, A_NEXT]
        if s.ack[row, A_CHILD] == j:
            s.parents[parents] = s.ack[row, A_PARENT]
            parents += 1
            _drop_ack(s, i, row)
        row = following
    for at in range(parents):
        _check_acks(c, s, out, i, m, np.int64(s.parents[at]), now_ps)


@compiled
def on_packet(c, s, out, i, packet, now_ps):  # l. 56
    s.counts[LAST_ARRIVAL] = now_ps
    flush_due(c, s, out, i, now_ps)
    j = np.int64(s.sender[packet])
    for at in range(s.end[packet], s.end[packet + 1]):
        item = np.int64(s.carried[at])
        m = item >> 1
        if item & 1:
            _receive_ack(c, s, out, i, m, j, now_ps)
        elif s.correct[i, s.source[m]] and s.correct[i, j]:  # l. 63
            _handle_message(c, s, out, i, m, j, now_ps)


@compiled
def on_timer(c, s, out, i, timer, now_ps):  # l. 70
    row = s.first_bundle[i]
    while row >= 0 and s.bundle[row, B_TIMER] != timer:
        row = s.bundle[row, B_NEXT]
    if row >= 0:  # else: stopped while on its way
        send_delayed(c, s, out, i, row, now_ps)


@compiled
def on_crash(c, s, out, i, j, now_ps):  # l. 73
    """The failure detector says that j has crashed."""
    flush_due(c, s, out, i, now_ps)
    s.correct[i, j] = 0
    delayed = bundle_for(s, i, j)
    if delayed >= 0:  # l. 75
        cancel_timer(c, out, i, s.bundle[delayed, B_TIMER], now_ps)
        close_bundle(s, i, delayed, False)
    k = ff_neighbor(s, i, i, cluster_of(i, j))  # l. 76
    row = s.first[i]
    while row >= 0:
        m, p = np.int64(s.ack[row, A_M]), np.int64(s.ack[row, A_PARENT])
        if not (s.correct[i, s.source[m]] and s.correct[i, p]):  # l. 78
            following = s.ack[row, A_NEXT]
            _drop_ack(s, i, row)
        elif s.ack[row, A_CHILD] == j:
            if k >= 0:
                owed = s.owed[i]
                _expect_ack(s, i, m, p, k)
                if s.owed[i] > owed:  # l. 82
                    check_bundle(c, s, out, i, 2 * m, k, now_ps)
            following = s.ack[row, A_NEXT]
            _drop_ack(s, i, row)
            _check_acks(c, s, out, i, m, p, now_ps)  # l. 87; nothing can come of it for entries that stay
        else:
            following = s.ack[row, A_NEXT]
        row = following


@compiled
def on_down(s, out, i, now_ps):
    """This process crashes: it owes and is owed nothing. Its timers go with it."""
    while s.first[i] >= 0:
        _drop_ack(s, i, s.first[i])
    while s.first_bundle[i] >= 0:
        close_bundle(s, i, s.first_bundle[i], False)
    tell(out, LEFT, i, NONE, now_ps)
