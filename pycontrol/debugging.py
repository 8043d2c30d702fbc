"""Debug a run with pdb: at `breakpoint()` in a handler and, with `debugging`, at a handler's error.

A debugger may stop for any time. From the first prompt on, no deadline applies to handlers; in a block of `debugging`,
a simulator waits for ever, too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pdb
import sys
import traceback
from bdb import BdbQuit
from collections.abc import Iterator
from types import FrameType
from typing import Any

from causeway.errors import RunError
from causeway.pycontrol import watchdog
from causeway.toolchain.user_file import is_user_file

USERS = ("causeway.pycontrol.protocols.", "causeway.studies.")
"""Causeway's modules that are debugged like a user's own code."""
SKIPPED = ("asyncio.*", "contextlib", "functools", "logging")
"""Other modules that steps do not enter."""
_state = {"on": False}


class ProtocolPdb(pdb.Pdb):
    """A debugger for the code of nodes. It reads stdin directly, since `input()` is refused while a node acts."""

    def __init__(self) -> None:
        super().__init__(stdout=sys.stdout, nosigint=True, skip=SKIPPED)

    def is_skipped_module(self, module_name: str | None) -> bool:
        """Return whether the debugger steps over a module. It does so for modules of Causeway."""
        name = str(module_name)
        return super().is_skipped_module(name) or (name.startswith("causeway.") and not name.startswith(USERS))


def is_user_code(frame: FrameType) -> bool:
    """Return whether the code is a user's own, or a protocol that comes with Causeway."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith(USERS) or is_user_file(frame.f_code.co_filename)


def is_on() -> bool:
    """Return whether runs are debugged."""
    return _state["on"]


@contextlib.contextmanager
def debugging() -> Iterator[None]:
    """Stop runs of this block at a handler's error, and suspend all deadlines."""
    _state["on"] = True
    try:
        yield
    finally:
        _state["on"] = False


@contextlib.contextmanager
def breakpoints() -> Iterator[None]:
    """Make `breakpoint()` in a handler stop the run.

    Workers of a campaign have no terminal, so they keep Python's own `breakpoint()`.
    """
    before, watchdog.suspended[0] = sys.breakpointhook, is_on()
    if multiprocessing.parent_process() is None and before is sys.__breakpointhook__:
        sys.breakpointhook = _stop
    try:
        yield
    finally:
        sys.breakpointhook = before


def _stop(*_: Any, **__: Any) -> None:
    watchdog.suspended[0] = True
    frame: FrameType = sys._getframe(1)
    ProtocolPdb().set_trace(frame)


def look_at(error: BaseException) -> None:
    """Open the debugger at a handler's error, if runs are debugged.

    Raises:
        RunError: The user ended the run in the debugger.
    """
    if isinstance(error, BdbQuit):
        raise RunError("the run was ended in the debugger") from None
    if not is_on() or getattr(error, "_causeway_shown", False):
        return
    error._causeway_shown = True  # type: ignore[attr-defined]
    print("".join(traceback.format_exception_only(error)), end="")
    debugger = ProtocolPdb()
    debugger.reset()
    debugger.interaction(None, error.__traceback__)
