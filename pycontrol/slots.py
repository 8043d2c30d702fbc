"""Dense ids (0, 1, 2, ...) mapped to recycled slots, so that memory follows what is in flight, not what has been.

`ring[id % len(ring)]` is the slot of a live id, or DEAD. Live ids lie in [base, next) of `at`; ids below are dead.
A state whose arrays have a row for each slot (axis SLOT) has its map in the field `slots`; `reserve` lets both grow.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeVar, cast

import numpy as np

from causeway.pycontrol.arrays import I32, Axis, Record, compiled, fields, fill, grown, inlined

DEAD = -1
RING, SLOT = Axis("ring"), Axis("slot")
S = TypeVar("S")


class Slots(NamedTuple):
    """The map, and the slots that are free."""

    ring: Annotated[I32, RING, fill(DEAD)]
    free: Annotated[I32, SLOT]
    at: Annotated[Record, fields(base="i8", next="i8", free="i8")]
    """The lowest id that may be live, the next id, and the number of free slots."""


@inlined
def slot_of(slots, id_):
    """The slot of a live id, or DEAD."""
    live = np.int64((id_ >= slots.at[0].base) & (id_ < slots.at[0].next))  # no branch, so that it costs nothing inlined
    return live * np.int64(slots.ring[id_ & (len(slots.ring) - 1)]) + (live - 1)


@compiled
def has_room(slots):
    """Whether one more id can be taken."""
    return (slots.at[0].free > 0) & (slots.at[0].next - slots.at[0].base < len(slots.ring))


@compiled
def take(slots):
    """A slot for the next id. There must be room."""
    slots.at[0].free -= 1
    slot = slots.free[slots.at[0].free]
    slots.ring[slots.at[0].next & (len(slots.ring) - 1)] = slot
    slots.at[0].next += 1
    return np.int64(slot)


@compiled
def forget(slots, id_):
    """The id is dead from now on; its slot is not free yet."""
    slots.ring[id_ & (len(slots.ring) - 1)] = DEAD


@compiled
def give_back(slots, slot):
    """The slot of a dead id may be taken again."""
    slots.free[slots.at[0].free] = slot
    slots.at[0].free += 1


@compiled
def _advance(slots):
    """Moves `base` over the dead ids at the beginning."""
    while slots.at[0].base < slots.at[0].next and slots.ring[slots.at[0].base & (len(slots.ring) - 1)] == DEAD:
        slots.at[0].base += 1


def new_slots(capacity: int = 64) -> Slots:
    """No ids yet, and so many slots, which are taken in order."""
    assert capacity & (capacity - 1) == 0, "a power of two"
    at = np.array([(0, 0, capacity)], fields(base="i8", next="i8", free="i8"))
    return Slots(np.full(capacity, DEAD, np.int32), np.arange(capacity, dtype=np.int32)[::-1].copy(), at)


def reserve(s: S, more: int) -> S:
    """The state with room for `more` ids. If its slots grow, so do all its arrays over SLOT."""
    slots = cast(Any, s).slots
    base, following, free = slots.at.item()
    if free >= more and following - base + more <= len(slots.ring):
        return s
    return cast(S, _with_room(s, slots, more))


def _with_room(state: Any, slots: Slots, more: int) -> Any:
    before = len(slots.free)
    _advance(slots)
    while slots.at["next"][0] - slots.at["base"][0] + more > len(slots.ring):
        slots = _with_longer_ring(slots)
    while slots.at["free"][0] < more:
        slots = _with_more_slots(slots)
    if len(slots.free) > before:
        state = grown(state, slot=len(slots.free))
    return state._replace(slots=slots)


def _with_longer_ring(slots: Slots) -> Slots:
    mask = len(slots.ring) - 1
    ring = np.full(2 * len(slots.ring), DEAD, np.int32)
    ids = np.arange(slots.at["base"][0], slots.at["next"][0])
    ring[ids & (2 * mask + 1)] = slots.ring[ids & mask]
    return slots._replace(ring=ring)


def _with_more_slots(slots: Slots) -> Slots:
    capacity, count = len(slots.free), int(slots.at["free"][0])
    fresh = np.arange(2 * capacity - 1, capacity - 1, -1, dtype=np.int32)
    slots.at["free"] = capacity + count
    return slots._replace(free=np.concatenate([fresh, slots.free[:count], np.empty(capacity - count, np.int32)]))
