"""Distinguish a user's interrupt (SIGINT) from a KeyboardInterrupt that a handler raises itself."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from causeway.pycontrol.watchdog import TookTooMuchMemory


class _InterruptState(threading.local):
    watching = False
    """True while a run in this thread notices SIGINT."""
    signalled = False
    """True if a SIGINT was noticed during this run."""


_seen = _InterruptState()


@contextlib.contextmanager
def noticing_interrupts() -> Iterator[None]:
    """Record whether SIGINT arrives during a run.

    The effect of the signal stays the same. Only the main thread gets signals.
    """
    if _seen.watching:
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and before is None:
        yield
        return

    def notice(number: int, frame: FrameType | None) -> None:
        _seen.signalled = True
        before(number, frame)  # type: ignore[misc, operator]

    _seen.watching, _seen.signalled = True, False
    replaced = is_main and callable(before)
    if replaced:
        signal.signal(signal.SIGINT, notice)
    try:
        yield
    finally:
        _seen.watching = False
        if replaced:
            signal.signal(signal.SIGINT, before)


def was_interrupted(error: BaseException) -> bool:
    """Return whether an error in a handler is the user's interrupt or the watchdog's end of the run."""
    if isinstance(error, TookTooMuchMemory):
        return True
    return isinstance(error, KeyboardInterrupt) and (_seen.signalled or not _seen.watching)
