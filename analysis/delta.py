"""The log of a result folder: one Delta table (delta.io) in `tables/`, partitioned by the names of our tables.

A commit is the next file in `tables/_delta_log`, for all tables at once: the rows of a run, or of a whole batch, are
visible together or not at all, and every reader sees one version. delta-rs (`deltalake`) reads and writes the log. A
commit succeeds only if no other commit came after the version that its writer has read. So if two writers have the same
run, the second one sees the rows of the first. This module adds two things. It flushes the log to the disk before it
reports a commit, which delta-rs does not do. And it keeps a copy of each file of the log in `tables/_copies`, with a
digest in its name, to detect and repair damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from causeway.analysis import physical, schema
from causeway.analysis.files import flush, refuse_links, replacing
from causeway.analysis.physical import File
from causeway.analysis.remote import Remote, is_remote, place
from causeway.errors import UserError

if TYPE_CHECKING:
    from deltalake import DeltaTable

FORMAT = 1
"""The version of the format of result folders. A folder of a higher version is refused."""
_DESCRIPTION = re.compile(r"causeway results, format (\d+)")
LOG, COPIES = "_delta_log", "_copies"
LOG_FILE = re.compile(r"\d{20}\.(json|checkpoint\.parquet)")
_COPY = re.compile(r"(\d{20}\.(?:json|checkpoint\.parquet))-([0-9a-f]{64})")
PARTS = (
    "studies", ".locks", ".convert", "tables", f"tables/{LOG}", f"tables/{COPIES}",
    *(f"tables/table={name}" for name in (*schema.TABLES, physical.SOURCES)),
)  # fmt: skip
"""The folders inside a result folder. None of them may be a link."""
_CHECKPOINT_EVERY = 20
"""The number of versions between checkpoints. A reader opens the last checkpoint and one file for each later version.
"""
KEPT_HOURS = 24
"""The time for which removed files are kept, for readers that began before the commit."""
_SETTINGS = {
    "delta.deletedFileRetentionDuration": f"interval {KEPT_HOURS} hours",
    # Without it, `to_pyarrow_dataset` of delta-rs 1.6 passes over every file if a filter is on another column.
    "delta.dataSkippingStatsColumns": "run_id",
    "delta.logRetentionDuration": "interval 7 days",
    "delta.enableExpiredLogCleanup": "false",  # `clean` deletes old files of the log together with their copies
}
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_ONE_THREAD = Lock()
"""Held by the thread that updates a handle."""
_SLOW_S = 3600.0
"""After this time a writer checks that its files still exist, since others may have deleted them as orphans."""


@dataclass
class FolderVersion:
    """One version of a result folder. Version -1 is a folder without any commit."""

    folder: Path
    version: int = -1
    files: dict[str, list[File]] = field(default_factory=dict)
    """Maps a table to its files, in the order of their commits."""
    opened: DeltaTable | None = None
    """A handle of the table. Commits of this process update it, so it may be at a later version."""

    def all_files(self) -> list[File]:
        """Return the files of all tables."""
        return [file for files in self.files.values() for file in files]


class Overtaken(Exception):
    """Raised if another commit has changed the rows of this one. `state` is the latest version."""

    def __init__(self, state: FolderVersion) -> None:
        super().__init__()
        self.state = state


# --- reading the log ---------------------------------------------------------------------------------------


_LATEST: dict[str, tuple[Any, FolderVersion]] = {}
"""Maps a folder to the time of its last inspection (see `_inspect`) and the version found."""
_FRESH_S = 10.0
"""The maximum age of the stored state of a folder behind a URL that `latest(may_be_old=True)` returns."""


def forget_versions() -> None:
    """Forget the stored versions of all folders, so that they are read again."""
    _LATEST.clear()


def top(folder: Path) -> Path:
    """Return a folder's complete address, by which its state is stored."""
    where = place(folder)
    return where if isinstance(where, Remote) else Path(where).absolute()


def latest(folder: Path, may_be_old: bool = False) -> FolderVersion:
    """Return the latest version of a folder. With `may_be_old`, the version behind a URL may be some seconds old."""
    folder = top(folder)
    kept = _LATEST.get(str(folder))
    if kept is not None and (
        _is_current(folder, *kept) if not is_remote(folder) else may_be_old and _is_fresh(kept[0])
    ):
        return kept[1]
    return _keep(_read(folder))


def _keep(state: FolderVersion) -> FolderVersion:
    _LATEST[str(state.folder)] = (_inspect(state.folder, state.version), state)
    return state


def _is_fresh(seen: Any) -> bool:
    return bool(time.monotonic() - seen < _FRESH_S)


def _inspect(folder: Path, version: int) -> Any:
    if is_remote(folder):
        return time.monotonic()
    try:
        status = os.stat(_log(folder, version))
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _is_current(folder: Path, seen: Any, state: FolderVersion) -> bool:
    """Return whether a folder of this machine is still at this version."""
    if os.path.exists(_log(folder, state.version + 1)):
        return False
    return state.version >= 0 and bool(_inspect(folder, state.version) == seen)


def _log(folder: Path, version: int) -> Path:
    return folder / "tables" / LOG / f"{version:020d}.json"


def _read(folder: Path) -> FolderVersion:
    if not is_remote(folder):
        refuse_links(folder, *PARTS)
        if not _has_log(folder):
            _refuse_lost_log(folder)
            return FolderVersion(folder)
        if name := next(damaged_files(folder), None):
            raise physical.DamagedError(
                f"{folder / 'tables' / LOG / name} has changed since it was written; "
                f"`causeway doctor {folder} --repair` restores its copy"
            )
    table = _open(folder)
    if table is None:
        return FolderVersion(folder)
    described = _DESCRIPTION.fullmatch(table.metadata().description or "")
    if described is None or int(described[1]) > FORMAT:
        what = "was written by a newer version of causeway" if described else "is not a result folder of causeway"
        raise UserError(f"{folder} {what} ({table.metadata().description!r}): use the causeway that wrote it")
    return FolderVersion(folder, table.version(), _files(table), table)


def _has_log(folder: Path) -> bool:
    return any(LOG_FILE.fullmatch(name) for name in names(folder / "tables" / LOG))


def _refuse_lost_log(folder: Path) -> None:
    """Raise DamagedError if a folder without a log had one, since a new log would hide its rows.

    The first command makes an empty log before its first file of rows, then commits, then copies its commit. So these
    are inspected in the opposite order, in case such a command is running.
    """
    tables = folder / "tables"
    files = len(list(tables.glob("table=*/*.parquet")))
    had_log = (tables / COPIES).is_dir() or not (tables / LOG).is_dir()
    if files and had_log and not _has_log(folder):
        raise physical.DamagedError(
            f"{folder}: the log is missing, and {files} files of rows are there; `causeway doctor {folder} --repair` "
            "restores it if it has copies, otherwise put tables/_delta_log back from a backup or use another folder"
        )


def _open(folder: Path) -> DeltaTable | None:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    try:
        return DeltaTable(uri(folder), storage_options=options(folder))
    except TableNotFoundError:
        return None
    except (DeltaError, OSError, ValueError) as error:
        if is_remote(folder):
            raise UserError(f"{folder} cannot be reached: {str(error).splitlines()[0]}") from error
        raise UserError(
            f"the log of {folder} cannot be read ({str(error).splitlines()[0]}); "
            f"`causeway doctor {folder} --repair` mends it if it has copies"
        ) from error


def uri(folder: Path) -> str:
    """Return the address of a folder's Delta table, as `deltalake` takes it."""
    where = top(folder)
    if isinstance(where, Remote):
        return where.location + "/tables"
    if _ESCAPE.search(str(where)):  # delta-rs 1.6 decodes such a path when it reads, but not when it writes
        raise UserError(f"{where}: a path with a % before two hexadecimal digits cannot hold results; choose another")
    return (where / "tables").as_uri()


def options(folder: Path) -> dict[str, str] | None:
    """Return the storage options that `deltalake` needs in addition to the address."""
    where = place(folder)
    return where.storage_options if isinstance(where, Remote) else None


def _files(table: DeltaTable) -> dict[str, list[File]]:
    added = table.get_add_actions(flatten=True)
    listed: Any = pa.RecordBatchReader.from_stream(added).read_all()  # pa.table would load pandas
    columns = [listed[name].to_pylist() for name in ("path", "size_bytes", "num_records")]
    columns += [
        listed[name].to_pylist() if name in listed.column_names else [None] * len(listed)
        for name in ("min.run_id", "max.run_id")
    ]
    found: dict[str, list[File]] = {}
    for path, size, rows, low, high in zip(*columns, strict=True):
        file = File(path, size, rows or 0, low or "", high if high is not None else chr(0x10FFFF))
        found.setdefault(file.table, []).append(file)
    for files in found.values():
        files.sort(key=lambda file: file.path)
    return found


# --- committing ------------------------------------------------------------------------------------------


def commit(
    state: FolderVersion, writer: physical.Writer, removed: Sequence[File] = (),
    still: Callable[[FolderVersion], bool] = lambda state: True, moves: bool = False,
) -> FolderVersion:  # fmt: skip
    """Add the writer's files and remove others in one commit; return the state after it.

    Args:
        state: The version on which the commit is based.
        writer: The writer of the new files.
        removed: The files to remove.
        still: Returns True for a newer state on which the same commit is still valid.
        moves: True if the new files only contain rows of the removed ones.

    Raises:
        Overtaken: The commit is not valid on a newer state, or another commit has removed one of `removed`.
    """
    folder, ours = state.folder, {file.path for file in writer.files}
    for _ in range(1000):
        gone = {file.path for file in removed} - {file.path for file in state.all_files()}
        if gone or not still(state):
            raise Overtaken(state)
        _check_slow(folder, writer)
        failure = _try(state, writer.files, removed, moves)
        if failure is None:
            after = None if state.opened is None else _keep(_after(state, writer.files, removed))
            return settle(folder, state.version + 1, after)
        now = _read(folder)
        if ours & {file.path for file in now.all_files()}:  # the commit succeeded, but its confirmation was lost
            return settle(folder, now.version)
        if now.version == state.version:
            raise OSError(5, f"the log cannot be written ({str(failure).splitlines()[0]})", uri(folder)) from failure
        state = now
    raise OSError(11, "other writers commit all the time", uri(folder))


def _check_slow(folder: Path, writer: physical.Writer) -> None:
    """Verify the files of a writer that has taken so long that others may have deleted them."""
    if time.monotonic() - writer.began_s > _SLOW_S:
        for file in writer.files:
            if what := physical.wrong(folder, file, thoroughly=True):
                raise physical.damage(folder, file, what)


def _try(state: FolderVersion, added: Iterable[File], removed: Iterable[File], moves: bool) -> Exception | None:
    """Try to commit the version after `state`; return the error if the attempt fails."""
    from deltalake.exceptions import DeltaError
    from deltalake.transaction import RemoveAction

    now_ms = time.time_ns() // 10**6
    adds = [_action(file, now_ms, not moves) for file in added]
    try:
        if state.opened is None:
            _create(state.folder, adds)
        # this version of Causeway has columns that the version that created the folder did not have
        elif lacking := _lacking(state.opened):
            state.opened.alter.add_columns(lacking, **_one_attempt())
            settle(state.folder, state.version + 1)
            return RuntimeError("columns were added first")
        elif unset := _unset(state.opened):
            state.opened.alter.set_table_properties(unset, **_one_attempt())
            settle(state.folder, state.version + 1)
            return RuntimeError("settings were added first")
        else:
            removes = [RemoveAction(file.path, not moves, now_ms, file.size, {"table": file.table}) for file in removed]
            return _write(state.opened, state.version, [*adds, *removes])
    except (DeltaError, OSError) as error:
        return error
    return None


def _one_attempt() -> dict[str, Any]:
    """Return the options for a commit that fails if another one came first, and that runs no clean-up after it."""
    from deltalake.transaction import CommitProperties, PostCommitHookProperties

    return {
        "commit_properties": CommitProperties(max_commit_retries=0),
        "post_commithook_properties": PostCommitHookProperties(False, False),
    }


def _create(folder: Path, adds: list[Any]) -> None:
    """Create the table of a folder by its first commit."""
    from deltalake.transaction import create_table_with_add_actions

    create_table_with_add_actions(
        uri(folder), _form(), adds, "error", ["table"], description=f"causeway results, format {FORMAT}",
        configuration=_SETTINGS, storage_options=options(folder), **_one_attempt(),
    )  # fmt: skip


def _write(opened: DeltaTable, version: int, actions: list[Any]) -> Exception | None:
    """Commit actions by a handle, unless another commit of this process has moved the handle beyond `version`."""
    with _ONE_THREAD:
        if opened.version() != version:
            return RuntimeError("another commit has updated this handle")
        opened.create_write_transaction(actions, "append", _form(), ["table"], **_one_attempt())
        opened.update_incremental()
    return None


@cache
def _form() -> Any:
    from deltalake.schema import Schema

    return Schema.from_arrow(physical.log_form())


def _lacking(opened: DeltaTable) -> list[Any]:
    known = {field.name for field in opened.schema().fields}
    return [field for field in _form().fields if field.name not in known]


def _unset(opened: DeltaTable) -> dict[str, str]:
    """Return the settings that the version of Causeway that created the folder lacked."""
    known = opened.metadata().configuration
    return {name: value for name, value in _SETTINGS.items() if name not in known}


def _after(state: FolderVersion, added: Iterable[File], removed: Iterable[File]) -> FolderVersion:
    """Return the state after a commit on `state`, without reading the log again."""
    gone, files = {file.path for file in removed}, dict[str, list[File]]()
    for file in sorted([*state.all_files(), *added], key=lambda file: file.path):
        if file.path not in gone:
            files.setdefault(file.table, []).append(file)
    return FolderVersion(state.folder, state.version + 1, files, state.opened)


def _action(file: File, now_ms: int, changes: bool) -> Any:
    from deltalake.transaction import AddAction

    stats = {
        "numRecords": file.rows, "minValues": {"run_id": file.low}, "maxValues": {"run_id": file.high},
        "nullCount": {"run_id": 0},
    }  # fmt: skip
    return AddAction(file.path, file.size, {"table": file.table}, now_ms, changes, json.dumps(stats))


_ROOTED: set[Path] = set()
"""Folders whose names have been flushed up to the root, in case the program that made them has not done so."""


def settle(folder: Path, version: int, state: FolderVersion | None = None) -> FolderVersion:
    """Flush a version and all files that it names to the disk. Return `state`, or without it the latest version."""
    logs = place(folder) / "tables" / LOG
    if not is_remote(folder):
        flush(_log(folder, version))
        for one in (logs, logs.parent, folder):
            flush(one)
        for one in () if folder in _ROOTED else folder.parents:
            with suppress(OSError):  # a folder of another user, or a file system that cannot flush folders
                flush(one)
        _ROOTED.add(folder)
    copy(folder, _log(place(folder), version).name)
    state = state or latest(folder)
    if version % _CHECKPOINT_EVERY == 0 and version and state.opened is not None:
        _checkpoint(state)
    return state


def _checkpoint(state: FolderVersion) -> None:
    """Write a checkpoint, and drop the handle of the table, since it gets slower with every commit."""
    assert state.opened is not None
    with _ONE_THREAD:
        version = state.opened.version()
        state.opened.create_checkpoint()
    _LATEST.pop(str(state.folder), None)
    logs, name = place(state.folder) / "tables" / LOG, f"{version:020d}.checkpoint.parquet"
    (logs / "_last_checkpoint").unlink(missing_ok=True)  # this file is only a hint, and delta-rs overwrites it in place
    if not is_remote(state.folder):
        flush(logs / name)
        flush(logs)
    copy(state.folder, name)


def copy(folder: Path, name: str) -> None:
    """Copy a file of the log into `_copies`, with its digest in the copy's name."""
    content = (place(folder) / "tables" / LOG / name).read_bytes()
    copies = place(folder) / "tables" / COPIES
    with replacing(copies / f"{name}-{hashlib.sha256(content).hexdigest()}") as temporary:
        temporary.write_bytes(content)


def clean(state: FolderVersion) -> None:
    """Remove files of the log for versions of more than a week ago, and their copies."""
    if state.opened is None:
        return
    state.opened.cleanup_metadata()
    tables = place(state.folder) / "tables"
    first = min((name[:20] for name in names(tables / LOG) if LOG_FILE.fullmatch(name)), default="")
    for name in names(tables / COPIES):
        if _COPY.fullmatch(name) and name[:20] < first:
            (tables / COPIES / name).unlink(missing_ok=True)


# --- damage ----------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    """Return the names of the entries of a folder."""
    if isinstance(folder, Remote):
        return sorted(child.name for child in folder.children())
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


_SAME: set[tuple[str, int, int, int]] = set()
"""The (path, size, time of change, inode) of files of logs that were equal to their copies."""


def copies_of(folder: Path) -> dict[str, set[str]]:
    """Return the files of the log that have copies, with their digests.

    A checkpoint has two digests if two processes made it.
    """
    found: dict[str, set[str]] = {}
    for name in names(place(folder) / "tables" / COPIES):
        if copy := _COPY.fullmatch(name):
            found.setdefault(copy[1], set()).add(copy[2])
    return found


def damaged_files(folder: Path) -> Iterator[str]:
    """Yield the names of files of the log that a reader needs and that differ from their copies."""
    logs, copies = place(folder) / "tables" / LOG, copies_of(folder)
    there = {name for name in names(logs) if LOG_FILE.fullmatch(name)}
    last = max((name for name in there if name.endswith(".checkpoint.parquet")), default="")
    needed = {name for name in there if name[:20] > last[:20] or name == last}
    for name in sorted(needed & copies.keys()):
        if _is_damaged(logs / name, copies[name]):
            yield name


def _is_damaged(path: Path, digests: set[str]) -> bool:
    try:
        status = path.stat()
        known = (str(path), status.st_size, status.st_mtime_ns, getattr(status, "st_ino", 0))
        if known in _SAME:
            return False
        if hashlib.sha256(path.read_bytes()).hexdigest() not in digests:
            return True
    except OSError:
        return True
    _SAME.add(known)
    return False
