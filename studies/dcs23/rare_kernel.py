"""What `rare.Exposed` does for every broadcast, delivery and wait of a run of exact clocks.

Sets are bitsets over the last messages, by slot: `delivered[p]`, and `past[slot]`, what the sender of a message had
delivered. `line[p]` is what waits at p, in order of arrival.
"""

from __future__ import annotations

import numba
import numpy as np

from causeway.pycontrol.protocol import BROADCAST, DELIVER, HELD

ONE = np.uint64(1)
NOBODY = -1
WAITS, MISSES, OTHERS = range(3)
"""Of a line's row: the slot of the message, of the one it waits for (or NOBODY), and how many could cover that."""


@numba.njit(cache=True)
def watch(op, node, message, delivered, past, sender, owed, stamp, waiting, line, counts):
    """False if the messages looked back on are too few."""
    for i in range(len(op)):
        p, slot = node[i], message[i] & (len(past) - 1)
        if op[i] == BROADCAST:
            if owed[slot]:
                return False
            _take(slot, delivered, past)
            past[slot] = delivered[p]
            sender[slot], owed[slot] = p, len(waiting)
        elif op[i] == DELIVER:
            delivered[p, slot >> 6] |= ONE << np.uint64(slot & 63)
            owed[slot] -= 1
            if waiting[p]:
                _leave(p, slot, waiting, line, counts)
                _test_line(p, delivered, past, sender, stamp, waiting, line, counts)
        elif op[i] == HELD:
            at = waiting[p]
            line[p, at, WAITS], line[p, at, MISSES], line[p, at, OTHERS] = slot, NOBODY, NOBODY
            waiting[p] += 1
            _test(p, at, delivered, past, sender, stamp, waiting, line, counts)
    return True


@numba.njit(cache=True)
def _take(slot, delivered, past):
    """The slot's earlier message is everywhere: it is in no set any more."""
    w, keep = slot >> 6, ~(ONE << np.uint64(slot & 63))
    for q in range(len(delivered)):
        delivered[q, w] &= keep
    for other in range(len(past)):
        past[other, w] &= keep


@numba.njit(cache=True)
def _count(at, line_p, counts):
    """What the message at this place waited for will not be covered any more."""
    if line_p[at, MISSES] != NOBODY:
        counts[min(line_p[at, OTHERS], len(counts) - 2)] += 1


@numba.njit(cache=True)
def _leave(p, slot, waiting, line, counts):
    """A message that waited has been delivered."""
    for at in range(waiting[p]):
        if line[p, at, WAITS] == slot:
            _count(at, line[p], counts)
            counts[-1] += line[p, at, OTHERS] == NOBODY
            for later in range(at, waiting[p] - 1):
                line[p, later] = line[p, later + 1]
            waiting[p] -= 1
            return


@numba.njit(cache=True)
def _test_line(p, delivered, past, sender, stamp, waiting, line, counts):
    """After each delivery what waits is tested in order of arrival, up to the first that may be delivered."""
    for at in range(waiting[p]):
        if not _lacks(p, line[p, at, WAITS], delivered, past):
            return
        _test(p, at, delivered, past, sender, stamp, waiting, line, counts)


@numba.njit(cache=True)
def _lacks(p, slot, delivered, past):
    lacking = np.uint64(0)
    for w in range(past.shape[1]):
        lacking |= past[slot, w] & ~delivered[p, w]
    return lacking != 0


@numba.njit(cache=True)
def _held_too(p, slot, delivered, past, waiting, line):
    """Whether a message waits here itself, for something that is still to come. If that is covered, it does not."""
    for at in range(waiting[p]):
        if line[p, at, WAITS] == slot:
            return _lacks(p, slot, delivered, past)
    return False


@numba.njit(cache=True)
def _test(p, at, delivered, past, sender, stamp, waiting, line, counts):
    """What the message at this place of the line lacks now, if it is one message, and how many others could cover it:
    processes of which p has delivered something that the sender of the message had not."""
    slot, missing, several, others = line[p, at, WAITS], NOBODY, False, 0
    stamp[-1] += 1
    for w in range(past.shape[1]):
        lacking, more = past[slot, w] & ~delivered[p, w], delivered[p, w] & ~past[slot, w]
        bit = 0
        while lacking | more:
            if (lacking & ONE) and not _held_too(p, 64 * w + bit, delivered, past, waiting, line):
                several |= missing != NOBODY
                missing = 64 * w + bit
            if more & ONE:
                q = sender[64 * w + bit]
                others += stamp[q] != stamp[-1]
                stamp[q] = stamp[-1]
            lacking, more, bit = lacking >> ONE, more >> ONE, bit + 1
    if several:
        return
    if missing != line[p, at, MISSES]:
        _count(at, line[p], counts)
        line[p, at, MISSES] = missing
    line[p, at, OTHERS] = others
