"""Tell a command that is interrupted from a handler that raises KeyboardInterrupt by itself."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from causeway.pycontrol.watchdog import TookTooMuch


class _Seen(threading.local):
    watching = False
    """A run goes on in this thread, and a SIGINT during it would be known."""
    signalled = False


_seen = _Seen()


@contextlib.contextmanager
def noticing_interrupts() -> Iterator[None]:
    """Notice SIGINT during a run; what it does is as before. Only the main thread gets signals."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if _seen.watching or (is_main and before is None):
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
    """Return whether an error that came out of a handler is not its own doing: the user's interrupt, the run's end."""
    if isinstance(error, TookTooMuch):
        return True
    return isinstance(error, KeyboardInterrupt) and (_seen.signalled or not _seen.watching)
