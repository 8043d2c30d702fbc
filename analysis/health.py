"""What can be wrong in a result folder, and how to mend it: `causeway doctor DIR`.

Nothing here guesses: what is damaged or half done is removed, and the command that made it makes it again. What
somebody is writing at this moment is left alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from causeway.analysis import batches, description, locks, remains, schema, store
from causeway.analysis.remote import is_remote
from causeway.bridge.errors import UserError

AGAIN = "run it again"
_YOUNG_NS = 3600 * 10**9


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    what: str
    advice: str
    mend: Callable[[], str]
    """Mends it, and says what it did."""


def problems(folder: Path) -> list[Problem]:
    """All that is wrong, in the order in which to mend it."""
    return [*_leftovers(folder), *_runs(folder), *_descriptions(folder)]


def finished(folder: Path) -> int:
    """How many runs are whole."""
    return len(store.finished_runs(folder))


def _leftovers(folder: Path) -> Iterator[Problem]:
    for path in remains.leftovers(folder):
        kind = "the lock of a dead process" if path.suffix == ".lock" else "half-written by a process that died"
        yield Problem(f"{path}: {kind}", "it is in nobody's way", partial(_sweep, path))


def _sweep(path: Path) -> str:
    return "removed" if locks.remove_if_free(path) else "somebody uses it now, left alone"


def _runs(folder: Path) -> Iterator[Problem]:
    for key, why in remains.unfinished(folder).items():
        lock = store.lock_path(folder, key)
        if is_remote(folder) and _is_young(folder, key):
            continue  # another machine may be writing it: its lock is not seen here
        if not lock.exists() or locks.is_free(lock):  # else it is being written
            yield Problem(f"{_called(key)}: {why}", f"it does not count; {AGAIN}", partial(_forget, folder, key))
    for key, why in remains.damaged(folder).items():
        yield Problem(f"{_called(key)}: {why}", f"do not trust it; {AGAIN}", partial(_forget, folder, key))


def _is_young(folder: Path, key: str) -> bool:
    """Whether a file of this key was written within the hour."""
    written = [
        path.stat().st_mtime_ns
        for name in schema.TABLES
        for file, (_, path) in batches.found(folder / "tables", name).items()
        if file.rpartition("/")[2].startswith((f"{key}.", f"{key}~"))
    ]
    return max(written, default=0) > time.time_ns() - _YOUNG_NS


def _called(key: str) -> str:
    return f"batch {key} of runs" if key.startswith(batches.MARK) else f"run {unquote(key)}"


def _forget(folder: Path, key: str) -> str:
    with locks.held(store.lock_path(folder, key), wait=False) as mine:
        if not mine:
            return "somebody writes it now, left alone"
        store.forget_key(folder, key)
        converted = _forget_conversion(folder, key)
    if key.startswith(batches.MARK):
        return "removed; run it, or convert its files, again"
    return "removed; " + ("convert its files again" if converted else AGAIN)


def _forget_conversion(folder: Path, key: str) -> int:
    """Removes the notes that say that the files of a converted run are up to date."""
    count = 0
    for path in (folder / ".convert").glob("*.json"):
        try:
            runs = json.loads(path.read_text(encoding="utf-8")).get("runs", [])
        except (OSError, ValueError, AttributeError):
            continue
        if any(store.quote(run_id) == key for run_id in runs):
            path.unlink(missing_ok=True)
            count += 1
    return count


def _descriptions(folder: Path) -> Iterator[Problem]:
    for path in sorted((folder / "studies").glob("*.json")):
        try:
            description.read_one(path)
        except UserError as error:
            yield Problem(str(error), "no report until then", partial(_remove, path))


def _remove(path: Path) -> str:
    path.unlink(missing_ok=True)
    return "removed; the next run of the study writes it"
