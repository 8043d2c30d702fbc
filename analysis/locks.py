"""Locks that end with their process: flock on a file of the result folder.

A killed process leaves an empty file without a lock; the next process locks the file, or `sweep` removes it. On a file
system without such locks, every process gets the lock. Then results are still correct, but a run may be executed twice.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


@contextmanager
def held(path: Path, wait: bool) -> Iterator[bool]:
    """Hold the lock `path` for the block. Yield False if another process has it (never if `wait`)."""
    descriptor = take(path, wait)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)  # before the lock is released
        os.close(descriptor)


def take(path: Path, wait: bool) -> int | None:
    """Return an open descriptor with the lock on the file at `path`; None if another process has it.

    The file is made if it does not exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        if not _locked(descriptor, wait):
            os.close(descriptor)
            return None
        if _is_at(descriptor, path):
            return descriptor
        # its owner removed the file while this process waited, so the name is free or belongs to a new file
        os.close(descriptor)


def is_free(path: Path) -> bool:
    """Return whether no process holds the lock on an existing file; False on a file system without locks."""
    return _if_free(path, lambda descriptor: True)


def remove_if_free(path: Path) -> bool:
    """Remove a file whose lock no process holds; return whether it was removed."""

    def remove(descriptor: int) -> bool:
        if not _is_at(descriptor, path):
            return False
        path.unlink()
        return True

    return _if_free(path, remove)


def _if_free(path: Path, do: Callable[[int], bool]) -> bool:
    """Call `do` with the open file while its lock is held, and return the result; False if the lock is not free."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return do(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _locked(descriptor: int, wait: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return True
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        os.close(descriptor)
        raise
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
