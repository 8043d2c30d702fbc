"""Restore the command's standard output and error after a study has closed them, so that it can still report errors."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from causeway.errors import RunError

REAL_DUP, REAL_DUP2, REAL_CLOSE = os.dup, os.dup2, os.close
"""Imported under other names, since functions of `os` may be stand-ins in a handler."""


@dataclass
class _Kept:
    """The original state of a standard stream: its object, a copy of its descriptor, and the file behind it."""

    number: int
    name: str
    stream: TextIO
    copy: int
    file: tuple[int, int]


@contextlib.contextmanager
def standard_streams(study: str) -> Iterator[None]:
    """Restore the standard streams after the block.

    Raises:
        RunError: The block closed a stream, or replaced the file behind it.
    """
    kept = [one for number, name in ((1, "stdout"), (2, "stderr")) if (one := _keep(number, name)) is not None]
    try:
        yield
    except Exception as error:
        if lost := _restore(kept):
            raise _closed(study, lost) from error
        raise
    except BaseException:
        _restore(kept)
        raise
    else:
        if lost := _restore(kept):
            raise _closed(study, lost)
    finally:
        for one in kept:
            REAL_CLOSE(one.copy)


def _keep(number: int, name: str) -> _Kept | None:
    stream = getattr(sys, name)
    try:
        file = _file(number)
    except OSError:  # the stream was already closed before
        return None
    return None if stream is None or stream.closed else _Kept(number, name, stream, REAL_DUP(number), file)


def _file(number: int) -> tuple[int, int]:
    status = os.fstat(number)
    return status.st_dev, status.st_ino


def _restore(kept: list[_Kept]) -> list[str]:
    """Restore the streams that have changed, and return their names."""
    lost = []
    for one in kept:
        now: Any = getattr(sys, one.name)
        is_open = now is not None and not getattr(now, "closed", False)
        if is_open and _is_behind(one):
            continue
        lost.append(f"sys.{one.name}")
        if not _is_behind(one):
            REAL_DUP2(one.copy, one.number)
        if one.stream.closed:
            one.stream = open(one.number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, one.name, one.stream)
    return lost


def _is_behind(one: _Kept) -> bool:
    try:
        return _file(one.number) == one.file
    except OSError:
        return False


def _closed(study: str, names: list[str]) -> RunError:
    return RunError(
        f"study {study}: {' and '.join(names)} of the command was closed or replaced; write to your own file, or use "
        f"contextlib.redirect_stdout"
    )
