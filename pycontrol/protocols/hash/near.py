"""Algorithm 3 of the paper `hash` in the order of the authors' program (docs/papers/hash.md).

Two messages are near if their clocks differ by less than `near` counts. A message carries the hash of the near messages
that its sender had delivered. The candidates of a receiver are the near messages that it has delivered itself and whose
clocks the message's clock covers. It first tries the set of all candidates, then sets without some of them, counting in
binary with the nearest candidate as the lowest digit. It gives up after `limit` sets.

Hence only the log2(limit) nearest candidates can be left out. A set without another candidate is not found, although
the search in `search.py` finds it.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocols.hash.search import hash_of
from causeway.pycontrol.state_arrays import compiled

ONE = np.uint64(1)
MOST_DIGITS = 30
"""The maximum number of candidates that are left out. 2**30 sets exceed every limit."""


@compiled
def _put(near, place, mate, distance):
    """Insert a candidate of the message at this place, in order of distance and then id.

    If the list is full, drop the last.
    """
    n, room = near.found[place], near.mates.shape[1]
    if n < room:
        near.found[place] += 1
    elif near.distance[place, room - 1] < distance or (
        near.distance[place, room - 1] == distance and near.mates[place, room - 1] < mate
    ):
        return
    i = min(n, room - 1)
    while i > 0 and (
        near.distance[place, i - 1] > distance
        or (near.distance[place, i - 1] == distance and near.mates[place, i - 1] > mate)
    ):
        near.distance[place, i] = near.distance[place, i - 1]
        near.mates[place, i] = near.mates[place, i - 1]
        i -= 1
    near.distance[place, i], near.mates[place, i] = distance, mate


@compiled
def meet(near, reach, p, message, clocks):
    """Find the messages near a new one of p, and return the hash that it carries.

    The clock of the message already counts it.
    """
    size = len(near.found)
    place = message & (size - 1)
    word, bit = place >> 6, ONE << np.uint64(place & 63)
    for x in range(near.clock.shape[1]):
        near.clock[place, x] = clocks[p, x]
    near.found[place] = 0
    carried = np.uint64(0)
    for other in range(max(0, message - size + 1), message):
        at = other & (size - 1)
        distance, ahead, behind = np.int64(0), np.int64(0), np.int64(0)
        for x in range(near.clock.shape[1]):
            difference = near.clock[place, x] - near.clock[at, x]
            distance += difference
            ahead += difference > 0
            behind += difference < 0
        if behind == 0 and distance < reach:
            _put(near, place, other, distance)
            if not near.lacks[p, at >> 6] & (ONE << np.uint64(at & 63)):
                carried += hash_of(other)
        if ahead == 0 and -distance < reach:
            _put(near, at, message, -distance)
    for q in range(len(near.lacks)):
        near.lacks[q, word] |= bit
    near.lacks[p, word] &= ~bit
    return carried


@compiled
def find_near(near, c, p, message, carried, newest):
    """Return whether process p finds a set with the carried hash, and the number of hashes computed.

    Ids are below `newest`.
    """
    size, hashes, left_out = len(near.found), near.hashes, near.left_out
    if message < newest - size:
        return False, 0
    place = message & (size - 1)
    candidates, rest = 0, np.uint64(0) - carried
    for i in range(near.found[place]):
        mate = near.mates[place, i]
        at = mate & (size - 1)
        if mate >= newest - size and not near.lacks[p, at >> 6] & (ONE << np.uint64(at & 63)):
            hashes[candidates] = hash_of(mate)
            rest += hashes[candidates]
            candidates += 1
    if rest & c.mask == 0:
        return True, 1
    left_out[0] = 0
    sets = min(np.int64(c.limit), np.int64(1) << min(candidates, MOST_DIGITS))
    digit = 0
    for number in range(1, sets):
        if number == np.int64(2) << digit:
            digit += 1
        left_out[number] = left_out[number - (np.int64(1) << digit)] + hashes[digit]
        if (rest - left_out[number]) & c.mask == 0:
            return True, number + 1
    return False, max(np.int64(1), sets)
