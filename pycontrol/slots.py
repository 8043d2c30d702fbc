"""Dense ids (0, 1, 2, ...) mapped to recycled slots, so that memory follows what is in flight, not what has been.

`ring[id % len(ring)]` is the slot of a live id, or DEAD. Live ids lie in [state[BASE], state[NEXT]); ids below BASE are
dead.
The arrays may be handed to numba kernels; only `reserve` replaces them.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

DEAD = -1
BASE, NEXT, FREE = 0, 1, 2
"""Places in `state`: the lowest id that may be live, the next id, and the number of free slots."""


@numba.njit(cache=True)
def slot_of(ring, state, id_):
    """The slot of a live id, or DEAD."""
    live = np.int64((id_ >= state[BASE]) & (id_ < state[NEXT]))  # no branch, so that it costs nothing inlined
    return live * np.int64(ring[id_ & (len(ring) - 1)]) + (live - 1)


@numba.njit(cache=True)
def has_room(ring, state):
    """Whether one more id can be taken."""
    return (state[FREE] > 0) & (state[NEXT] - state[BASE] < len(ring))


@numba.njit(cache=True)
def take(ring, free, state):
    """A slot for the next id. There must be room."""
    state[FREE] -= 1
    slot = free[state[FREE]]
    ring[state[NEXT] & (len(ring) - 1)] = slot
    state[NEXT] += 1
    return np.int64(slot)


@numba.njit(cache=True)
def forget(ring, id_):
    """The id is dead from now on; its slot is not free yet."""
    ring[id_ & (len(ring) - 1)] = DEAD


@numba.njit(cache=True)
def give_back(free, state, slot):
    """The slot of a dead id may be taken again."""
    free[state[FREE]] = slot
    state[FREE] += 1


@numba.njit(cache=True)
def _advance(ring, state):
    """Moves BASE over the dead ids at the beginning."""
    while state[BASE] < state[NEXT] and ring[state[BASE] & (len(ring) - 1)] == DEAD:
        state[BASE] += 1


class Slots:
    """The map and the free slots."""

    def __init__(self, capacity: int = 64) -> None:
        assert capacity & (capacity - 1) == 0, "a power of two"
        self.ring: NDArray[np.int32] = np.full(capacity, DEAD, np.int32)
        self.free: NDArray[np.int32] = np.arange(capacity, dtype=np.int32)[::-1].copy()
        self.state: NDArray[np.int64] = np.array([0, 0, capacity], np.int64)

    @property
    def capacity(self) -> int:
        """How many ids can be live."""
        return len(self.free)

    def reserve(self, more: int) -> bool:
        """Makes room for `more` ids; True if the number of slots grew (arrays over slots must then grow too)."""
        _advance(self.ring, self.state)
        span = int(self.state[NEXT] - self.state[BASE]) + more
        while span > len(self.ring):
            self._grow_ring()
        grew = False
        while self.state[FREE] < more:
            self._grow_slots()
            grew = True
        return grew

    def _grow_ring(self) -> None:
        old, mask = self.ring, len(self.ring) - 1
        self.ring = np.full(2 * len(old), DEAD, np.int32)
        ids = np.arange(self.state[BASE], self.state[NEXT])
        self.ring[ids & (2 * mask + 1)] = old[ids & mask]

    def _grow_slots(self) -> None:
        capacity, count = self.capacity, int(self.state[FREE])
        fresh = np.arange(2 * capacity - 1, capacity - 1, -1, dtype=np.int32)
        self.free = np.concatenate([fresh, self.free[:count], np.empty(capacity - count, np.int32)])
        self.state[FREE] = capacity + count
