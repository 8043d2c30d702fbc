"""Prevent a study's own code from ending its command silently, or from keeping it alive.

Outside of handlers, a study's code may read files, read clocks and start processes. But `os._exit(0)` in `network()`
would end the command with status 0 and without results, and a thread that is not a daemon would keep the command alive
for ever. Inside `own_code`, both are refused if a line of the study's own files (or of a vectorized protocol) calls
them.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import getpid  # imported by name, since `os.getpid` is replaced in handlers
from typing import Any, ClassVar

from causeway.pycontrol import confined
from causeway.pycontrol.answers import refused
from causeway.pycontrol.confined import Answer, Row
from causeway.toolchain.user_file import is_user_file

STAND_INS = (__file__, confined.__file__)
"""The files of the frames between the caller and `_caller`."""


@dataclass(frozen=True)
class OwnCode:
    """A study's own code, as the subject of error messages. For a node, it is `Actor`."""

    name: str
    process: int
    """The id of the process, since a forked child may call os._exit."""
    instead: ClassVar[Mapping[str, str]] = {
        "exit": "raise an error instead",
        "process": "use subprocess.run",
        "thread": "compute in place, or start it with daemon=True",
    }


class _Running(threading.local):
    code: OwnCode | None = None


_running = _Running()


@contextlib.contextmanager
def own_code(name: str) -> Iterator[None]:
    """Refuse calls in a block that end the command or outlive it. Error messages use `name`."""
    if _running.code is not None:
        yield
        return
    _running.code = OwnCode(name, getpid())
    try:
        with confined.confined():
            yield
    finally:
        _running.code = None


def _caller() -> Any:
    """Return the acting node, or the study's own code if the call is in one of its lines, or None."""
    if (actor := confined.current_actor()) is not None:
        return actor
    code = _running.code
    if code is None or code.process != getpid():
        return None
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in STAND_INS:
        frame = frame.f_back
    return code if is_user_file(frame.f_code.co_filename) else None


def _start(real: Answer) -> Answer:
    refuse = refused("a thread", "thread")

    def start(actor: Any, thread: threading.Thread) -> Any:
        return real(thread) if isinstance(actor, OwnCode) and thread.daemon else refuse(actor)

    return start


confined.add_answers(
    [
        *(Row(os, name, refused(f"os.{name}", "exit")) for name in ("_exit", "abort")),
        *(Row(os, name, refused(f"os.{name}", "process")) for name in ("execv", "execve")),
        Row(threading.Thread, "start", _start(threading.Thread.start)),
    ],
    _caller,
)
