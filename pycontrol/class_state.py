"""Find class attributes that a run changes.

    class Flood(Node):
        heard = set()       # one set, which all nodes share

A fingerprint of the attributes of every class of nodes is made with its first node. It is compared after some windows
(less and less often) and at the end. Class attributes must be constants, except for those that `Node.not_state` names:
counters that no node reads.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import random
import sys
import types
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from causeway.pycontrol.handlers import Node
from causeway.pycontrol.protocol_errors import ProtocolError

PLAIN = (type(None), bool, int, float, complex, str, bytes)
INTERVAL_FACTOR = 8
"""The factor by which the number of windows grows from one comparison to the next."""
DEFAULTS = "()"
"""Marks the defaults of a method among the attributes."""
OF_A_CLASS = (
    types.FunctionType, type, types.ModuleType, staticmethod, classmethod, property, functools.cached_property,
)  # fmt: skip
"""Types of attributes that handlers cannot use as variables."""


class ClassState:
    """The fingerprints of the attributes of all classes of one protocol's nodes."""

    def __init__(self) -> None:
        self._before: dict[type, dict[str, Hashable]] = {}
        self._windows, self._next = 0, 1

    def add(self, kind: type) -> None:
        """Watch a class and its base classes from now on."""
        for base in _own(kind):
            if base not in self._before:
                self._before[base] = _fingerprints(base)

    def after_window(self) -> None:
        """Count a window, and compare the attributes if a comparison is due."""
        self._windows += 1
        if self._windows >= self._next:
            self._next *= INTERVAL_FACTOR
            self.check()

    def check(self) -> None:
        """Compare the attributes.

        Raises:
            ProtocolError: An attribute has changed.
        """
        for base, before in self._before.items():
            now = _fingerprints(base)
            for name in (*now, *before):
                if now.get(name) != before.get(name):
                    raise ProtocolError(_reported(base, name))


def _reported(base: type, name: str) -> str:
    if name.endswith(DEFAULTS):
        method = f"{base.__name__}.{name.removesuffix(DEFAULTS)}"
        return (
            f"a default value of {method} was changed during the run: all nodes share it, without any message; write "
            "None as the default, and make a new object in the method"
        )
    value = vars(base).get(name)
    kind = type(value).__name__
    made = f"{kind}()" if kind in ("set", "list", "dict", "deque", "Counter") else "..."
    return (
        f"{base.__name__}.{name} ({kind}) was changed during the run: it is an attribute of the class, so all nodes "
        f"share it, without any message; make it in __init__: self.{name} = {made}"
    )


def _own(kind: type) -> Iterator[type]:
    """Yield a class and its base classes, without those of Causeway."""
    for base in kind.__mro__:
        if base is Node:
            return
        if not base.__module__.startswith("causeway."):
            yield base


def _fingerprints(base: type) -> dict[str, Hashable]:
    counters = getattr(base, "not_state", ())
    defaults = {
        f"{name}{DEFAULTS}": fingerprint(given)
        for name, function in vars(base).items()
        if isinstance(function, types.FunctionType)
        and (given := [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()])
    }
    return defaults | {
        name: fingerprint(value)
        for name, value in vars(base).items()
        if not name.startswith(("__", "_abc_")) and name not in counters and not isinstance(value, OF_A_CLASS)
    }


def fingerprint(value: Any, seen: set[int] | None = None) -> Hashable:
    """Return a hash that differs if the value changes.

    Nodes and objects of libraries, which may have caches, are compared by identity.
    """
    if isinstance(value, PLAIN):
        return hash((type(value), value))
    if isinstance(value, bytearray):
        return hash(bytes(value))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return hashlib.blake2b(np.ascontiguousarray(value).data).digest()
    if isinstance(value, random.Random):
        return hash(value.getstate())
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, itertools.count | itertools.cycle):
        return repr(value.__reduce__())
    seen = set() if seen is None else seen
    if id(value) in seen:
        return "again"
    seen.add(id(value))
    return hash((type(value), *(fingerprint(part, seen) for part in _parts(value))))


def _parts(value: Any) -> Iterable[Any]:
    """Return the parts of a value. For an object of a library's class, return only its identity."""
    if isinstance(value, list | tuple | deque):
        return value
    if isinstance(value, set | frozenset):
        return sorted(map(fingerprint, value), key=repr)
    if isinstance(value, Mapping):
        return itertools.chain.from_iterable(value.items())
    if isinstance(value, Node | type) or callable(value) or not _is_user_class(type(value)):
        return (id(value),)
    cached = {n for k in type(value).__mro__ for n, v in vars(k).items() if isinstance(v, functools.cached_property)}
    slots = [n for k in type(value).__mro__ for n in getattr(k, "__slots__", ()) if hasattr(value, n)]
    fields = {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in slots}}
    return (id(value), *itertools.chain.from_iterable(item for item in fields.items() if item[0] not in cached))


def _is_user_class(kind: type) -> bool:
    """Return whether a class belongs to the study, and not to a library."""
    top = kind.__module__.partition(".")[0]
    if top in ("causeway", "builtins") or top in sys.stdlib_module_names:
        return top == "__main__"
    return "site-packages" not in (getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
