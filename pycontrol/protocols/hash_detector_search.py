"""Algorithm 3 of the paper `hash`: is there a set of delivered messages whose hash is that of the dependencies?

Read backwards it is a small search. The hash of a set is the sum of its messages' 64-bit hashes, and a process knows
the hash of all it has delivered. So all dependencies have been delivered exactly if some set X of deliveries (those
that the sender had not made yet) has the hash

    hash(X) = hash(all that p has delivered) - hash(all that the sender had delivered)

and the clocks say how often each entry is counted in X: clock[p][x] - need[x]. Only such sets are formed, those of
newer messages first. `limit` is the paper's l: a message added to a set costs one hash; after `limit` hashes the search
gives up. The hash that a message carries covers all that its sender had delivered; that says the same as the hash of
what it delivered since its last message (the paper's), since a receiver knows the rest from that last message.
"""

from __future__ import annotations

import numba
import numpy as np

from bridge.random import mix


@numba.njit(cache=True, inline="always")
def hash_of(message):
    """The hash of one message. Its dense id stands for (process, sequence number)."""
    return mix(np.uint64(message) + np.uint64(0x9E3779B97F4A7C15))


@numba.njit(cache=True, inline="always")
def _add(array, entries, i, number):
    for j in range(entries.shape[1]):
        array[entries[i, j]] += number


@numba.njit(cache=True, inline="always")
def _fits(wanted, entries, i):
    """Whether candidate i may be in a set that must count `wanted`."""
    fits = True
    for j in range(entries.shape[1]):
        fits &= wanted[entries[i, j]] > 0
    return fits


@numba.njit(cache=True, inline="always")
def _can_be_spared(wanted, cover, entries, i):
    """Whether the candidates that are left suffice without candidate i, which is one of them."""
    enough = True
    for j in range(entries.shape[1]):
        enough &= cover[entries[i, j]] > wanted[entries[i, j]]
    return enough


@numba.njit(cache=True)
def _complete(entries, hashes, wanted, cover, chosen, left, rest, mask, tried, limit):
    """Depth first over the candidates, newest first, for a set that counts `wanted` and has the hash `rest`.

    `cover[x]` is how many of the candidates still to come count in x; it never falls below `wanted[x]`, of which `left`
    is the sum. Returns (found, hashes computed); if it went through all sets, the arrays are as they were.
    """
    i = 0
    while True:
        if left == 0 and rest & mask == 0:
            return True, tried
        if left > 0:
            if _fits(wanted, entries, i):
                if tried >= limit:
                    return False, tried
                tried += 1
                _add(wanted, entries, i, -1)
                _add(cover, entries, i, -1)
                left -= entries.shape[1]
                rest -= hashes[i]
                chosen[i] = True
                i += 1
                continue
            if _can_be_spared(wanted, cover, entries, i):
                _add(cover, entries, i, -1)
                chosen[i] = False
                i += 1
                continue
        i -= 1
        while i >= 0:  # back to the last one chosen that can be spared
            _add(cover, entries, i, 1)
            if chosen[i]:
                _add(wanted, entries, i, 1)
                left += entries.shape[1]
                rest += hashes[i]
                if _can_be_spared(wanted, cover, entries, i):
                    _add(cover, entries, i, -1)
                    chosen[i] = False
                    i += 1
                    break
            i -= 1
        if i < 0:
            return False, tried


@numba.njit(cache=True)
def find_dependencies(
    f, clock, need, senders, messages, delivered, p, slot, rest, mask, limit, wanted, cover, entries, hashes, chosen
):
    """Whether process p finds a set X for the message in the slot, and how many hashes that took.

    `senders` and `messages` are rings of the last deliveries, of which `delivered` were made so far; `rest` is hash(X).
    The last five are room to work in, by entry and by candidate.
    """
    each, left = f.shape[1], np.int64(0)
    for x in range(len(wanted)):
        cover[x] = 0
        wanted[x] = clock[p, x] - need[slot, x]
        left += wanted[x]
    if left == 0 or left % each:
        return left == 0 and rest & mask == 0, 1
    candidates, tried, uncovered = 0, 0, left
    kept = senders.shape[1]
    for back in range(1, min(delivered[p], kept) + 1):
        place = (delivered[p] - back) & (kept - 1)
        for j in range(each):
            entries[candidates, j] = f[senders[p, place], j]
        if not _fits(wanted, entries, candidates):
            continue
        hashes[candidates] = hash_of(messages[p, place])
        for j in range(each):
            x = entries[candidates, j]
            uncovered -= cover[x] < wanted[x]
        if uncovered == 0:  # now the sets of which this one is the oldest message
            if tried >= limit:
                return False, tried
            tried += 1
            _add(wanted, entries, candidates, -1)
            found, tried = _complete(
                entries, hashes, wanted, cover, chosen, left - each, rest - hashes[candidates], mask, tried, limit
            )
            if found or tried >= limit:
                return found, tried
            _add(wanted, entries, candidates, 1)
        _add(cover, entries, candidates, 1)
        candidates += 1
    return False, tried

