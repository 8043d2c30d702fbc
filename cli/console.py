"""Where the commands print. What comes from files and studies is text: never markup or commands of the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console

_real: list[tuple[TextIO, int]] = []
"""The standard output while what studies print goes elsewhere: the stream, and a copy of the descriptor."""


def console(stderr: bool = False) -> Console:
    """A console that prints what it is given; styles come from `Text`, not from brackets in strings."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def printable(text: object) -> str:
    """Text that can be printed anywhere: what would steer the terminal, or cannot be encoded, is spelled out."""
    spelled = str(text).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in spelled)


@contextlib.contextmanager
def prints_elsewhere() -> Iterator[None]:
    """Send what studies (and their processes) print to the standard error: the output holds one JSON object."""
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
