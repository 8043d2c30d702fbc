"""Find damage in a result folder and repair it: `causeway doctor DIR`. Start here: `problems`.

Every byte of the folder has a digest. The digest of a table's file is in its name. The digest of a file of the log is
in the name of its copy, and the digest of a description is in the description itself. A damaged file of the log is
restored from its copy. If rows of a table are lost, their runs are removed; the command that made these runs can repeat
them. Orphans are removed when no process can write or read them any more.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from causeway.analysis import compact, delta, locks, older, physical, salvage, schema, store
from causeway.analysis import study_description as description
from causeway.analysis.delta import COPIES, LOG, FolderVersion
from causeway.analysis.files import flush, refuse_links, replacing
from causeway.analysis.physical import SOURCES
from causeway.analysis.remote import is_remote, place
from causeway.errors import UserError


@dataclass(frozen=True)
class Problem:
    """A damaged or superfluous file, and its repair."""

    what: str
    advice: str
    repair: Callable[[], str]
    """Repairs the file and returns a message with the result."""


def problems(folder: Path) -> Iterator[Problem]:
    """Yield all problems, in the order in which to repair them.

    A problem of the log must be repaired before the next one is requested, since it may hide others.
    """
    folder = place(folder)
    refuse_links(folder, "report", *delta.PARTS)
    yield from _leftovers(folder)
    yield from _log(folder)
    try:
        state = delta.latest(folder)
    except UserError as error:
        yield Problem(str(error), "nothing is removed", lambda: "it cannot be repaired here")
    else:
        yield from _tables(state)
    yield from _descriptions(folder)


def finished(folder: Path) -> int:
    """Return the number of committed runs; 0 if the log cannot be read."""
    try:
        return len(store.run_ids(delta.latest(folder)))
    except UserError:
        return 0


# --- orphans -----------------------------------------------------------------------------------------------


def sweep(out_dir: Path) -> list[Path]:
    """Remove the orphans of dead writers: half-written files, and locks that no process holds. Return their paths."""
    return [path for path in leftovers(out_dir) if locks.remove_if_free(path)]


def leftovers(out_dir: Path) -> list[Path]:
    """Return half-written files and locks whose owner is dead."""
    out_dir = place(out_dir)
    if is_remote(out_dir):  # there no file is half-written, and locks are on the machines of the writers
        return []
    tables = [out_dir / "tables" / f"table={name}" for name in (*schema.TABLES, SOURCES)]
    found = []
    for one in (out_dir / ".locks", out_dir / "studies", out_dir / "report", out_dir / "tables" / COPIES, *tables):
        if one.is_dir() and not one.is_symlink():
            hidden = [
                name for name in os.listdir(one) if _is_half(name) or (one.name == ".locks" and name.endswith(".lock"))
            ]
            found += [one / name for name in hidden if not (one / name).is_symlink() and locks.is_free(one / name)]
    return sorted(found)


def _is_half(name: str) -> bool:
    return name.startswith(".") and name.endswith(".part")


def _leftovers(folder: Path) -> Iterator[Problem]:
    for path in leftovers(folder):
        kind = "the lock of a dead process" if path.suffix == ".lock" else "half-written by a process that died"
        yield Problem(f"{path}: {kind}", "it does no harm", partial(_sweep, path))


def _sweep(path: Path) -> str:
    return "removed" if locks.remove_if_free(path) else "kept, since a process uses it now"


# --- the log -----------------------------------------------------------------------------------------------


def _log(folder: Path) -> Iterator[Problem]:
    logs, copies = folder / "tables" / LOG, folder / "tables" / COPIES
    digests = delta.copies_of(folder)
    for name in sorted(digests):
        for digest in sorted(digests[name]):
            copy = copies / f"{name}-{digest}"
            if _digest(copy) != digest:
                yield Problem(f"{copy}: has changed since it was written", "the log itself may be undamaged",
                              partial(_copy_again, logs / name, copy, digest))  # fmt: skip
    names = {name for name in delta.names(logs) if delta.LOG_FILE.fullmatch(name)}
    cleaned = any(name.endswith(".checkpoint.parquet") for name in names)  # else all commits are needed
    first = min(name[:20] for name in names) if cleaned else ""
    lost = {name for name in digests.keys() - names if name[:20] >= first and name.endswith(".json")}
    damaged_files = {name for name in names & digests.keys() if _digest(logs / name) not in digests[name]}
    for name in sorted(damaged_files | lost):
        what = "is missing" if name in lost else "has changed since it was written"
        yield Problem(f"{logs / name}: {what}", "its copy can replace it",
                      partial(_put_back, logs / name, copies, digests[name]))  # fmt: skip
    for name in sorted(names - digests.keys()):
        if name.endswith(".json") and not _is_whole(logs / name):
            yield Problem(f"{logs / name}: incomplete after a crash, before its command reported success",
                          "without it the folder is as it was before", partial(_remove_last, logs / name))  # fmt: skip
        else:
            yield Problem(f"{logs / name}: has no copy, since its command was stopped before it made one",
                          "--repair makes one", partial(_copy_first, folder, name))  # fmt: skip


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _is_whole(path: Path) -> bool:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return bool(lines) and all(isinstance(json.loads(line), dict) for line in lines)
    except (OSError, ValueError):
        return False


def _copy_again(log: Path, copy: Path, digest: str) -> str:
    if _digest(log) == digest:
        with replacing(copy) as temporary:
            temporary.write_bytes(log.read_bytes())
        return "made again from the log"
    return "not repaired: both the log and its copy have changed"


def _put_back(log: Path, copies: Path, digests: set[str]) -> str:
    for digest in sorted(digests):
        copy = copies / f"{log.name}-{digest}"
        if _digest(copy) == digest:
            with replacing(log) as temporary:
                temporary.write_bytes(copy.read_bytes())
            delta.forget_versions()
            return "replaced by its copy"
    return "not repaired: both the log and its copy have changed"


def _remove_last(log: Path) -> str:
    following = log.with_name(f"{int(log.name[:20]) + 1:020d}.json")
    if following.exists() or _is_whole(log):
        return "kept, since later commits follow it"
    log.unlink()
    flush(log.parent)
    return "removed"


def _copy_first(folder: Path, name: str) -> str:
    delta.copy(folder, name)
    return "copied"


# --- the tables --------------------------------------------------------------------------------------------


def _tables(state: FolderVersion) -> Iterator[Problem]:
    if state.version < 0:
        if older.is_there(state.folder):
            yield Problem(f"{state.folder}: written by an older causeway", f"`causeway compact {state.folder}` "
                          "converts it", partial(_compacted, state.folder))  # fmt: skip
        return
    named = {file.path for file in state.all_files()}
    for file in state.all_files():
        if what := physical.wrong(state.folder, file, thoroughly=True):
            reported = str(physical.damage(state.folder, file, what)).partition("; `")[0]
            yield Problem(reported, "do not use these numbers; --repair removes the lost runs, then repeat them",
                          partial(salvage.salvage, state.folder, file))  # fmt: skip
    dead = compact.dead_files(state)
    for path in dead:
        yield Problem(f"{path}: no version of the last day names it", "it does no harm", partial(_remove, path))
    if is_remote(state.folder):
        return
    for path in sorted((state.folder / "tables").glob("table=*/*.parquet")):
        name = f"{path.parent.name}/{path.name}"
        if name not in named and path not in dead and physical.is_ours(name) and not path.is_symlink():
            with path.open("rb") as opened:
                right = physical.whole_digest(opened) == physical.File(name, 0, 0, "", "").whole
            if not right:
                yield Problem(f"{path}: has changed since it was written, and only older versions name it",
                              "it does no harm", partial(_set_aside, path))  # fmt: skip


def _compacted(folder: Path) -> str:
    done = compact.compact(folder)
    return f"converted: {done.runs} runs"


def _set_aside(path: Path) -> str:
    salvage.rename_damaged(path)
    return f"renamed to {path.name}.damaged"


def _remove(path: Path) -> str:
    path.unlink(missing_ok=True)
    return "removed"


def _descriptions(folder: Path) -> Iterator[Problem]:
    described = folder / "studies"
    if not described.is_dir():
        return
    for path in sorted(described.glob("*.json")):
        try:
            description.read_one(path)
        except UserError as error:
            yield Problem(str(error), "a report is not possible with it", partial(_remove_description, path))


def _remove_description(path: Path) -> str:
    path.unlink(missing_ok=True)
    return "removed; the next run of the study writes it"
