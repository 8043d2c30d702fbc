"""What leaves a process of ladc18 (Algorithm 2): actions, and bundles that wait. `# l. N` is the paper's line."""

from __future__ import annotations

from causeway.pycontrol.arrays import compiled
from causeway.pycontrol.protocols.ladc18.state import (
    ACK_MESSAGES,
    B_BYTES,
    B_COUNT,
    B_DUE,
    B_FIRST,
    B_K,
    B_LAST,
    B_NEXT,
    B_TIMER,
    BUNDLES,
    CARRIED,
    I_ITEM,
    I_NEXT,
    ITEMS,
    NONE,
    OWN_PACKETS,
    PACKETS,
    TIMERS,
    TREE_MESSAGES,
    UNFINISHED,
)

ACT_SEND, ACT_SET_TIMER, ACT_CANCEL_TIMER = 0, 1, 2


# ---- VCube -----------------------------------------------------------------------------------------------------------
@compiled
def cluster_of(i, j):
    """The index of the cluster of i that holds j."""
    differ, s = i ^ j, 0
    while differ:
        differ >>= 1
        s += 1
    return s


@compiled
def ff_neighbor(s, viewer, i, cluster):
    """The first process of i's cluster that the viewer takes for correct, or -1."""
    first = i ^ (1 << (cluster - 1))
    for offset in range(1 << (cluster - 1)):
        if s.correct[viewer, first ^ offset]:
            return first ^ offset
    return NONE


# ---- rows of a pool --------------------------------------------------------------------------------------------------
@compiled
def take(pool, next_column, count, which):
    """A free row of a pool: `count[which]` rows have been in use, those freed since are chained from `which + 1`."""
    row = count[which + 1]
    if row > 0:
        count[which + 1] = pool[row, next_column]
        return row
    count[which] += 1
    return count[which] - 1


@compiled
def free_row(pool, next_column, count, which, row):
    pool[row, next_column] = count[which + 1]
    count[which + 1] = row


# ---- what leaves the process -----------------------------------------------------------------------------------------
@compiled
def act(out, kind, time_ps, node, ref, peer, size_bytes):
    """One action."""
    row = out.rows[0]
    out.rows[0] += 1
    out.kind[row] = kind
    out.time_ps[row] = time_ps
    out.node[row] = node
    out.ref[row] = ref
    out.peer[row] = peer
    out.size_bytes[row] = size_bytes


@compiled
def send_packet(c, s, out, node, peer, size_bytes, now_ps):
    """Sends what has been put into `carried` since the last packet."""
    packet = s.counts[PACKETS]
    s.counts[PACKETS] += 1
    s.sender[packet] = node
    s.end[packet + 1] = s.counts[CARRIED]
    act(out, ACT_SEND, now_ps + c.reaction_ps, node, packet, peer, size_bytes)


@compiled
def carry(s, item):
    """Puts an item into the packet that is sent next."""
    s.carried[s.counts[CARRIED]] = item
    s.counts[CARRIED] += 1


@compiled
def set_timer(c, s, out, node, delay_ps, now_ps):
    """Sets a timer; returns its id."""
    timer = s.counts[TIMERS]
    s.counts[TIMERS] += 1
    act(out, ACT_SET_TIMER, now_ps + c.reaction_ps + delay_ps, node, timer, 0, 0)
    return timer


@compiled
def cancel_timer(c, out, node, timer, now_ps):
    act(out, ACT_CANCEL_TIMER, now_ps + c.reaction_ps, node, timer, 0, 0)


@compiled
def tell(out, op, i, m, now_ps):
    row = out.rows[1]
    out.rows[1] += 1
    out.op[row] = op
    out.op_time[row] = now_ps
    out.op_node[row] = i
    out.op_message[row] = m


@compiled
def _send_bundle(c, s, out, i, k, count, acks, now_ps):
    """Sends what has been carried as one packet of the broadcast: so many items, so many of them ACKs."""
    size_bytes = acks * c.ack_size + (count - acks) * c.tree_size
    s.counts[OWN_PACKETS] += 1
    s.counts[ACK_MESSAGES] += acks
    s.counts[TREE_MESSAGES] += count - acks
    if i == 0:
        row = out.rows[2]
        out.rows[2] += 1
        out.sample_time[row] = now_ps
        out.sample_items[row] = count
        out.sample_bytes[row] = size_bytes
    send_packet(c, s, out, i, k, size_bytes, now_ps)


# ---- bundling (l. 36-50, 70-72) --------------------------------------------------------------------------------------
@compiled
def bundle_for(s, i, k):
    """The row of delay_msg[k], or -1."""
    row = s.first_bundle[i]
    while row >= 0 and s.bundle[row, B_K] != k:
        row = s.bundle[row, B_NEXT]
    return row


@compiled
def _open_bundle(c, s, out, i, k, now_ps):
    row = take(s.bundle, B_NEXT, s.counts, BUNDLES)
    s.bundle[row, B_K] = k
    s.bundle[row, B_BYTES] = s.bundle[row, B_COUNT] = 0
    s.bundle[row, B_FIRST] = s.bundle[row, B_LAST] = s.bundle[row, B_NEXT] = NONE
    s.bundle[row, B_DUE] = now_ps + c.max_delay_ps
    s.bundle[row, B_TIMER] = set_timer(c, s, out, i, c.max_delay_ps - c.reaction_ps, now_ps)
    s.counts[UNFINISHED] += 1
    if s.first_bundle[i] < 0:
        s.first_bundle[i] = row
        return row
    last = s.first_bundle[i]
    while s.bundle[last, B_NEXT] >= 0:
        last = s.bundle[last, B_NEXT]
    s.bundle[last, B_NEXT] = row
    return row


@compiled
def close_bundle(s, i, row, keep):
    """Takes the bundle out of delay_msg; with `keep` its items go into the next packet. How many of them are ACKs."""
    at = s.bundle[row, B_FIRST]
    acks = 0
    while at >= 0:
        following = s.item[at, I_NEXT]
        if keep:
            carry(s, s.item[at, I_ITEM])
            acks += s.item[at, I_ITEM] & 1
        free_row(s.item, I_NEXT, s.counts, ITEMS, at)
        at = following
    if s.first_bundle[i] == row:
        s.first_bundle[i] = s.bundle[row, B_NEXT]
    else:
        before = s.first_bundle[i]
        while s.bundle[before, B_NEXT] != row:
            before = s.bundle[before, B_NEXT]
        s.bundle[before, B_NEXT] = s.bundle[row, B_NEXT]
    free_row(s.bundle, B_NEXT, s.counts, BUNDLES, row)
    s.counts[UNFINISHED] -= 1
    return acks


@compiled
def send_delayed(c, s, out, i, row, now_ps):
    k, count = s.bundle[row, B_K], s.bundle[row, B_COUNT]
    acks = close_bundle(s, i, row, True)
    _send_bundle(c, s, out, i, k, count, acks, now_ps)


@compiled
def _flush(c, s, out, i, row, now_ps):
    """Sends a bundle and stops its timer."""
    cancel_timer(c, out, i, s.bundle[row, B_TIMER], now_ps)
    send_delayed(c, s, out, i, row, now_ps)


@compiled
def flush_due(c, s, out, i, now_ps):
    """A bundle whose time is up goes before anything that happens at the same instant is handled: the tie that the
    message counts of Tables 3 and 4 decide. All timers run equally long: the first bundle is due first."""
    while s.first_bundle[i] >= 0 and s.bundle[s.first_bundle[i], B_DUE] <= now_ps:
        _flush(c, s, out, i, s.first_bundle[i], now_ps)


@compiled
def check_bundle(c, s, out, i, item, k, now_ps):  # l. 36
    length = c.ack_size if item & 1 else c.tree_size
    if length >= c.max_payload:
        carry(s, item)
        _send_bundle(c, s, out, i, k, 1, item & 1, now_ps)
        return
    row = bundle_for(s, i, k)
    if row >= 0 and s.bundle[row, B_BYTES] + length > c.max_payload:  # l. 39
        _flush(c, s, out, i, row, now_ps)
        row = NONE
    if row < 0:
        row = _open_bundle(c, s, out, i, k, now_ps)
    at = take(s.item, I_NEXT, s.counts, ITEMS)
    s.item[at, I_ITEM] = item
    s.item[at, I_NEXT] = NONE
    if s.bundle[row, B_COUNT] == 0:
        s.bundle[row, B_FIRST] = at
    else:
        s.item[s.bundle[row, B_LAST], I_NEXT] = at
    s.bundle[row, B_LAST] = at
    s.bundle[row, B_COUNT] += 1
    s.bundle[row, B_BYTES] += length
    if s.bundle[row, B_BYTES] == c.max_payload:  # l. 43
        _flush(c, s, out, i, row, now_ps)
