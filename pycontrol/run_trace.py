"""Write the trace of a run, one line for each step, to find the first difference between two runs that should be equal.

`causeway run --twice` uses it. `tracing` makes a run write a trace, `run_trace_hooks.py` writes the steps of
protocols, and programs write their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import linecache
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_PROTOCOLS = os.path.join(_PACKAGE, "pycontrol", "protocols") + os.sep
STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep
_ASYNCIO = os.path.join(STANDARD_LIBRARY, "asyncio") + os.sep
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
FRAMES = 6
_wanted: Trace | None = None


def is_foreign_file(filename: str) -> bool:
    """Return whether a file belongs to Causeway (protocols excepted), asyncio or the interpreter."""
    if filename.startswith(_PACKAGE):
        return not filename.startswith(_PROTOCOLS)
    return filename.startswith((_ASYNCIO, "<"))


class Trace:
    """A file with one line of JSON for each step of a run."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def add(self, now_ps: int, who: str, what: str, content: Any = None) -> None:
        """Write a step of a node, with the lines of the user's code that took it."""
        self.write(now_ps, who, what, _digest(content), _task(), _stack())

    def write(
        self, now_ps: int, who: str, what: str, content: str, task: str = "", stack: list[str] | None = None
    ) -> None:  # fmt: skip
        """Write one line."""
        self._file.write(json.dumps([now_ps, who, what, content, task, stack or []]) + "\n")

    def close(self) -> None:
        """End the file."""
        self._file.close()


@contextlib.contextmanager
def tracing(path: Path) -> Iterator[None]:
    """Write the trace of runs in this block to a file."""
    global _wanted
    _wanted = Trace(path)
    try:
        yield
    finally:
        _wanted.close()
        _wanted = None


def wanted() -> Trace | None:
    """Return the trace that is being written, or None."""
    return _wanted


def _digest(content: Any) -> str:
    """Return a digest of a content that does not depend on addresses or on the order of sets, so not on the process."""
    return hashlib.blake2b(_ADDRESS.sub("", _text_of(content)).encode(), digest_size=8).hexdigest()


def _text_of(content: Any) -> str:
    from causeway.errors import UserError
    from causeway.pycontrol.frozen import frozen  # imported here, since that package imports this one

    try:
        return _ordered(frozen(content))
    except (UserError, TypeError, AttributeError, RecursionError):
        return type(content).__name__


def _ordered(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({','.join(map(_ordered, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_ordered, value)))}}}"
    return repr(value)


def _task() -> str:
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio.events._get_running_loop() is None:
        return ""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return ""
    return str(task.get_name()) if task is not None else ""


def _stack() -> list[str]:
    """Return the innermost lines of the user's code that are being executed, without lines of Causeway."""
    found: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < FRAMES:
        file, line = frame.f_code.co_filename, frame.f_lineno
        if found and file.startswith(_PACKAGE) and not file.startswith(_PROTOCOLS):
            break  # the outer frames belong to the code that started the run
        if not is_foreign_file(file):
            text = linecache.getline(file, line, frame.f_globals).strip()
            found.append(f"{os.path.basename(file)}:{line} {frame.f_code.co_name}: {text}")
        frame = frame.f_back
    return found[::-1]


def user_line(frame: FrameType | None) -> str:
    """Return file and line of the innermost frame outside Causeway and the standard library."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_foreign_file(file) and (not file.startswith(STANDARD_LIBRARY) or "-packages" in file):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "no line of the program"
