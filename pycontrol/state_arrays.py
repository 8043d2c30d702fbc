"""Make arrays for compiled protocols: each field is declared with its type, its axes and its initial value.

    class State(NamedTuple):
        clock: Annotated[I32, NODE, ENTRY]
        first: Annotated[I32, NODE, fill(END)]
        counts: Counts

    s = allocate(State, node=200, entry=50)
    s = grown(s, node=400)

A state is a NamedTuple of arrays, since numba accepts tuples and shares the arrays' memory with Python. Single numbers
(counters, the next free row) are fields of a `Record`: `s.counts[0].waiting += 1` in a kernel,
`s.counts["waiting"][0]` in Python. A state may contain other states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from causeway.toolchain.jit import compiled as compiled
from causeway.toolchain.jit import inlined as inlined

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Rows = NDArray[np.void]
"""An array of records, with their type in the annotation: `Annotated[Rows, fields(a="i4", b="i4"), POOL]`."""
Record = NDArray[np.void]
"""An array of one record, which starts as zeros: `Annotated[Record, fields(waiting="i8")]`. Passing one to a kernel
takes 0.2 us longer than an array of numbers; a record outside of an array takes 0.4 us. Fields cost the same."""


class Axis(NamedTuple):
    """A dimension of an array. Its length is that of the size with its name, divided by `per`, plus `more`."""

    name: str
    per: int = 1
    """The number of items in one place, such as 64 for the words of a bitset."""
    more: int = 0
    """The number of additional places."""

    def length(self, sizes: dict[str, int]) -> int:
        """Return the length of the dimension for these sizes."""
        return -(-sizes[self.name] // self.per) + self.more

    @property
    def words(self) -> Axis:
        """The axis of the words of a bitset over this axis."""
        return self._replace(per=64)


@dataclass(frozen=True)
class fill:
    """The initial value of a field's items, also of items that are added later. The default is 0."""

    value: int


COUNTING = fill(-(1 << 62))
"""Each item starts as its own index. This value is only a marker and is not stored."""


def fields(**types: str) -> np.dtype[np.void]:
    """Return the dtype of a record. The arguments are the names of its fields with numpy's names of their types."""
    return np.dtype(list(types.items()), align=True)


class _Field(NamedTuple):
    """A declared field. `state` is its class if the field itself is a state."""

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
    """Return a new state with axes of these sizes. Fields in `given` are used as they are."""
    made = dict(given or {})
    for field in _declarations(cast(Any, state)):
        if field.name not in made:
            made[field.name] = allocate(field.state, None, **sizes) if field.state else field.make(sizes)
    return state(**made)


def grown(s: S, **sizes: int) -> S:
    """Return the state with longer axes. Old items stay at the beginning, and new ones get their initial values."""
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
    """Return the state with axes of at least these lengths.

    An axis that is too short becomes at least twice as long.
    """
    for name, n in rows.items():
        array_of, dimension, more = _measure(cast(Any, type(s)), name)
        if n > (had := array_of(s).shape[dimension] - more):
            s = grown(s, **{name: max(n, 2 * had)})
    return s


def size_of(s: Any, name: str) -> int:
    """Return the length of an axis."""
    array_of, dimension, more = _measure(cast(Any, type(s)), name)
    return int(array_of(s).shape[dimension]) - more


@cache
def _measure(state: Any, name: str) -> tuple[attrgetter[Any], int, int]:
    """Return an array with the axis, the dimension of the axis in it, and the number of additional places."""
    return next(_measures(state, name, ""))


def _measures(state: Any, name: str, path: str) -> Iterator[tuple[attrgetter[Any], int, int]]:
    for field in _declarations(state):
        if field.state:
            yield from _measures(field.state, name, path + field.name + ".")
        for dimension, axis in enumerate(field.axes):
            if axis.name == name and axis.per == 1:
                yield attrgetter(path + field.name), dimension, axis.more
