"""Convert the state of a node to a hashable value. Values are equal if and only if the states are."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from enum import Enum
from functools import partial
from random import Random
from types import MethodType
from typing import Any

import numpy as np

from causeway.errors import UserError

PLAIN = (type(None), bool, int, float, str, bytes)


def frozen(value: Any, skip: frozenset[str] = frozenset(), inside: tuple[int, ...] = ()) -> Hashable:
    """Return a hashable value with the same content. The order of a dict matters, since a protocol may depend on it.

    Args:
        value: The object.
        skip: Names of attributes to leave out.
        inside: The ids of the objects that contain it. A reference to one of them becomes its distance.

    Raises:
        UserError: The content has a set or dict with keys that are not equal to their copies.
    """
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
    """Return a key of a set or dict. Refuse a key that is equal only to itself, since states are copied."""
    if isinstance(key, tuple | frozenset):
        for part in key:
            _found_again(part)
    kind: Any = type(key)
    if kind.__eq__ is object.__eq__ and not (isinstance(key, Enum | type) or callable(key)):
        raise UserError(
            f"a node has a {kind.__name__} in a set or as a key, but `check --every` copies nodes, and its copy is "
            f"not equal to it; give {kind.__name__} an __eq__ and a __hash__, as a frozen dataclass has, or omit "
            f"--every"
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
    # its repr contains the address of the object
    if isinstance(value, MethodType) and not isinstance(value.__self__, type):
        return ("method", value.__func__.__qualname__, frozen(value.__self__, skip, within))
    if isinstance(value, partial):
        return ("partial", frozen(value.func, skip, within), frozen((value.args, value.keywords), skip, within))
    if callable(value) and not hasattr(value, "__dict__"):
        return getattr(value, "__qualname__", type(value).__name__)
    names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ()) if isinstance(n, str)]
    fields = {n: getattr(value, n) for n in names if hasattr(value, n) and n not in ("__dict__", "__weakref__")}
    fields |= getattr(value, "__dict__", {})
    found = tuple((name, frozen(inner, skip, within)) for name, inner in sorted(fields.items()) if name not in skip)
    kind: Any = type(value)
    if not found and not fields and kind.__repr__ is not object.__repr__:  # object.__repr__ contains the address
        return repr(value)
    return (getattr(value, "__qualname__", type(value).__name__), found)
