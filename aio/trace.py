"""What every node did, line by line: for finding the first difference between two runs that should be the same."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import traceback
from asyncio import events
from pathlib import Path
from types import FrameType
from typing import Any

TRACE = "CAUSEWAY_AIO_TRACE"
"""Environment: the file to write the trace of a run to."""
NOT_THE_PROGRAMS = (str(Path(__file__).parent.parent) + os.sep, str(Path(asyncio.__file__).parent) + os.sep, "<")
"""Frames of these files are ours, asyncio's or the interpreter's."""
STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep


class Trace:
    """A file with one line of JSON for each thing that a node did."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    @staticmethod
    def asked_for() -> Trace | None:
        """The one that the environment asks for, if it does."""
        path = os.environ.get(TRACE)
        return Trace(Path(path)) if path else None

    def add(self, now_ps: int, node: str, what: str, content: Any) -> None:
        row = [now_ps, node, what, _digest(content), _task(), _stack()]
        self._file.write(json.dumps(row) + "\n")

    def close(self) -> None:
        self._file.close()


def _digest(content: Any) -> str:
    return hashlib.blake2b(repr(content).encode(), digest_size=8).hexdigest()


def _task() -> str:
    try:
        task = asyncio.current_task() if events._get_running_loop() is not None else None
    except RuntimeError:
        task = None
    return task.get_name() if task is not None else ""


def _stack() -> list[str]:
    """Where in the program, without our own frames."""
    frames = [f for f in traceback.extract_stack() if not f.filename.startswith(NOT_THE_PROGRAMS)]
    return [f"{Path(f.filename).name}:{f.lineno} {f.name}: {f.line}" for f in frames[-6:]]


def program_line(frame: FrameType | None) -> str:
    """The innermost line that is the program's (or an installed package's): not ours, not the standard library's."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(NOT_THE_PROGRAMS) and (not file.startswith(STANDARD_LIBRARY) or "-packages" in file):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "no line of the program's"
