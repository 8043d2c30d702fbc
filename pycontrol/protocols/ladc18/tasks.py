"""The handlers of a process (ladc18, Algorithm 2) over arrays, and its pending acks.

`# l. N` is the paper's line. A message m is represented by its number, the item <TREE, m> by 2 * m, and <ACK, m> by
2 * m + 1. One flag for each process and message, `delivered`, replaces the windows rcv_base and rcv_win. msg_set are
the messages with pending acks.
"""

from __future__ import annotations

import numpy as np

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
)
from causeway.pycontrol.protocols.ladc18.state import NONE
from causeway.pycontrol.state_arrays import compiled
from causeway.pycontrol.tape import report


# ---- pending acks ----------------------------------------------------------------------------------------------------
@compiled
def _expect_ack(s, i, m, j, k):
    """Add (j, k, m) to ack_set unless it is there: after the other acks for m, or else at the end."""
    acks = s.acks.rows
    row, last = s.first_ack[i, m], s.last_ack[i]
    while row >= 0 and acks[row].m == m:
        if acks[row].parent == j and acks[row].child == k:
            return
        last = row
        row = acks[row].next
    new = take(s.acks)
    acks[new].m, acks[new].parent, acks[new].child = m, j, k
    if s.first_ack[i, m] < 0:
        s.first_ack[i, m] = new
    following = NONE if last < 0 else acks[last].next
    acks[new].previous, acks[new].next = last, following
    if last >= 0:
        acks[last].next = new
    else:
        s.first[i] = new
    if following >= 0:
        acks[following].previous = new
    else:
        s.last_ack[i] = new
    s.owed[i] += 1
    s.counts[0].unfinished += 1


@compiled
def _drop_ack(s, i, row):
    """Remove an element of ack_set."""
    acks = s.acks.rows
    m, before, following = acks[row].m, acks[row].previous, acks[row].next
    if s.first_ack[i, m] == row:
        s.first_ack[i, m] = following if following >= 0 and acks[following].m == m else NONE
    if before >= 0:
        acks[before].next = following
    else:
        s.first[i] = following
    if following >= 0:
        acks[following].previous = before
    else:
        s.last_ack[i] = before
    free_row(s.acks, row)
    s.owed[i] -= 1
    s.counts[0].unfinished -= 1


@compiled
def _check_acks(c, s, tape, here, m, k):  # l. 51
    # Departure (l. 53): m stays in msg_set while any ack of it is pending, not only one for k.
    i, acks = here.node, s.acks.rows
    row = s.first_ack[i, m]
    while row >= 0 and acks[row].m == m:
        if acks[row].parent == k:
            return
        row = acks[row].next
    if k != i and s.correct[i, s.source[m]] and s.correct[i, k]:
        check_bundle(c, s, tape, here, 2 * m + 1, k)


# ---- events ----------------------------------------------------------------------------------------------------------
@compiled
def _handle_message(c, s, tape, here, m, j):  # l. 10
    i = here.node
    if not s.delivered[i, m]:  # l. 12
        s.delivered[i, m] = 1
        report(tape, DELIVER, here.now_ps, i, m)
    # Departure (l. 33): the subtree depends on j, from which the message came, and not on its source.
    height = c.height if j == i else cluster_of(i, j) - 1
    for cluster in range(height, 0, -1):
        k = ff_neighbor(s, i, i, cluster)
        if k >= 0:
            check_bundle(c, s, tape, here, 2 * m, k)
            _expect_ack(s, i, m, j, k)
    _check_acks(c, s, tape, here, m, j)


@compiled
def on_broadcast(c, s, tape, here):  # l. 8
    """Broadcast a new message."""
    m = s.counts[0].messages
    s.counts[0].messages += 1
    s.source[m] = here.node
    report(tape, BROADCAST, here.now_ps, here.node, m)
    _handle_message(c, s, tape, here, m, here.node)


@compiled
def _receive_ack(c, s, tape, here, m, j):  # l. 66
    # Departure (l. 67): m may have come from several parents x and been forwarded to j for each, but j acks it once.
    # The ack counts for all of them, since every process below j has m. After a crash, none may be pending.
    i, acks = here.node, s.acks.rows
    row, parents = s.first_ack[i, m], 0
    while row >= 0 and acks[row].m == m:
        following = acks[row].next
        if acks[row].child == j:
            s.parents[parents] = acks[row].parent
            parents += 1
            _drop_ack(s, i, row)
        row = following
    for at in range(parents):
        _check_acks(c, s, tape, here, m, np.int64(s.parents[at]))


@compiled
def on_packet(c, s, tape, here, packet):  # l. 56
    """Handle the items of a packet."""
    i = here.node
    s.counts[0].last_arrival_ps = here.now_ps
    flush_due(c, s, tape, here)
    j = np.int64(s.sender[packet])
    for at in range(s.end[packet], s.end[packet + 1]):
        item = np.int64(s.carried[at])
        m = item >> 1
        if item & 1:
            _receive_ack(c, s, tape, here, m, j)
        elif s.correct[i, s.source[m]] and s.correct[i, j]:  # l. 63
            _handle_message(c, s, tape, here, m, j)


@compiled
def on_timer(c, s, tape, here, timer):  # l. 70
    """Send the bundle whose timer expired."""
    row = s.first_bundle[here.node]
    while row >= 0 and s.bundles.rows[row].timer != timer:
        row = s.bundles.rows[row].next
    if row >= 0:  # otherwise the timer was cancelled while its event was on its way
        send_delayed(c, s, tape, here, row)


@compiled
def on_crash(c, s, tape, here, j):  # l. 73
    """Repair the trees after a crash of j, which the failure detector reports."""
    i, acks = here.node, s.acks.rows
    flush_due(c, s, tape, here)
    s.correct[i, j] = 0
    s.counts[0].learned_ps = here.now_ps
    delayed = bundle_for(s, i, j)
    if delayed >= 0:  # l. 75
        cancel_timer(c, tape, here, s.bundles.rows[delayed].timer)
        close_bundle(s, i, delayed, False)
    k = ff_neighbor(s, i, i, cluster_of(i, j))  # l. 76
    row = s.first[i]
    while row >= 0:
        m, p = np.int64(acks[row].m), np.int64(acks[row].parent)
        if not (s.correct[i, s.source[m]] and s.correct[i, p]):  # l. 78
            following = acks[row].next
            _drop_ack(s, i, row)
        elif acks[row].child == j:
            if k >= 0:
                owed = s.owed[i]
                _expect_ack(s, i, m, p, k)
                if s.owed[i] > owed:  # l. 82
                    check_bundle(c, s, tape, here, 2 * m, k)
            following = acks[row].next
            _drop_ack(s, i, row)
            _check_acks(c, s, tape, here, m, p)  # l. 87; it has no effect on the remaining entries
        else:
            following = acks[row].next
        row = following


@compiled
def on_down(s, tape, here):
    """Clear the pending acks and bundles of a process that crashes. The network cancels its timers."""
    i = here.node
    while s.first[i] >= 0:
        _drop_ack(s, i, s.first[i])
    while s.first_bundle[i] >= 0:
        close_bundle(s, i, s.first_bundle[i], False)
    report(tape, LEFT, here.now_ps, i, NONE)
