"""Tells when kernels must be compiled: in the first run after an installation, or after a change of a kernel.

A run that waits for the compiler without a word looks as if it hung. numba announces what it compiles, and says nothing
of what it finds in the cache folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

MOST_S = 25
"""What the kernels of one study take on a core of 2 GHz or more, if none is there yet: 10 to 22 s, measured."""


class _Once(event.Listener):
    """Calls `tell` at the first kernel that is compiled, and counts them all."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self.compiled: list[str] = []

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("numba."):  # a helper of numba's own, within one of ours or of no weight
            return
        if not self.compiled:
            self._tell()
        self.compiled.append(function.__qualname__)

    def on_end(self, event: event.Event) -> None:
        """Nothing to say."""


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[list[str]]:
    """Calls `tell` once if something is compiled meanwhile. Gives the names of what was."""
    listener = _Once(tell)
    with event.install_listener("numba:compile", listener):
        yield listener.compiled
