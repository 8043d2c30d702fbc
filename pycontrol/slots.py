"""Map dense ids (0, 1, 2, ...) to recycled slots, so that memory grows with the number of live ids, not of all ids.

`ring[id % len(ring)]` is the slot of a live id, or DEAD. Live ids lie in [base, next) of `at`; ids below are dead.
A state whose arrays have a row for each slot (axis SLOT) has its map in the field `slots`; `reserve` grows both. The
life of an id: `take`, `slot_of` as often as needed, `forget`, `give_back`.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeVar, cast

import numpy as np

from causeway.pycontrol.state_arrays import I32, Axis, Record, compiled, fields, fill, grown, inlined

DEAD = -1
RING, SLOT = Axis("ring"), Axis("slot")
S = TypeVar("S")


class Slots(NamedTuple):
    """A map from ids to slots, and the free slots."""

    ring: Annotated[I32, RING, fill(DEAD)]
    free: Annotated[I32, SLOT]
    at: Annotated[Record, fields(base="i8", next="i8", free="i8")]
    """The lowest id that may be live, the next id, and the number of free slots."""


@inlined
def slot_of(slots, id_):
    """Return the slot of a live id, or DEAD."""
    # without a branch, so that it costs nothing when it is inlined
    live = np.int64((id_ >= slots.at[0].base) & (id_ < slots.at[0].next))
    return live * np.int64(slots.ring[id_ & (len(slots.ring) - 1)]) + (live - 1)


@compiled
def has_room(slots):
    """Return whether there is room for one more id."""
    return (slots.at[0].free > 0) & (slots.at[0].next - slots.at[0].base < len(slots.ring))


@compiled
def take(slots):
    """Return a slot for the next id. There must be room."""
    slots.at[0].free -= 1
    slot = slots.free[slots.at[0].free]
    slots.ring[slots.at[0].next & (len(slots.ring) - 1)] = slot
    slots.at[0].next += 1
    return np.int64(slot)


@compiled
def forget(slots, id_):
    """Mark an id as dead. Its slot remains in use until `give_back`."""
    slots.ring[id_ & (len(slots.ring) - 1)] = DEAD


@compiled
def give_back(slots, slot):
    """Free the slot of a dead id."""
    slots.free[slots.at[0].free] = slot
    slots.at[0].free += 1


@compiled
def _advance(slots):
    """Move `base` past the dead ids at the beginning."""
    while slots.at[0].base < slots.at[0].next and slots.ring[slots.at[0].base & (len(slots.ring) - 1)] == DEAD:
        slots.at[0].base += 1


def new_slots(capacity: int = 64) -> Slots:
    """Return an empty map. Its slots are taken in the order 0, 1, 2, ...; `capacity` must be a power of two."""
    assert capacity & (capacity - 1) == 0, "a power of two"
    at = np.array([(0, 0, capacity)], fields(base="i8", next="i8", free="i8"))
    return Slots(np.full(capacity, DEAD, np.int32), np.arange(capacity, dtype=np.int32)[::-1].copy(), at)


def reserve(s: S, more: int) -> S:
    """Return the state with room for `more` ids. If its slots grow, so do all its arrays over SLOT."""
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
