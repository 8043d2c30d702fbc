"""Confine handlers to the simulation: they cannot use the clocks, random numbers and threads of the process.

During a run, stand-ins replace `time.time`, `random.random`, `os.urandom` and the other functions of `answers.py`, in
their own modules and in every module that imported them by name. If a node is acting in this thread, a stand-in returns
a value of the simulation or raises an error. Otherwise it calls the real function, so the engine, the controller and
other threads are not affected.

A node acts while one of its handlers runs (`acting`) or, for asyncio programs, while its event loop runs
(`causeway.aio.environment` adds that). Two things cannot be replaced: `datetime.now()`, and the order of sets, which
depends on PYTHONHASHSEED (the command fixes it) and on addresses. `causeway run --twice` finds uses of both.
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
"""A replacement. It is called with the actor and then the arguments of the replaced function."""
FindActor = Callable[[], Any]
"""A function that returns the actor in this thread (an `Actor` or an event loop), or None."""


class Row(NamedTuple):
    """A function of the process, and its replacement for nodes."""

    owner: Any
    name: str
    answer: Answer


class Acting(threading.local):
    """The actor whose handlers run in this thread."""

    host: Any = None


acting = Acting()
_finders: list[FindActor] = [lambda: acting.host]
_tables: list[tuple[list[Row], FindActor]] = []
_wrappers: list[tuple[Any, str, Callable[[Answer], Answer]]] = []
_users = 0
_lock = threading.Lock()
_undo: list[tuple[Any, str, Any]] = []
_INHERITED: Any = object()


def current_actor() -> Any:
    """Return the actor in this thread, or None. An event loop takes precedence over the handler that drives it."""
    for find in _finders:
        if (found := find()) is not None:
            return found
    return None


def add_finder(who: FindActor) -> None:
    """Add a function that finds actors, with precedence over the others."""
    _finders.insert(0, who)


def add_answers(rows: list[Row], who: FindActor) -> None:
    """Add replacements of functions. They are used if `who` finds an actor."""
    _tables.append((rows, who))


def add_wrapper(owner: Any, name: str, wrapper: Callable[[Answer], Answer]) -> None:
    """Replace a function by `wrapper(real)`, which itself decides when to call the real function."""
    _wrappers.append((owner, name, wrapper))


@contextlib.contextmanager
def confined() -> Iterator[None]:
    """Keep the stand-ins in place during the block. Several runs may overlap."""
    enter()
    try:
        yield
    finally:
        leave()


def enter() -> None:
    """Put the stand-ins in place if this is the first user."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            try:
                _install_all()
            except BaseException:
                _users = 0
                _restore_all()
                raise


def leave() -> None:
    """Restore the real functions if this is the last user."""
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _restore_all()


def _restore_all() -> None:
    while _undo:
        owner, name, value = _undo.pop()
        if value is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, value)


def chance_of(seed: int, node: int, use: str, stay: int = 0) -> random.Random:
    """Return a random generator for one use of a node, and of its later stays. It is the same on every engine."""
    return random.Random(f"{seed}/{node}/{use}/{stay}" if stay else f"{seed}/{node}/{use}")


def stay_of(node: Any) -> int:
    """Return the number of earlier stays of a node that comes and goes."""
    return int(vars(node).get("_stay", 0))


_stand_ins: dict[tuple[int, str], tuple[Answer, Answer]] = {}
"""Maps (id of the owner, name) to the real function and its stand-in."""
_scanned: dict[str, int] = {}
"""The scanned modules and their ids, so that a run does not scan a thousand modules again."""
_imported: list[tuple[types.ModuleType, str, Answer, Answer]] = []
"""The functions that scanned modules imported by name: (module, name, real function, stand-in)."""


def _install_all() -> None:
    by_real: dict[int, Answer] = {}
    for rows, who in _tables:
        for owner, name, answer in rows:
            if (real := getattr(owner, name, None)) is None:
                continue
            known = _stand_ins.get((id(owner), name))
            if known is None or known[0] is not real:
                known = _stand_ins[id(owner), name] = (real, _stand_in(real, answer, who))
            _install(owner, name, known[1])
            if not isinstance(owner, type):
                by_real[id(real)] = known[1]
    for owner, name, wrapper in _wrappers:
        _install(owner, name, wrapper(getattr(owner, name)))
    _scan_new_modules(by_real)
    for module, name, real, stand_in in _imported:
        if vars(module).get(name) is real:
            _install(module, name, stand_in)


def _scan_new_modules(by_real: dict[int, Answer]) -> None:
    """Find the functions that modules imported by name, as with `from time import time`."""
    for name, module in list(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or module.__name__.startswith("causeway."):
            continue
        if _scanned.get(name) == id(module) and name != "__main__":
            continue
        _scanned[name] = id(module)
        for inner, value in list(vars(module).items()):
            if callable(value) and id(value) in by_real:
                _imported.append((module, inner, value, by_real[id(value)]))


def _stand_in(real: Answer, answer: Answer, who: FindActor) -> Answer:
    @wraps(real)
    def either(*args: Any, **options: Any) -> Any:
        found = who()
        if found is None or _compiles():
            return real(*args, **options)
        return answer(found, *args, **options)

    return either


def _compiles() -> bool:
    """Return whether numba is compiling in this thread, since the compiler needs the real functions."""
    lock = sys.modules.get("numba.core.compiler_lock")
    return lock is not None and bool(lock.global_compiler_lock.is_locked())


def _install(owner: Any, name: str, value: Any) -> None:
    _undo.append((owner, name, vars(owner).get(name, _INHERITED)))
    setattr(owner, name, value)
