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

import numpy as np

from causeway.bridge.random import mix
from causeway.pycontrol.arrays import compiled, inlined


@inlined
def hash_of(message):
    """The hash of one message. Its dense id stands for (process, sequence number)."""
    return mix(np.uint64(message) + np.uint64(0x9E3779B97F4A7C15))


@compiled
def _complete(search, c, left, rest, tried):
    """Depth first over the candidates, newest first, for a set that counts what is wanted and has the hash `rest`.

    What candidates can count never falls below what is wanted, the sum of which is `left`. Returns (found, hashes
    computed); if it went through all sets, the arrays are as they were.
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
        while i >= 0:  # back to the last one chosen that can be spared
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
    """Whether process p finds a set X for the message in the slot, and how many hashes that took. `rest` is hash(X)."""
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
        if uncovered == 0:  # now the sets of which this one is the oldest message
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
