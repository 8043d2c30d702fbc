"""Changes of a clock's size and of the components that a process increments (Sections III-D, IV-B, IV-C of dcs23)."""

from __future__ import annotations

import numpy as np

from causeway.network.random import below, draw, unit
from causeway.pycontrol.protocols.dcs.state import ABSENT, STREAM_ASSIGN, STREAM_POLICY
from causeway.pycontrol.state_arrays import compiled
from causeway.toolchain.jit import njit


@compiled
def assign(s, p, limit, avoid=ABSENT):
    """Draw a new S_incr for a process among the first `limit` components except `avoid`."""
    s.draws[p] += 1
    s.limit[p] = limit
    s.counts[0].assigned += 1
    width = s.s_incr.shape[1]
    if s.constant[0].by_id and avoid == ABSENT:
        _assign_by_id(s, p, limit)
        return
    taken = s.taken
    first = 0 if avoid == ABSENT else 1
    if first:
        taken[0] = avoid
    chosen = min(width, limit - first)
    for i in range(chosen):
        k = below(draw(s.constant[0].seed, STREAM_ASSIGN, p, s.draws[p] * width + i), limit - first - i)
        for q in range(first + i):  # `taken` is ascending; k becomes the k-th component that is not taken
            if taken[q] <= k:
                k += 1
        q = first + i
        while q > 0 and taken[q - 1] > k:
            taken[q] = taken[q - 1]
            q -= 1
        taken[q] = k
    place = 0
    for i in range(first + chosen):
        if taken[i] != avoid:
            s.s_incr[p, place] = taken[i]
            place += 1
    for i in range(place, width):
        s.s_incr[p, i] = ABSENT


@compiled
def _assign_by_id(s, p, limit):
    """Set S_incr to the components p, p + 1, ... modulo `limit`, so that consecutive processes differ."""
    width = s.s_incr.shape[1]
    chosen = min(width, limit)
    for i in range(width):
        s.s_incr[p, i] = ABSENT
    for i in range(chosen):
        k, q = (p + i) % limit, i
        while q > 0 and s.s_incr[p, q - 1] > k:
            s.s_incr[p, q] = s.s_incr[p, q - 1]
            q -= 1
        s.s_incr[p, q] = k


@njit()
def uniform(seed, nodes, tick):
    """Return a random number in [0, 1) for each of these processes at a tick."""
    drawn = np.empty(len(nodes))
    for i in range(len(nodes)):
        drawn[i] = unit(draw(seed, STREAM_POLICY, nodes[i], tick))
    return drawn


@compiled
def add(s, p):
    """Append a component of zeros and make all components active: Add(). There must be room for it."""
    size = s.clock.shape[1] // s.incarnation.shape[1]
    k = s.total[p]
    for x in range(k * size, (k + 1) * size):
        s.clock[p, x] = 0
    s.total[p] = k + 1
    s.active[p] = k + 1


@compiled
def assign_all(s, nodes, limits, avoid):
    """Call `assign` for several processes, limited to their active components."""
    for i in range(len(nodes)):
        assign(s, nodes[i], min(limits[i], s.active[nodes[i]]), avoid[i])


@compiled
def expand(s, nodes, wanted):
    """Activate components, or add them if none is inactive, until `wanted` of them are active (Section IV-C)."""
    for i in range(len(nodes)):
        p = nodes[i]
        before = s.active[p]
        while s.active[p] < min(wanted[i], s.incarnation.shape[1]):
            if s.active[p] < s.total[p]:
                s.active[p] += 1
            else:
                add(s, p)
        if s.active[p] != before:
            assign(s, p, s.active[p])


@compiled
def _learn_removals(s, p, slot):
    """Carry out the removals that a message proves by newer incarnations of components."""
    for c in range(s.length[slot]):
        if s.m_incarnation[slot, c] > s.incarnation[p, c]:
            s.total[p] = min(s.total[p], c)
            s.active[p] = min(s.active[p], c)
            s.incarnation[p, c] = s.m_incarnation[slot, c]
            s.counts[0].removed += 1


@compiled
def _has_news(s, p, slot, c):
    """Return whether an entry in component c of the message is greater than the process's own."""
    size = s.clock.shape[1] // s.incarnation.shape[1]
    for x in range(c * size, (c + 1) * size):
        if s.need[slot, x] > s.clock[p, x]:
            return True
    for i in range(s.m_s_incr.shape[1]):
        if s.m_s_incr[slot, i] == c:
            for x in s.f[s.sender[slot]]:
                if s.need[slot, c * size + x] + 1 > s.clock[p, c * size + x]:
                    return True
    return False


@compiled
def _check_expand(s, p, slot):
    """Add missing components, reactivate those with news, and then draw a new S_incr: checkExpand(), Section IV-B."""
    length = s.length[slot]
    before = s.active[p]
    if s.total[p] < length:
        while s.total[p] < length:
            add(s, p)
    else:
        for c in range(length - 1, s.active[p] - 1, -1):
            if _has_news(s, p, slot, c):
                s.active[p] = c + 1
                break
    if s.active[p] != before:
        s.counts[0].expanded_by_message += 1
        assign(s, p, s.active[p])


@compiled
def incarnations_differ(m_incarnation, incarnation, p, slot, length):
    """Return whether a message and a process differ in the incarnation of one of the first `length` components."""
    differ = False
    for c in range(length):
        differ |= m_incarnation[slot, c] != incarnation[p, c]
    return differ


@compiled
def adapt(s, p, slot):
    """Carry out removals and expansions before a message is compared.

    Return False if the message carries a component that was removed here.
    """
    for c in range(s.length[slot]):
        if s.m_incarnation[slot, c] < s.incarnation[p, c]:
            return False
    _learn_removals(s, p, slot)
    if s.active[p] < s.length[slot]:
        _check_expand(s, p, slot)
    return True
