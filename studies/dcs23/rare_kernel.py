"""What `rare.Exposed` does for every broadcast, delivery and wait of a run of exact clocks.

Sets of messages are bitsets over the last ones, by slot.
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
"""Of a line's row: the slot of the message, of the one it waits for (or NOBODY), and how many could cover that."""


class RareState(NamedTuple):
    """Everything the kernel reads and writes."""

    delivered: NDArray[np.uint64]
    """By process."""
    past: NDArray[np.uint64]
    """By slot: what the sender of the message had delivered."""
    sender: NDArray[np.int32]
    owed: NDArray[np.int64]
    """By slot: how many have not delivered it yet."""
    stamp: NDArray[np.int64]
    """By process: when it was counted last; the last one is the clock of that."""
    waiting: NDArray[np.int64]
    """By process: how many messages wait there."""
    line: NDArray[np.int64]
    """By process: what waits there, in order of arrival."""
    counts: NDArray[np.int64]
    """Waits by others; the last but one is for all that have more, the last for waits for several messages."""


@njit()
def watch(s: Any, op: Any, node: Any, message: Any) -> bool:
    """False if the messages looked back on are too few."""
    for i in range(len(op)):
        p, slot = node[i], message[i] & (len(s.past) - 1)
        if op[i] == BROADCAST:
            if s.owed[slot]:
                return False
            _take(s, slot)
            s.past[slot] = s.delivered[p]
            s.sender[slot], s.owed[slot] = p, len(s.waiting)
        elif op[i] == DELIVER:
            s.delivered[p, slot >> 6] |= ONE << np.uint64(slot & 63)
            s.owed[slot] -= 1
            if s.waiting[p]:
                _leave(s, p, slot)
                _test_line(s, p)
        elif op[i] == HELD:
            at = s.waiting[p]
            s.line[p, at, WAITS], s.line[p, at, MISSES], s.line[p, at, OTHERS] = slot, NOBODY, NOBODY
            s.waiting[p] += 1
            _test(s, p, at)
    return True


@njit()
def _take(s, slot):
    """The slot's earlier message is everywhere: it is in no set any more."""
    w, keep = slot >> 6, ~(ONE << np.uint64(slot & 63))
    for q in range(len(s.delivered)):
        s.delivered[q, w] &= keep
    for other in range(len(s.past)):
        s.past[other, w] &= keep


@njit()
def _count(s, p, at):
    """What the message at this place waited for will not be covered any more."""
    if s.line[p, at, MISSES] != NOBODY:
        s.counts[min(s.line[p, at, OTHERS], len(s.counts) - 2)] += 1


@njit()
def _leave(s, p, slot):
    """A message that waited has been delivered."""
    for at in range(s.waiting[p]):
        if s.line[p, at, WAITS] == slot:
            _count(s, p, at)
            s.counts[-1] += s.line[p, at, OTHERS] == NOBODY
            for later in range(at, s.waiting[p] - 1):
                s.line[p, later] = s.line[p, later + 1]
            s.waiting[p] -= 1
            return


@njit()
def _test_line(s, p):
    """After each delivery what waits is tested in order of arrival, up to the first that may be delivered."""
    for at in range(s.waiting[p]):
        if not _lacks(s, p, s.line[p, at, WAITS]):
            return
        _test(s, p, at)


@njit()
def _lacks(s, p, slot):
    lacking = np.uint64(0)
    for w in range(s.past.shape[1]):
        lacking |= s.past[slot, w] & ~s.delivered[p, w]
    return lacking != 0


@njit()
def _held_too(s, p, slot):
    """Whether a message waits here itself, for something that is still to come. If that is covered, it does not."""
    for at in range(s.waiting[p]):
        if s.line[p, at, WAITS] == slot:
            return _lacks(s, p, slot)
    return False


@njit()
def _test(s, p, at):
    """What the message at this place of the line lacks now, if it is one message, and how many others could cover it:
    processes of which p has delivered something that the sender of the message had not."""
    slot, missing, several, others = s.line[p, at, WAITS], NOBODY, False, 0
    s.stamp[-1] += 1
    for w in range(s.past.shape[1]):
        lacking, more = s.past[slot, w] & ~s.delivered[p, w], s.delivered[p, w] & ~s.past[slot, w]
        bit = 0
        while lacking | more:
            if (lacking & ONE) and not _held_too(s, p, 64 * w + bit):
                several |= missing != NOBODY
                missing = 64 * w + bit
            if more & ONE:
                q = s.sender[64 * w + bit]
                others += s.stamp[q] != s.stamp[-1]
                s.stamp[q] = s.stamp[-1]
            lacking, more, bit = lacking >> ONE, more >> ONE, bit + 1
    if several:
        return
    if missing != s.line[p, at, MISSES]:
        _count(s, p, at)
        s.line[p, at, MISSES] = missing
    s.line[p, at, OTHERS] = others
