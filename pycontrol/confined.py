"""Confine handlers to the simulation: clocks, chance and threads of the process are not a node's.

While a run goes on, a stand-in takes the place of `time.time`, `random.random`, `os.urandom` and the other functions
of `answers.py`, in their own modules and in every module that imported them by name. A stand-in looks whether a node
is acting in this thread. If so, it answers from the simulation or refuses; else it calls the real function, so that
the engine, the controller and other threads notice nothing.

A node acts while one of its handlers runs (`acting`) or, for asyncio programs, while its event loop runs
(`causeway.aio.world` adds that). Out of reach are `datetime.now()` and the order of sets, which depends on
PYTHONHASHSEED (the command fixes it) and on addresses: `causeway run --twice` finds them.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

Answer = Callable[..., Any]
"""Given who is acting, and the arguments."""
Who = Callable[[], Any]
"""Return who is acting in this thread (an `Acting`, an event loop), None if nobody is."""


class Row(NamedTuple):
    """One function of the process and what a node gets instead."""

    owner: Any
    name: str
    answer: Answer


class Acting(threading.local):
    """Which protocol's handlers run in this thread."""

    host: Any = None


acting = Acting()
_finders: list[Who] = [lambda: acting.host]
_tables: list[tuple[list[Row], Who]] = []
_wrappers: list[tuple[Any, str, Callable[[Answer], Answer]]] = []
_users = 0
_lock = threading.Lock()
_undo: list[tuple[Any, str, Any]] = []
_INHERITED: Any = object()


def who_acts() -> Any:
    """Return who is acting in this thread: an event loop before the handler that drives it."""
    for find in _finders:
        if (found := find()) is not None:
            return found
    return None


def add_finder(who: Who) -> None:
    """Ask `who` first from now on."""
    _finders.insert(0, who)


def add_answers(rows: list[Row], who: Who) -> None:
    """Put stand-ins for these functions, which answer when `who` finds somebody."""
    _tables.append((rows, who))


def add_wrapper(owner: Any, name: str, wrapper: Callable[[Answer], Answer]) -> None:
    """Put `wrapper(real)` in the place of a function, for what a plain answer cannot say."""
    _wrappers.append((owner, name, wrapper))


@contextlib.contextmanager
def confined() -> Iterator[None]:
    """Keep the stand-ins in place. Several runs may overlap."""
    enter()
    try:
        yield
    finally:
        leave()


def enter() -> None:
    """Put the stand-ins, if they are not in place."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _put_all()


def leave() -> None:
    """Take the stand-ins away with the last user."""
    global _users
    with _lock:
        _users -= 1
        while _users == 0 and _undo:
            owner, name, value = _undo.pop()
            if value is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def chance_of(seed: int, node: int, use: str) -> random.Random:
    """Return a generator for one use of a node, equal on every engine."""
    return random.Random(f"{seed}/{node}/{use}")


_stand_ins: dict[tuple[int, str], tuple[Answer, Answer]] = {}
"""(id of the owner, name) -> the real function and its stand-in, made once."""
_scanned: dict[str, int] = {}
"""Modules that were looked through, with their id: a run does not look through a thousand modules again."""
_imported: list[tuple[types.ModuleType, str, Answer, Answer]] = []
"""What they have imported by name: the real function and its stand-in."""


def _put_all() -> None:
    by_real: dict[int, Answer] = {}
    for rows, who in _tables:
        for owner, name, answer in rows:
            if (real := getattr(owner, name, None)) is None:
                continue
            known = _stand_ins.get((id(owner), name))
            if known is None or known[0] is not real:
                known = _stand_ins[id(owner), name] = (real, _stand_in(real, answer, who))
            _put(owner, name, known[1])
            if not isinstance(owner, type):
                by_real[id(real)] = known[1]
    for owner, name, wrapper in _wrappers:
        _put(owner, name, wrapper(getattr(owner, name)))
    _look_through_new_modules(by_real)
    for module, name, real, stand_in in _imported:
        if vars(module).get(name) is real:
            _put(module, name, stand_in)


def _look_through_new_modules(by_real: dict[int, Answer]) -> None:
    """`from time import time` has its own name for it."""
    for name, module in list(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or module.__name__.startswith("causeway."):
            continue
        if _scanned.get(name) == id(module) and name != "__main__":
            continue
        _scanned[name] = id(module)
        for inner, value in list(vars(module).items()):
            if callable(value) and id(value) in by_real:
                _imported.append((module, inner, value, by_real[id(value)]))


def _stand_in(real: Answer, answer: Answer, who: Who) -> Answer:
    @wraps(real)
    def either(*args: Any, **options: Any) -> Any:
        found = who()
        if found is None or _compiles():
            return real(*args, **options)
        return answer(found, *args, **options)

    return either


def _compiles() -> bool:
    """Whether numba's compiler runs in this thread: its files and times are not the node's."""
    lock = sys.modules.get("numba.core.compiler_lock")
    return lock is not None and bool(lock.global_compiler_lock.is_locked())


def _put(owner: Any, name: str, value: Any) -> None:
    _undo.append((owner, name, vars(owner).get(name, _INHERITED)))
    setattr(owner, name, value)
