"""Write files atomically: under a hidden name, which is flushed to the disk and then renamed.

The folder is flushed, too. After a crash or on a full disk, readers ignore a half-written file because of its name.
Start here: `replacing`.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from causeway.analysis import locks
from causeway.analysis.remote import Remote, is_remote
from causeway.errors import UserError

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=,+")
_LONGEST = 120  # maximum length of a quoted name; most file systems allow 255 characters, and suffixes follow


def quote(name: str) -> str:
    """Return `name` as a file name. Special characters become %XX, and a hash replaces the end of a long name."""
    text = "".join(c if c in _PLAIN else "".join(f"%{byte:02X}" for byte in c.encode()) for c in name)
    if not text:
        return "%"
    if text.startswith((".", "_")):  # readers ignore such names as hidden
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) > _LONGEST:
        return f"{text[: _LONGEST - 34]}!{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return text


@dataclass
class Hidden:
    """A file under a hidden name."""

    path: Path
    name: str = ""
    """Its name when it is complete."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a hidden path to write to; rename it to `path` at the end of the block, or remove it after an error.

    The file is locked while its writer lives, so that `sweep` removes only files of dead writers. For a URL, the path
    is a file of this machine, which is sent at the end of the block.
    """
    with replacing_in(path.parent) as hidden:
        hidden.name = path.name
        yield hidden.path


@contextmanager
def replacing_in(folder: Path) -> Iterator[Hidden]:
    """Do the same as `replacing` for a file whose name (`Hidden.name`) is set in the block."""
    if isinstance(folder, Remote):
        with tempfile.TemporaryDirectory(prefix="causeway-") as here:
            hidden = Hidden(Path(here) / "file")
            yield hidden
            cast(Remote, folder / hidden.name).send(hidden.path)
        return
    make_folder(folder)
    hidden = Hidden(folder / f".{uuid.uuid4().hex}.part")
    lock = locks.take(hidden.path, wait=True)
    try:
        yield hidden
        flush(hidden.path)
        os.replace(hidden.path, folder / hidden.name)
        flush(folder)
    except OSError as error:
        if error.filename is None:  # errors of an open file do not contain its name
            raise OSError(error.errno, error.strerror or str(error), str(folder / hidden.name)) from error
        raise
    finally:
        with suppress(OSError):
            hidden.path.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, and flush the name of each to the disk."""
    if is_remote(folder) or folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir()
    flush(folder.parent)


def flush(path: Path) -> None:
    """Flush the content of a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def refuse_links(top: Path, *below: str) -> None:
    """Refuse a folder if one of its parts is a link, since writing there would change files elsewhere."""
    if is_remote(top):
        return
    for name in below:
        with suppress(FileNotFoundError):
            if stat.S_ISLNK(os.lstat(top / name).st_mode):
                raise UserError(f"{top / name} is a link; replace it by the folder itself")
