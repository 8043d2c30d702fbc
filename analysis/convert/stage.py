"""Where a file's tables wait until they are whole, and the checkpoint that says how far a file has been read.

Both stand in `.convert/` in the result folder. Parts are written to a stage there and only renamed into `tables/` once
the whole file has been read: a reader never sees half a file, and an interrupted conversion finds what it had done.
"""

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from causeway.analysis import store

_SAMPLE_BYTES = 1 << 16


def fingerprint(path: Path, end: int) -> str:
    """Says whether the first `end` bytes are still the ones that were read: a hash of where they begin and end."""
    digest = hashlib.sha256(str(end).encode())
    with open(path, "rb") as file:
        digest.update(file.read(min(end, _SAMPLE_BYTES)))
        file.seek(max(0, end - _SAMPLE_BYTES))
        digest.update(file.read(min(end, _SAMPLE_BYTES)))
    return digest.hexdigest()


@dataclass
class Mark:
    """How far a source file has been converted."""

    whole: bool = False  # False: it was landing when it stopped, and must be done again
    size: int = 0
    mtime_ns: int = 0
    end: int = 0  # bytes of a text file, rows of a database
    fingerprint: str = ""
    rows: int = 0
    problems: int = 0
    runs: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)  # files landed, relative to the result folder


class Stage:
    """The stage of one source file in one result folder."""

    def __init__(self, out: Path, source: Path) -> None:
        self.out, self.source = Path(out), source
        name = f"{store.quote(source.name)}-{hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:12]}"
        self.folder = self.out / ".convert" / name
        self._parts: set[str] = set()
        self._mark = self.out / ".convert" / f"{name}.json"

    def path(self, table: str, run_id: str, position: str = "") -> Path:
        """Where to write a table, or a part of one, so that `land` puts it in the result folder.

        The position tells apart a file's parts of a table; without one it is what all files of the run say alike.
        """
        part = f"{self.source.name}~{position}" if position else ""
        path = store.table_path(self.folder, table, run_id, part)
        self._parts.add(str(path.relative_to(self.folder)))
        return path

    def mark(self) -> Mark:
        """The checkpoint, or an empty one."""
        try:
            return Mark(**json.loads(self._mark.read_text()))
        except (OSError, ValueError, TypeError):
            return Mark()

    def note(self, name: str, content: dict[str, Any]) -> None:
        """Leave a note in the stage, whole or not at all."""
        _write(self.folder / f"{name}.json", content)

    def noted(self, name: str) -> dict[str, Any] | None:
        """The note of that name, if there is one."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None

    def land(self, before: Mark, after: Mark, keep_old_parts: bool) -> None:
        """Rename what was written to `path`s into the result folder, `runs` rows last; leave the checkpoint `after`."""
        stale = [] if keep_old_parts else [part for part in before.parts if part not in self._parts]
        after.parts = sorted({*before.parts, *self._parts} - set(stale))
        _write(self._mark, asdict(after) | {"whole": False})
        self._remove(stale)
        for part in sorted(self._parts, key=lambda part: (part.startswith("tables/runs/"), part)):
            (self.out / part).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.folder / part, self.out / part)
        _write(self._mark, asdict(after) | {"whole": True})
        self.clear()

    def _remove(self, parts: list[str]) -> None:
        """Remove parts of an earlier content of the file; a run's own rows only when no other file gave it any."""
        shared = [part for part in parts if "~" not in part]
        for part in set(parts) - set(shared):
            (self.out / part).unlink(missing_ok=True)
        for part in sorted(shared, key=lambda part: "/runs/" not in part):
            key = Path(part).name.removesuffix(".parquet")
            if not any((self.out / "tables").glob(f"*/{key}~*.parquet")):
                (self.out / part).unlink(missing_ok=True)

    def clear(self) -> None:
        """Forget what is staged."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _write(path: Path, content: dict[str, Any]) -> None:
    with store.landing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1))
