"""Keep parts of large files in `.convert/` of the result folder until the whole file has been read.

Parts are added to the tables when their batch is committed, so a reader sees only whole files, and an interrupted
conversion goes on from its parts. If the result folder is behind a URL, they are in this machine's cache folder.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from causeway.analysis import store
from causeway.analysis.remote import local_folder

BLOCK_BYTES = 1 << 20
SQLITE = b"SQLite format 3\0"
"""The first bytes of a database."""


def fingerprint(path: Path, end: int, start: int = 0) -> str:
    """Return a digest of the bytes [start, end) of a file, which stays the same if the file only grows."""
    digest = hashlib.sha256(f"{start} {end}".encode())
    with open(path, "rb") as file:
        file.seek(start)
        while start < end and (block := file.read(min(end - start, BLOCK_BYTES))):
            digest.update(block)
            start += len(block)
    return digest.hexdigest()


def is_sqlite(path: Path) -> bool:
    """Return whether a file is a database by its first bytes, since its suffix is that of a text file."""
    with open(path, "rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def source_id(resolved: Path | str) -> str:
    """Return an id for a source file, made of its resolved path."""
    return hashlib.sha256(str(resolved).encode()).hexdigest()[:16]


def unended(source: Path) -> str:
    """Return a note about a file with an incomplete last line."""
    return f"{source}: its last line has no line end and was not read (a simulation may still be writing it)"


def folder_of(out: Path, source: Path, source_id: str) -> Path:
    """Return the folder for the parts of one source file."""
    return local_folder(out) / ".convert" / f"{store.quote(source.name)[:60]}-{source_id}"


def note(folder: Path, name: str, content: dict[str, Any]) -> None:
    """Write a note (JSON) into a stage atomically."""
    with store.replacing(folder / f"{name}.json") as temporary:
        temporary.write_text(json.dumps(content))


def noted(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the content of a note; None if there is none."""
    try:
        found = json.loads((folder / f"{name}.json").read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def clear(folder: Path) -> None:
    """Delete all parts of a source."""
    shutil.rmtree(folder, ignore_errors=True)
