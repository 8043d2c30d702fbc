"""Report when kernels must be compiled: in the first run after an installation, or after a change of a kernel.

Without a message, a run that waits for the compiler seems to hang. numba reports the functions that it compiles, but
not those that it loads from the cache folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

MOST_S = 25
"""An upper bound for the time to compile all kernels of one study on a core of 2 GHz or more; 10 to 22 s were measured.
"""


class FirstCompile(event.Listener):
    """Calls `report` when the first kernel is compiled, and collects the names of all."""

    def __init__(self, report: Callable[[], None]) -> None:
        self._report = report
        self.compiled: list[str] = []

    def on_start(self, event: event.Event) -> None:
        """Record the function, unless it is numba's own."""
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("numba."):  # numba's own helpers belong to a kernel, or compile quickly
            return
        if not self.compiled:
            self._report()
        self.compiled.append(function.__qualname__)

    def on_end(self, event: event.Event) -> None:
        """Do nothing."""


@contextmanager
def on_first_compile(report: Callable[[], None]) -> Iterator[list[str]]:
    """Call `report` once if any kernel is compiled in the context.

    Yields:
        The names of the kernels compiled so far.
    """
    listener = FirstCompile(report)
    with event.install_listener("numba:compile", listener):
        yield listener.compiled
