"""Where large files' parts wait until the whole file has been read: `.convert/` in the result folder (where that is
behind a URL: in this machine's cache folder).

Parts are written there and only renamed into `tables/` when their batch lands: a reader never sees half a file, and an
interrupted conversion finds what it had done.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from causeway.analysis import store
from causeway.analysis.remote import desk

BLOCK_BYTES = 1 << 20
SQLITE = b"SQLite format 3\0"
"""What a database begins with."""


def fingerprint(path: Path, end: int, start: int = 0) -> str:
    """Return a digest of the bytes [start, end) of a file, by which a changed one is told from one that has grown."""
    digest = hashlib.sha256(f"{start} {end}".encode())
    with open(path, "rb") as file:
        file.seek(start)
        while start < end and (block := file.read(min(end - start, BLOCK_BYTES))):
            digest.update(block)
            start += len(block)
    return digest.hexdigest()


def is_sqlite(path: Path) -> bool:
    """Both kinds have the same suffixes: only the first bytes tell."""
    with open(path, "rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def source_id(resolved: Path | str) -> str:
    """Names a source file by where it is (see `Path.resolve`)."""
    return hashlib.sha256(str(resolved).encode()).hexdigest()[:16]


def unended(source: Path) -> str:
    """What is said of a file whose last line is not whole."""
    return f"{source}: its last line has no line end and was not read: is it still written?"


def folder_of(out: Path, source: Path) -> Path:
    """The stage of one source file in one result folder."""
    return desk(out) / ".convert" / f"{store.quote(source.name)[:60]}-{source_id(source.resolve())}"


def note(folder: Path, name: str, content: dict[str, Any]) -> None:
    """Leave a note in the stage, whole or not at all."""
    with store.landing(folder / f"{name}.json") as temporary:
        temporary.write_text(json.dumps(content))


def noted(folder: Path, name: str) -> dict[str, Any] | None:
    """The note of that name, if there is one."""
    try:
        found = json.loads((folder / f"{name}.json").read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def clear(folder: Path) -> None:
    """Forget what is staged."""
    shutil.rmtree(folder, ignore_errors=True)
