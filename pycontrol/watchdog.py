"""Ends a handler that never returns: a run would else hang for ever, as no deadline of the bridge runs meanwhile.
Ends a run, or one handler of it, that asks for more and more before it has taken the machine's memory.

A timer looks now and then which call into the protocol is going on, and costs nothing in between. A call is known by
its frame: the same frame, seen for longer than the limit, has not returned. It works where Python code runs (a loop, a
sleep), in the main thread; compiled kernels cannot be interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic  # by name: in a handler, `time.monotonic` shows simulated time
from types import CodeType, FrameType
from typing import Any, TypeVar

from causeway.bridge.errors import UserError
from causeway.bridge.memory import Allowance

VARIABLE = "CAUSEWAY_HANDLER_S"
"""Environment: how long one handler may take by the clock; 0: for ever."""
LIMIT_S = 300.0
"""Generous: only what hangs takes so long. Time in the compiler of kernels does not count."""
CHECK_S = 10.0
"""The same for one handler or condition in a small world, which takes microseconds."""
LOOKS, LOOK_S = 8, 1.0
"""So often within the limit the timer looks, but every second: much memory is taken in little time."""
HANDLERS_MEMORY = 0.25
"""Of what was left when a handler began, it may take so much before it returns."""

_callers: dict[CodeType, bool] = {}
"""Functions that call handlers: whether these are a node's, or a whole protocol's."""
_F = TypeVar("_F", bound=Callable[..., Any])


class TookTooLong(BaseException):
    """Raised in a handler; no Exception, so that the protocol's own `except` does not swallow it."""


class TookTooMuch(BaseException):
    """Raised wherever a run is that has taken too much memory; the loop makes a RunError of it."""


def calls_handlers(function: _F) -> _F:
    """Marks a function of ours: what it calls are handlers, and each must return in time."""
    _callers[function.__code__] = True
    return function


def calls_protocol(function: _F) -> _F:
    """The same for calls into a whole protocol: its arrays may need the memory that there is."""
    _callers[function.__code__] = False
    return function


def limit_s(usual_s: float = LIMIT_S) -> float:
    """The limit that the environment sets, else the usual one."""
    text = os.environ.get(VARIABLE, "")
    try:
        limit = float(text) if text else usual_s
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise UserError(f"{VARIABLE}={text} is no time; it takes seconds, 0 for no limit")
    return limit


@contextlib.contextmanager
def watchdog(usual_s: float = LIMIT_S, whole_run: bool = False) -> Iterator[None]:
    """Watch handlers while the block runs, and with `whole_run` the memory of all that it does.

    Nothing is watched outside of the main thread, or where a timer is in use.
    """
    limit = limit_s(usual_s) or float("inf")
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getitimer(signal.ITIMER_REAL)[0] > 0:
        yield
        return
    before = signal.signal(signal.SIGALRM, _Watch(limit, Allowance() if whole_run else None))
    signal.siginterrupt(signal.SIGALRM, False)  # no system call of a library fails because of a look
    look_s = min(LOOK_S, limit / LOOKS)
    signal.setitimer(signal.ITIMER_REAL, look_s, look_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _compiles() -> bool:
    """Whether this thread is in numba's compiler: that takes what it takes, minutes on a busy machine."""
    lock = sys.modules.get("numba.core.compiler_lock")
    return lock is not None and bool(lock.global_compiler_lock.is_locked())


class _Watch:
    """What the timer calls."""

    def __init__(self, limit: float, run: Allowance | None) -> None:
        self._limit, self._run = limit, run
        self._seen: FrameType | None = None
        self._since = 0.0
        self._handler: Allowance | None = None

    def __call__(self, _: int, frame: FrameType | None) -> None:
        while frame is not None and (frame.f_back is None or frame.f_back.f_code not in _callers):
            frame = frame.f_back
        now = monotonic()
        if frame is None or frame is not self._seen or _compiles():
            self._seen, self._since = frame, now
            of_node = frame is not None and frame.f_back is not None and _callers[frame.f_back.f_code]
            self._handler = Allowance(HANDLERS_MEMORY) if of_node else None
        elif self._handler is not None and (why := self._handler.refusal()):
            raise TookTooLong(f"has not returned for {now - self._since:.0f} s, and {why}")
        elif now - self._since >= self._limit * (1 - 1 / LOOKS):
            raise TookTooLong(
                f"has not returned for {self._limit:g} s; allowed: {VARIABLE}={self._limit:g} (seconds; 0: for ever)"
            )
        if self._run is not None and (why := self._run.refusal()):
            self._run = Allowance(HANDLERS_MEMORY)  # cleaning up takes little; if somebody catches it, it comes again
            raise TookTooMuch(why)
