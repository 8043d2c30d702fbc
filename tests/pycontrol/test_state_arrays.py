"""States whose fields are declared once, and the tape that kernels write."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from causeway.pycontrol.slots import DEAD, SLOT, Slots, forget, give_back, new_slots, reserve, slot_of, take
from causeway.pycontrol.state_arrays import (
    COUNTING,
    I32,
    U64,
    Axis,
    Record,
    Rows,
    allocate,
    compiled,
    fields,
    fill,
    grown,
    size_of,
    with_room,
)

NODE, POOL = Axis("node"), Axis("pool")


class Pool(NamedTuple):
    spare: Annotated[I32, POOL, COUNTING]
    ends: Annotated[I32, POOL._replace(more=1)]
    pairs: Annotated[Rows, fields(a="i4", b="i8"), POOL]


class State(NamedTuple):
    slots: Slots
    first: Annotated[I32, NODE, fill(-1)]
    known: Annotated[U64, NODE, SLOT.words]
    past: Annotated[U64, SLOT, SLOT.words]
    pool: Pool
    counts: Annotated[Record, fields(waiting="i8", waited="i8")]


def new_state(nodes: int = 3) -> State:
    return allocate(State, {"slots": new_slots()}, node=nodes, slot=64, pool=4)


def test_a_state_has_the_shapes_types_and_values_that_its_fields_declare():
    s = new_state()
    assert s.first.tolist() == [-1, -1, -1] and s.first.dtype == np.int32
    assert s.known.shape == (3, 1) and s.past.shape == (64, 1) and not s.past.any()
    assert s.pool.spare.tolist() == [0, 1, 2, 3] and s.pool.ends.shape == (5,)
    assert s.pool.pairs.dtype.names == ("a", "b")
    assert s.counts.tolist() == [(0, 0)]


def test_growing_arrays_keep_their_contents_and_are_filled_as_declared():
    s = new_state()
    s.first[:] = 7
    s.known[:] = 5
    s.pool.spare[0] = 3
    bigger = grown(s, node=5, slot=128, pool=6)
    assert bigger.first.tolist() == [7, 7, 7, -1, -1]
    assert bigger.known.tolist() == [[5, 0]] * 3 + [[0, 0]] * 2
    assert bigger.past.shape == (128, 2)
    assert bigger.pool.spare.tolist() == [3, 1, 2, 3, 4, 5] and bigger.pool.ends.shape == (7,)


def test_growing_does_not_change_arrays_without_the_axis():
    s = new_state()
    bigger = grown(s, pool=6)
    assert bigger.first is s.first and bigger.known is s.known and bigger.slots.ring is s.slots.ring
    assert grown(s, node=3).first is s.first, "as long as it is already"


def test_room_at_least_doubles_and_only_where_there_is_too_little():
    s = new_state()
    assert with_room(s, pool=4) is s
    assert size_of(with_room(s, pool=5), "pool") == 8
    assert size_of(with_room(s, pool=20), "pool") == 20


@compiled
def _count(s, times):
    for _ in range(times):
        s.counts[0].waiting += 1
        s.pool.pairs[1].b = s.counts[0].waiting
    s.counts[0].waited = 9


def test_python_sees_the_values_that_a_kernel_writes_into_records():
    s = new_state()
    _count(s, 3)
    assert s.counts["waiting"] == 3 and s.counts["waited"] == 9
    assert s.pool.pairs["b"].tolist() == [0, 3, 0, 0]
    _count(grown(s, pool=8), 2)
    assert s.counts["waiting"] == 5, "a grown state counts on"


def test_slots_are_taken_in_order_and_their_growth_takes_the_state_along():
    s = new_state()
    assert [take(s.slots) for _ in range(64)] == list(range(64))
    s = reserve(s, 1)
    assert len(s.slots.free) == 128 and s.past.shape == (128, 2) and s.known.shape == (3, 2)
    assert take(s.slots) == 64
    assert [slot_of(s.slots, id_) for id_ in (0, 63, 64, 65, -1)] == [0, 63, 64, DEAD, DEAD]


def test_a_dead_id_gives_its_slot_to_the_next_one():
    s = new_state()
    for _ in range(64):
        take(s.slots)
    forget(s.slots, 0)
    give_back(s.slots, 0)
    same = reserve(s, 1)
    assert len(same.slots.free) == 64 and same.past is s.past
    assert take(same.slots) == 0 and slot_of(same.slots, 64) == 0 and slot_of(same.slots, 0) == DEAD
