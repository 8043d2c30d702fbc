"""Algorithm 3 of the paper `hash`: search for a set of delivered messages with the hash of the dependencies.

The hash of a set is the sum of its messages' 64-bit hashes, and a process knows the hash of all its deliveries. All
dependencies have been delivered exactly if there is a set X of deliveries, those that the sender had not made, with the
hash

    hash(X) = hash(deliveries of p) - hash(deliveries of the sender)

The clocks determine how often each entry is counted in X: clock[p][x] - need[x]. Only such sets are tried, those of
newer messages first. Adding a message to a set costs one hash, and after `limit` hashes (the paper's l) the search
gives up.

A message carries the hash of all its sender's deliveries. The paper's hash covers those since the sender's last
message, which is equivalent, since a receiver knows the rest from that message.
"""

from __future__ import annotations

import numpy as np

from causeway.network.random import mix
from causeway.pycontrol.state_arrays import compiled, inlined


@inlined
def hash_of(message):
    """Return the hash of one message. Its dense id replaces (process, sequence number)."""
    return mix(np.uint64(message) + np.uint64(0x9E3779B97F4A7C15))


@compiled
def _complete(search, c, left, rest, tried):
    """Search depth first, newest candidates first, for a set with the counts `wanted` and the hash `rest`.

    The invariant is cover >= wanted: the remaining candidates suffice for the counts that are still wanted, whose sum
    is `left`. After all sets have been tried, the arrays have their former contents.

    Returns:
        Whether a set was found, and the hashes computed so far.
    """
    wanted, cover, entries, hashes, chosen = search.wanted, search.cover, search.entries, search.hashes, search.chosen
    each, mask, limit = entries.shape[1], c.mask, c.limit
    i = 0
    while True:
        if left == 0 and rest & mask == 0:
            return True, tried
        if left > 0:
            fits, spare = True, True
            for j in range(each):
                x = entries[i, j]
                fits &= wanted[x] > 0
                spare &= cover[x] > wanted[x]
            if fits or spare:
                if fits:
                    if tried >= limit:
                        return False, tried
                    tried += 1
                    left -= each
                    rest -= hashes[i]
                for j in range(each):
                    wanted[entries[i, j]] -= fits
                    cover[entries[i, j]] -= 1
                chosen[i] = fits
                i += 1
                continue
        i -= 1
        while i >= 0:  # go back to the last chosen candidate that the others can replace
            spare = chosen[i]
            if chosen[i]:
                left += each
                rest += hashes[i]
            for j in range(each):
                x = entries[i, j]
                wanted[x] += chosen[i]
                cover[x] += 1
                spare &= cover[x] > wanted[x]
            if spare:
                for j in range(each):
                    cover[entries[i, j]] -= 1
                chosen[i] = False
                i += 1
                break
            i -= 1
        if i < 0:
            return False, tried


@compiled
def find_dependencies(search, c, p, slot, rest):
    """Return whether process p finds a set X with hash `rest` for the message in the slot, and the number of hashes."""
    clock, f, need, senders, messages = search.clock, search.f, search.need, search.senders, search.messages
    wanted, cover, entries, hashes = search.wanted, search.cover, search.entries, search.hashes
    mask, limit, delivered = c.mask, c.limit, search.delivered[p]
    each, left = f.shape[1], np.int64(0)
    for x in range(clock.shape[1]):
        difference = clock[p, x] - need[slot, x]
        wanted[x] = difference
        cover[x] = 0
        left += difference
    if left == 0 or left % each:
        return left == 0 and rest & mask == 0, 1
    candidates, tried, uncovered, last = 0, 0, left, senders.shape[1] - 1
    for back in range(1, min(delivered, senders.shape[1]) + 1):
        place = (delivered - back) & last
        sender = senders[p, place]
        fits = True
        for j in range(each):
            entries[candidates, j] = f[sender, j]
            fits &= wanted[f[sender, j]] > 0
        if not fits:
            continue
        hashes[candidates] = hash_of(messages[p, place])
        for j in range(each):
            uncovered -= cover[f[sender, j]] < wanted[f[sender, j]]
        if uncovered == 0:  # try the sets in which this candidate is the oldest message
            if tried >= limit:
                return False, tried
            for j in range(each):
                wanted[f[sender, j]] -= 1
            found, tried = _complete(search, c, left - each, rest - hashes[candidates], tried + 1)
            if found or tried >= limit:
                return found, tried
            for j in range(each):
                wanted[f[sender, j]] += 1
        for j in range(each):
            cover[f[sender, j]] += 1
        candidates += 1
    return False, tried
