"""Print the output of commands.

Text from files and studies is printed as text, never as markup or terminal commands.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console

_real: list[tuple[TextIO, int]] = []
"""The standard output while prints of studies are redirected: its stream, and a copy of its descriptor."""


def console(stderr: bool = False) -> Console:
    """Return a console that prints text unchanged. Styles are set by `Text`, not by brackets in strings."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def printable(text: object) -> str:
    """Escape control characters and characters that cannot be encoded."""
    spelled = str(text).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in spelled)


@contextlib.contextmanager
def prints_elsewhere() -> Iterator[None]:
    """Redirect prints of studies and their processes to the standard error, so that the output is one JSON object."""
    sys.stdout.flush()
    kept = os.dup(1)
    _real.append((sys.stdout, kept))
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _real.pop()
        os.dup2(kept, 1)
        os.close(kept)


@contextlib.contextmanager
def real_stdout() -> Iterator[None]:
    """Print to the standard output again."""
    if not _real:
        yield
        return
    stream, kept = _real[-1]
    os.dup2(kept, 1)
    try:
        with contextlib.redirect_stdout(stream):
            yield
    finally:
        stream.flush()
        os.dup2(2, 1)
