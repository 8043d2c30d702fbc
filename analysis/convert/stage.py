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

from analysis import store

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
        self._mark = self.out / ".convert" / f"{name}.json"

    def part(self, position: str) -> str:
        """What tells this file's part of a table from another file's of the same run."""
        return f"{self.source.name}~{position}"

    def mark(self) -> Mark:
        """The checkpoint, or an empty one."""
        try:
            return Mark(**json.loads(self._mark.read_text()))
        except (OSError, ValueError, TypeError):
            return Mark()

    def note(self, name: str, content: dict) -> None:
        """Leave a note in the stage, whole or not at all."""
        _write(self.folder / f"{name}.json", content)

    def noted(self, name: str) -> dict | None:
        """The note of that name, if there is one."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None

    def land(self, before: Mark, after: Mark, keep_old_parts: bool) -> None:
        """Rename everything staged into the result folder, `runs` rows last, and leave the checkpoint `after`."""
        staged = sorted(self._staged(), key=lambda part: (part.parts[1] == "runs", str(part)))
        new = [str(part) for part in staged]
        stale = [] if keep_old_parts else [part for part in before.parts if part not in set(new)]
        after.parts = sorted({*before.parts, *new} - set(stale))
        _write(self._mark, asdict(after) | {"whole": False})
        self._remove(stale)
        for part in staged:
            (self.out / part).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.folder / part, self.out / part)
        _write(self._mark, asdict(after) | {"whole": True})
        self.clear()

    def _staged(self) -> list[Path]:
        paths = (self.folder / "tables").glob("*/*.parquet")
        return [path.relative_to(self.folder) for path in paths if not path.name.startswith(".")]

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


def _write(path: Path, content: dict) -> None:
    with store.landing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1))
