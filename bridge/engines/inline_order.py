"""The canonical order of the inline engine's events: (time, kind, node, ref)."""

from __future__ import annotations

from causeway.toolchain.jit import compiled

SORTED_RUN = 40
"""The length of runs that are sorted by insertion before they are merged."""


@compiled
def earlier(some, a, others, b):
    """Return whether event `some[a]` is before `others[b]` in canonical order."""
    if some[a].time != others[b].time:
        return some[a].time < others[b].time
    if some[a].kind != others[b].kind:
        return some[a].kind < others[b].kind
    if some[a].node != others[b].node:
        return some[a].node < others[b].node
    return some[a].ref < others[b].ref


@compiled
def sort(w, first, n):
    """Sort batch[first:n] in canonical order: runs by insertion, then merged."""
    batch, spare, some, others = w.batch, w.spare, w.places, w.more_places
    rows, run = n - first, SORTED_RUN
    for start in range(0, rows, run):
        _insert(batch, first, some, start, min(start + run, rows))
    while run < rows:
        for start in range(0, rows, 2 * run):
            _merge(batch, first, some, others, start, min(start + run, rows), min(start + 2 * run, rows))
        some, others = others, some
        run *= 2
    for i in range(rows):
        spare[i] = batch[first + some[i]]
    for i in range(rows):
        batch[first + i] = spare[i]


@compiled
def _insert(batch, first, places, start, end):
    """Sort the positions of a few events by insertion."""
    for i in range(start, end):
        j = i
        while j > start and earlier(batch, first + i, batch, first + places[j - 1]):
            places[j] = places[j - 1]
            j -= 1
        places[j] = i


@compiled
def _merge(batch, first, some, into, start, middle, end):
    """Merge two adjacent sorted runs."""
    a, b = start, middle
    for at in range(start, end):
        if b >= end or (a < middle and not earlier(batch, first + some[b], batch, first + some[a])):
            into[at] = some[a]
            a += 1
        else:
            into[at] = some[b]
            b += 1
