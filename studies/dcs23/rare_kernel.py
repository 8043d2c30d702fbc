"""The compiled part of `rare.Exposed`: count waits in a run of exact clocks. Start here: `watch`.

A set of messages is a bitset over the slots of the last messages; a message's slot is its id modulo their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causeway.pycontrol.protocol import BROADCAST, DELIVER, HELD
from causeway.toolchain.jit import njit

ONE = np.uint64(1)
NOBODY = -1
WAITS, MISSES, OTHERS = range(3)
"""The columns of a queue: the slot of the waiting message; the slot of the missing message, or NOBODY; and the number
of processes that could cover it."""


class RareState(NamedTuple):
    """The arrays that the kernel reads and writes."""

    delivered: NDArray[np.uint64]
    """The set of messages that each process has delivered."""
    past: NDArray[np.uint64]
    """The set of messages that the sender of each slot's message had delivered before."""
    sender: NDArray[np.int32]
    """The sender of each slot's message."""
    owed: NDArray[np.int64]
    """The number of processes that have not delivered each slot's message yet."""
    stamp: NDArray[np.int64]
    """The number of the last count in which each process was included. The last element numbers the counts."""
    waiting: NDArray[np.int64]
    """The number of messages in each process's queue."""
    queue: NDArray[np.int64]
    """The waiting messages of each process, in order of arrival."""
    counts: NDArray[np.int64]
    """The waits by number of others. The last element but one is for all larger numbers, the last for waits for several
    messages."""


@njit()
def watch(s: Any, op: Any, node: Any, message: Any) -> bool:
    """Process rows of observations.

    Return False if a slot is needed again before its message has been delivered everywhere.
    """
    for i in range(len(op)):
        p, slot = node[i], message[i] & (len(s.past) - 1)
        if op[i] == BROADCAST:
            if s.owed[slot]:
                return False
            _clear_slot(s, slot)
            s.past[slot] = s.delivered[p]
            s.sender[slot], s.owed[slot] = p, len(s.waiting)
        elif op[i] == DELIVER:
            s.delivered[p, slot >> 6] |= ONE << np.uint64(slot & 63)
            s.owed[slot] -= 1
            if s.waiting[p]:
                _remove(s, p, slot)
                _test_queue(s, p)
        elif op[i] == HELD:
            at = s.waiting[p]
            s.queue[p, at, WAITS], s.queue[p, at, MISSES], s.queue[p, at, OTHERS] = slot, NOBODY, NOBODY
            s.waiting[p] += 1
            _test(s, p, at)
    return True


@njit()
def _clear_slot(s, slot):
    """Remove the slot's earlier message, which has been delivered everywhere, from all sets."""
    w, keep = slot >> 6, ~(ONE << np.uint64(slot & 63))
    for q in range(len(s.delivered)):
        s.delivered[q, w] &= keep
    for other in range(len(s.past)):
        s.past[other, w] &= keep


@njit()
def _count(s, p, at):
    """Count the wait of the message at this place of the queue, if it waits for one message."""
    if s.queue[p, at, MISSES] != NOBODY:
        s.counts[min(s.queue[p, at, OTHERS], len(s.counts) - 2)] += 1


@njit()
def _remove(s, p, slot):
    """Remove a message that has been delivered from the queue of p, and count its wait."""
    for at in range(s.waiting[p]):
        if s.queue[p, at, WAITS] == slot:
            _count(s, p, at)
            s.counts[-1] += s.queue[p, at, OTHERS] == NOBODY
            for later in range(at, s.waiting[p] - 1):
                s.queue[p, later] = s.queue[p, later + 1]
            s.waiting[p] -= 1
            return


@njit()
def _test_queue(s, p):
    """Update the waits after a delivery, in order of arrival, up to the first message that may be delivered."""
    for at in range(s.waiting[p]):
        if not _lacks(s, p, s.queue[p, at, WAITS]):
            return
        _test(s, p, at)


@njit()
def _lacks(s, p, slot):
    """Return whether p has not yet delivered a message on which the message in this slot depends."""
    lacking = np.uint64(0)
    for w in range(s.past.shape[1]):
        lacking |= s.past[slot, w] & ~s.delivered[p, w]
    return lacking != 0


@njit()
def _is_waiting(s, p, slot):
    """Return whether a message is in the queue of p and still waits for another one.

    It is delivered as soon as the other one is covered, so it does not count as missing itself.
    """
    for at in range(s.waiting[p]):
        if s.queue[p, at, WAITS] == slot:
            return _lacks(s, p, slot)
    return False


@njit()
def _test(s, p, at):
    """Update the missing message of the message at this place of the queue, and the number of others.

    If several messages are missing, nothing changes. If the missing message has changed, the earlier wait is counted.
    The others are the processes with a message that p has delivered and the sender of the waiting message had not.
    """
    slot, missing, several, others = s.queue[p, at, WAITS], NOBODY, False, 0
    s.stamp[-1] += 1
    for w in range(s.past.shape[1]):
        lacking, more = s.past[slot, w] & ~s.delivered[p, w], s.delivered[p, w] & ~s.past[slot, w]
        bit = 0
        while lacking | more:
            if (lacking & ONE) and not _is_waiting(s, p, 64 * w + bit):
                several |= missing != NOBODY
                missing = 64 * w + bit
            if more & ONE:
                q = s.sender[64 * w + bit]
                others += s.stamp[q] != s.stamp[-1]
                s.stamp[q] = s.stamp[-1]
            lacking, more, bit = lacking >> ONE, more >> ONE, bit + 1
    if several:
        return
    if missing != s.queue[p, at, MISSES]:
        _count(s, p, at)
        s.queue[p, at, MISSES] = missing
    s.queue[p, at, OTHERS] = others
