"""Record the files below a folder that are opened for reading: dependencies of a run that are not declared."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

_watching: list[tuple[str, set[str], set[str]]] = []
"""The (folder, read, written) of each active watch."""
_hooked = False


@contextmanager
def opened_below(folder: Path, read: set[str] | None = None) -> Iterator[set[str]]:
    """Collect the paths below `folder` that are read in the context and were not written in it before.

    Args:
        folder: The folder to watch.
        read: The set to add paths to; a new one by default.

    Yields:
        The set of paths.
    """
    global _hooked
    if not _hooked:
        sys.addaudithook(_note)
        _hooked = True
    watch = (_beginning(folder), set[str]() if read is None else read, set[str]())
    _watching.append(watch)
    try:
        yield watch[1]
    finally:
        _watching[:] = [one for one in _watching if one is not watch]


@cache
def _beginning(folder: Path) -> str:
    """Return the beginning of the paths below a folder. A stepped run needs it at each step."""
    return os.path.join(folder.resolve(), "")


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watching:
        return
    path, mode, flags = arguments
    if not isinstance(path, str | bytes | os.PathLike):
        return
    try:
        whole = os.path.realpath(os.fsdecode(path))
    except (OSError, ValueError):
        return
    writes = "w" in mode or "x" in mode or "a" in mode if isinstance(mode, str) else bool(flags & _WRITES)
    named = os.path.abspath(os.fsdecode(path))  # a link in the folder to a file outside is one of its files, too
    for folder, read, written in _watching:
        if whole.startswith(folder) or named.startswith(folder):
            if writes:
                written.add(whole)
            elif whole not in written and os.path.isfile(whole):
                read.add(whole)


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
