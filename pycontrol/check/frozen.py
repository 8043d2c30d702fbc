"""The state of a node as a value: equal if and only if the states are, and quick to compare."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from enum import Enum
from random import Random
from typing import Any

import numpy as np

from causeway.bridge.errors import UserError

PLAIN = (type(None), bool, int, float, str, bytes)


def frozen(value: Any, skip: frozenset[str] = frozenset(), inside: tuple[int, ...] = ()) -> Hashable:
    """A hashable value of the same content. Dicts keep their order: a protocol may go by it. `skip`: attributes that do
    not count. What points back to something that it is inside of is named by how far up that is."""
    if isinstance(value, PLAIN):
        return value
    if id(value) in inside:
        return ("up", len(inside) - inside.index(id(value)))
    within = (*inside, id(value))
    if isinstance(value, tuple | list | deque):
        name = type(value).__name__
        inner = tuple(frozen(one, skip, within) for one in value)
        return inner if name in ("tuple", "list") else (name, inner)
    if isinstance(value, set | frozenset):
        return frozenset(frozen(_found_again(one), skip, within) for one in value)
    if isinstance(value, Mapping):
        items = value.items()
        return ("dict", tuple((frozen(_found_again(k), skip, within), frozen(v, skip, within)) for k, v in items))
    return _of_object(value, skip, within)


def _found_again(key: Any) -> Any:
    """The key, if a copy of it is found, too: states and packets are copied; what was one object is several then."""
    if isinstance(key, tuple | frozenset):
        for part in key:
            _found_again(part)
    kind: Any = type(key)
    if kind.__eq__ is object.__eq__ and not (isinstance(key, Enum | type) or callable(key)):
        raise UserError(
            f"a node keeps things by {kind.__name__}, which equals only itself, and `check --every` works with copies; "
            f"give {kind.__name__} an __eq__ and a __hash__ (frozen dataclasses have them), or leave --every away"
        )
    return key


def _of_object(value: Any, skip: frozenset[str], within: tuple[int, ...]) -> Hashable:
    if isinstance(value, Enum):
        return (type(value).__name__, value.name)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, np.ndarray | np.generic):
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, Random):
        return value.getstate()
    if isinstance(value, np.random.Generator):
        value = value.bit_generator
    if isinstance(value, np.random.BitGenerator):
        return frozen(value.state)
    if isinstance(value, np.random.RandomState):
        return frozen(value.get_state(legacy=False))
    if callable(value) and not hasattr(value, "__dict__"):
        return getattr(value, "__qualname__", type(value).__name__)
    names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ()) if isinstance(n, str)]
    fields = {n: getattr(value, n) for n in names if hasattr(value, n) and n not in ("__dict__", "__weakref__")}
    fields |= getattr(value, "__dict__", {})
    found = tuple((name, frozen(inner, skip, within)) for name, inner in sorted(fields.items()) if name not in skip)
    kind: Any = type(value)
    if not found and not fields and kind.__repr__ is not object.__repr__:  # that one shows the address
        return repr(value)
    return (getattr(value, "__qualname__", type(value).__name__), found)
