"""Arrays for compiled protocols: a field is declared once, with its type, its axes and what fills it.

    class State(NamedTuple):
        clock: Annotated[I32, NODE, ENTRY]
        first: Annotated[I32, NODE, fill(END)]
        counts: Counts

    s = allocate(State, node=200, entry=50)
    s = grown(s, node=400)

A state is a tuple of arrays: numba takes tuples, and what a kernel writes is there in Python. Numbers that belong
to nobody (counters, the next free row) are fields of a `Record`: `s.counts[0].waiting += 1` in a kernel,
`s.counts["waiting"][0]` in Python. States may hold other states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.jit import compiled as compiled
from causeway.bridge.jit import inlined as inlined

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Rows = NDArray[np.void]
"""An array of records, with their type in the annotation: `Annotated[Rows, fields(a="i4", b="i4"), POOL]`."""
Record = NDArray[np.void]
"""An array of one record, which starts as zeros: `Annotated[Record, fields(waiting="i8")]`. (A call takes 0.2 us longer
for one than for an array of numbers, and 0.4 us for a record that is in no array; using its fields costs the same.)"""


class Axis(NamedTuple):
    """One dimension of an array: as long as what it is named after, or a known share of that."""

    name: str
    per: int = 1
    """So many of them share a place: 64 for the words of a bitset."""
    more: int = 0

    def length(self, sizes: dict[str, int]) -> int:
        return -(-sizes[self.name] // self.per) + self.more

    @property
    def words(self) -> Axis:
        """A bitset over this axis."""
        return self._replace(per=64)


@dataclass(frozen=True)
class fill:
    """What a field begins with, and is filled with as it grows, where that is not 0."""

    value: int


COUNTING = fill(-(1 << 62))
"""Places hold their own number."""


def fields(**types: str) -> np.dtype[np.void]:
    """The type of a record: names and numpy's names of types."""
    return np.dtype(list(types.items()), align=True)


class _Field(NamedTuple):
    """A field as it was declared. `state`: it is a state of its own."""

    name: str
    dtype: np.dtype[Any]
    axes: tuple[Axis, ...]
    filled: int
    state: type | None

    def make(self, sizes: dict[str, int]) -> Any:
        shape = tuple(axis.length(sizes) for axis in self.axes) or (1,)
        if self.filled == COUNTING.value:
            return np.arange(shape[0], dtype=self.dtype)
        return np.full(shape, self.filled, self.dtype) if self.filled else np.zeros(shape, self.dtype)


@cache
def _declarations(state: Any) -> tuple[_Field, ...]:
    return tuple(_declared(name, hint) for name, hint in get_type_hints(state, include_extras=True).items())


def _declared(name: str, hint: Any) -> _Field:
    if get_origin(hint) is not Annotated:
        return _Field(name, np.dtype(np.void), (), 0, hint)
    array, *about = get_args(hint)
    types = [a for a in about if isinstance(a, np.dtype)]
    dtype = types[0] if types else np.dtype(get_args(get_args(array)[1])[0])
    filled = next((a.value for a in about if isinstance(a, fill)), 0)
    return _Field(name, dtype, tuple(a for a in about if isinstance(a, Axis)), filled, None)


S = TypeVar("S")


def allocate(state: type[S], given: dict[str, Any] | None = None, **sizes: int) -> S:
    """A state with axes of these sizes. `given`: fields that are there already."""
    made = dict(given or {})
    for field in _declarations(cast(Any, state)):
        if field.name not in made:
            made[field.name] = allocate(field.state, None, **sizes) if field.state else field.make(sizes)
    return state(**made)


def grown(s: S, **sizes: int) -> S:
    """The state with these axes longer: what was there stays at the beginning, the rest is filled as declared."""
    longer = {}
    for field in _declarations(cast(Any, type(s))):
        old = getattr(s, field.name)
        if field.state:
            longer[field.name] = grown(old, **sizes)
        elif any(axis.name in sizes for axis in field.axes):
            now = zip(field.axes, old.shape, strict=True)
            shape = tuple(max(axis.length(sizes), n) if axis.name in sizes else n for axis, n in now)
            if shape != old.shape:
                longer[field.name] = _widened(field, old, shape)
    return cast(S, cast(Any, s)._replace(**longer))


def _widened(field: _Field, old: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    whole = field._replace(axes=tuple(Axis(str(i)) for i in range(len(shape))))
    new: NDArray[Any] = whole.make({str(i): n for i, n in enumerate(shape)})
    new[tuple(slice(n) for n in old.shape)] = old
    return new


def with_room(s: S, **rows: int) -> S:
    """The state with room for so many rows of these axes: at least twice as long as before where that is too few."""
    for name, n in rows.items():
        array_of, dimension, more = _measure(cast(Any, type(s)), name)
        if n > (had := array_of(s).shape[dimension] - more):
            s = grown(s, **{name: max(n, 2 * had)})
    return s


def size_of(s: Any, name: str) -> int:
    """How long an axis is."""
    array_of, dimension, more = _measure(cast(Any, type(s)), name)
    return int(array_of(s).shape[dimension]) - more


@cache
def _measure(state: Any, name: str) -> tuple[attrgetter[Any], int, int]:
    """Where to look for the length of an axis: an array, which of its dimensions, and how much longer that is."""
    return next(_measures(state, name, ""))


def _measures(state: Any, name: str, path: str) -> Iterator[tuple[attrgetter[Any], int, int]]:
    for field in _declarations(state):
        if field.state:
            yield from _measures(field.state, name, path + field.name + ".")
        for dimension, axis in enumerate(field.axes):
            if axis.name == name and axis.per == 1:
                yield attrgetter(path + field.name), dimension, axis.more
