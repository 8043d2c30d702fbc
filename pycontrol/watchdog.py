"""End handlers that do not return, and runs that need too much memory.

No deadline of the bridge applies while a handler runs, so a run could hang for ever. A timer periodically checks which
call into the protocol is being executed; between two checks there is no cost. A call is identified by its frame: if the
same frame is active for longer than the limit, the call has not returned. Only Python code in the main thread can be
interrupted (a loop, a sleep); compiled kernels cannot.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic  # imported by name, since in a handler `time.monotonic` returns simulated time
from types import CodeType, FrameType
from typing import Any, TypeVar

from causeway.bridge.memory import Allowance
from causeway.errors import UserError

VARIABLE = "CAUSEWAY_HANDLER_S"
"""The environment variable for the limit of one handler in seconds of wall time; 0: no limit."""
LIMIT_S = 300.0
"""The default limit. It is so large that only a handler that hangs reaches it. Time for compilation does not count."""
CHECK_S = 10.0
"""The limit for a handler or a condition in a model, which usually takes microseconds."""
CHECKS, LONGEST_CHECK_S = 8, 1.0
"""The number of checks within the limit, and the maximum time between two checks, since memory can fill up quickly."""
HANDLERS_MEMORY = 0.25
"""The share of the memory that is free at a handler's start that the handler may use before it returns."""

suspended = [False]
"""True while a debugger stops a run. A handler may then take any time."""
_callers: dict[CodeType, bool] = {}
"""The functions that call handlers, with True for handlers of a node and False for methods of a whole protocol."""
_F = TypeVar("_F", bound=Callable[..., Any])


class TookTooLong(BaseException):
    """Raised in a handler that does not return.

    It is not an Exception, so that the protocol's own `except` cannot catch it.
    """


class TookTooMuchMemory(BaseException):
    """Raised in a run that needs too much memory. The loop turns it into a RunError."""


def calls_handlers(function: _F) -> _F:
    """Mark a function that calls handlers of nodes, each of which must return in time."""
    _callers[function.__code__] = True
    return function


def calls_protocol(function: _F) -> _F:
    """Mark a function that calls a whole protocol, whose arrays may use all of the memory."""
    _callers[function.__code__] = False
    return function


def limit_s(usual_s: float = LIMIT_S) -> float:
    """Return the limit that the environment sets, or else `usual_s`."""
    text = os.environ.get(VARIABLE, "")
    try:
        limit = float(text) if text else usual_s
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise UserError(f"{VARIABLE}={text} is not a time; set it to seconds, or to 0 for no limit")
    return limit


@contextlib.contextmanager
def watchdog(usual_s: float = LIMIT_S, run: Allowance | None = None) -> Iterator[None]:
    """Watch the handlers that run in the block, and the memory that the process takes if `run` limits it.

    Nothing is watched outside the main thread, or if the process's real-time timer is in use.
    """
    limit = limit_s(usual_s) or float("inf")
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getitimer(signal.ITIMER_REAL)[0] > 0:
        yield
        return
    before = signal.signal(signal.SIGALRM, _Watch(limit, run))
    signal.siginterrupt(signal.SIGALRM, False)  # system calls of libraries are restarted and do not fail
    check_s = min(LONGEST_CHECK_S, limit / CHECKS)
    signal.setitimer(signal.ITIMER_REAL, check_s, check_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _compiles() -> bool:
    """Return whether this thread is compiling a kernel, which takes minutes on a busy machine."""
    lock = sys.modules.get("numba.core.compiler_lock")
    return lock is not None and bool(lock.global_compiler_lock.is_locked())


class _Watch:
    """The handler of the timer's signal."""

    def __init__(self, limit: float, run: Allowance | None) -> None:
        self._limit, self._run = limit, run
        self._seen: FrameType | None = None
        self._since = 0.0
        self._handler: Allowance | None = None

    def __call__(self, _: int, frame: FrameType | None) -> None:
        while frame is not None and (frame.f_back is None or frame.f_back.f_code not in _callers):
            frame = frame.f_back
        now = monotonic()
        if suspended[0]:
            self._seen = None
            return
        if frame is None or frame is not self._seen or _compiles():
            self._seen, self._since = frame, now
            of_node = frame is not None and frame.f_back is not None and _callers[frame.f_back.f_code]
            self._handler = Allowance(HANDLERS_MEMORY) if of_node else None
        elif self._handler is not None and (why := self._handler.refusal()):
            raise TookTooLong(f"has not returned for {now - self._since:.0f} s, and {why}")
        elif now - self._since >= self._limit * (1 - 1 / CHECKS):
            raise TookTooLong(
                f"has not returned for {self._limit:g} s; allowed: {VARIABLE}={self._limit:g} (seconds; 0: for ever)"
            )
        if self._run is not None and (why := self._run.refusal()):
            self._run = Allowance(HANDLERS_MEMORY)  # leaves time for cleaning up; raised again if the error is caught
            raise TookTooMuchMemory(why)
