"""What every node did, line by line: for finding the first difference between two runs that should be the same."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

TRACE = "CAUSEWAY_TRACE"
"""Environment: the file to write the trace of a run to."""
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_PROTOCOLS = os.path.join(_PACKAGE, "pycontrol", "protocols") + os.sep
STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep
_ASYNCIO = os.path.join(STANDARD_LIBRARY, "asyncio") + os.sep


def is_not_the_users(filename: str) -> bool:
    """Return whether a file is ours, asyncio's or the interpreter's own."""
    if filename.startswith(_PACKAGE):
        return not filename.startswith(_PROTOCOLS)
    return filename.startswith((_ASYNCIO, "<"))


class Trace:
    """A file with one line of JSON for each thing that a node did."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    @staticmethod
    def asked_for() -> Trace | None:
        """Return the one that the environment asks for, if it does."""
        path = os.environ.get(TRACE)
        return Trace(Path(path)) if path else None

    def add(self, now_ps: int, node: str, what: str, content: Any) -> None:
        """Write one thing that a node did."""
        row = [now_ps, node, what, _digest(content), _task(), _stack()]
        self._file.write(json.dumps(row) + "\n")

    def close(self) -> None:
        """End the file."""
        self._file.close()


def _digest(content: Any) -> str:
    return hashlib.blake2b(repr(content).encode(), digest_size=8).hexdigest()


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
    """Return where in the user's code it was done, without our own frames."""
    frames = [f for f in traceback.extract_stack() if not is_not_the_users(f.filename)]
    return [f"{Path(f.filename).name}:{f.lineno} {f.name}: {f.line}" for f in frames[-6:]]


def user_line(frame: FrameType | None) -> str:
    """Return the innermost line of the user's code or an installed package's: not ours, not the standard library's."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_not_the_users(file) and (not file.startswith(STANDARD_LIBRARY) or "-packages" in file):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "no line of the program's"
