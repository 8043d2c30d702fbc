"""Bundles, packets and timers of a process of ladc18 (Algorithm 2). `# l. N` is the paper's line."""

from __future__ import annotations

from causeway.pycontrol.protocols.ladc18.state import NONE
from causeway.pycontrol.state_arrays import compiled
from causeway.pycontrol.tape import ACT_CANCEL_TIMER, ACT_SEND, ACT_SET_TIMER, act


# ---- VCube -----------------------------------------------------------------------------------------------------------
@compiled
def cluster_of(i, j):
    """Return the index of the cluster of i that contains j."""
    differ, s = i ^ j, 0
    while differ:
        differ >>= 1
        s += 1
    return s


@compiled
def ff_neighbor(s, viewer, i, cluster):
    """Return the first process in a cluster of i that the viewer considers correct, or -1."""
    first = i ^ (1 << (cluster - 1))
    for offset in range(1 << (cluster - 1)):
        if s.correct[viewer, first ^ offset]:
            return first ^ offset
    return NONE


# ---- rows of a pool --------------------------------------------------------------------------------------------------
@compiled
def take(pool):
    """Return a free row of a pool."""
    row = pool.use[0].free
    if row > 0:
        pool.use[0].free = pool.rows[row].next
        return row
    pool.use[0].used += 1
    return pool.use[0].used - 1


@compiled
def free_row(pool, row):
    """Free a row of a pool."""
    pool.rows[row].next = pool.use[0].free
    pool.use[0].free = row


# ---- actions of a node: a process or a detector ----------------------------------------------------------------------
@compiled
def send_packet(c, s, tape, here, peer, size_bytes):
    """Send a packet with the items that were put into `carried` since the last one."""
    packet = s.counts[0].sent
    s.counts[0].sent += 1
    s.sender[packet] = here.node
    s.end[packet + 1] = s.counts[0].carried
    act(tape, ACT_SEND, here.now_ps + c.reaction_ps, here.node, packet, peer, size_bytes)


@compiled
def carry(s, item):
    """Put an item into the next packet."""
    s.carried[s.counts[0].carried] = item
    s.counts[0].carried += 1


@compiled
def set_timer(c, s, tape, here, delay_ps):
    """Set a timer and return its id."""
    timer = s.counts[0].timers
    s.counts[0].timers += 1
    act(tape, ACT_SET_TIMER, here.now_ps + c.reaction_ps + delay_ps, here.node, timer, 0, 0)
    return timer


@compiled
def cancel_timer(c, tape, here, timer):
    """Cancel a timer."""
    act(tape, ACT_CANCEL_TIMER, here.now_ps + c.reaction_ps, here.node, timer, 0, 0)


@compiled
def _send_bundle(c, s, tape, here, k, count, acks):
    """Send the carried items, of which `acks` are ACKs, as one packet of the broadcast."""
    size_bytes = acks * c.ack_size + (count - acks) * c.tree_size
    s.counts[0].packets += 1
    s.counts[0].ack_messages += acks
    s.counts[0].tree_messages += count - acks
    if here.node == 0:
        sample = s.samples[s.counts[0].samples]
        sample.time_ps, sample.items, sample.size_bytes = here.now_ps, count, size_bytes
        s.counts[0].samples += 1
    send_packet(c, s, tape, here, k, size_bytes)


# ---- bundling (l. 36-50, 70-72) --------------------------------------------------------------------------------------
@compiled
def bundle_for(s, i, k):
    """Return the row of delay_msg[k], or -1."""
    row = s.first_bundle[i]
    while row >= 0 and s.bundles.rows[row].k != k:
        row = s.bundles.rows[row].next
    return row


@compiled
def _open_bundle(c, s, tape, here, k):
    i, rows, row = here.node, s.bundles.rows, take(s.bundles)
    rows[row].k = k
    rows[row].size_bytes = rows[row].count = 0
    rows[row].first = rows[row].last = rows[row].next = NONE
    rows[row].due_ps = here.now_ps + c.max_delay_ps
    rows[row].timer = set_timer(c, s, tape, here, c.max_delay_ps - c.reaction_ps)
    s.counts[0].unfinished += 1
    if s.first_bundle[i] < 0:
        s.first_bundle[i] = row
        return row
    last = s.first_bundle[i]
    while rows[last].next >= 0:
        last = rows[last].next
    rows[last].next = row
    return row


@compiled
def close_bundle(s, i, row, keep):
    """Remove a bundle from delay_msg.

    With `keep`, put its items into the next packet and return the number of ACKs among them.
    """
    rows, items = s.bundles.rows, s.items.rows
    at, acks = rows[row].first, 0
    while at >= 0:
        following = items[at].next
        if keep:
            carry(s, items[at].item)
            acks += items[at].item & 1
        free_row(s.items, at)
        at = following
    if s.first_bundle[i] == row:
        s.first_bundle[i] = rows[row].next
    else:
        before = s.first_bundle[i]
        while rows[before].next != row:
            before = rows[before].next
        rows[before].next = rows[row].next
    free_row(s.bundles, row)
    s.counts[0].unfinished -= 1
    return acks


@compiled
def send_delayed(c, s, tape, here, row):
    """Send a bundle as one packet."""
    k, count = s.bundles.rows[row].k, s.bundles.rows[row].count
    acks = close_bundle(s, here.node, row, True)
    _send_bundle(c, s, tape, here, k, count, acks)


@compiled
def _flush(c, s, tape, here, row):
    """Send a bundle and stop its timer."""
    cancel_timer(c, tape, here, s.bundles.rows[row].timer)
    send_delayed(c, s, tape, here, row)


@compiled
def flush_due(c, s, tape, here):
    """Send the bundles that are due, before another event of this instant is handled.

    The paper does not define this order; it follows from the message counts of Tables 3 and 4. All timers have the same
    length, so the first bundle is due first.
    """
    i = here.node
    while s.first_bundle[i] >= 0 and s.bundles.rows[s.first_bundle[i]].due_ps <= here.now_ps:
        _flush(c, s, tape, here, s.first_bundle[i])


@compiled
def check_bundle(c, s, tape, here, item, k):  # l. 36
    """Add an item to the bundle for k, and send the bundle if it is full."""
    length = c.ack_size if item & 1 else c.tree_size
    if length >= c.max_payload:
        carry(s, item)
        _send_bundle(c, s, tape, here, k, 1, item & 1)
        return
    rows, items = s.bundles.rows, s.items.rows
    row = bundle_for(s, here.node, k)
    if row >= 0 and rows[row].size_bytes + length > c.max_payload:  # l. 39
        _flush(c, s, tape, here, row)
        row = NONE
    if row < 0:
        row = _open_bundle(c, s, tape, here, k)
    at = take(s.items)
    items[at].item, items[at].next = item, NONE
    if rows[row].count == 0:
        rows[row].first = at
    else:
        items[rows[row].last].next = at
    rows[row].last = at
    rows[row].count += 1
    rows[row].size_bytes += length
    if rows[row].size_bytes == c.max_payload:  # l. 43
        _flush(c, s, tape, here, row)
