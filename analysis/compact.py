"""Merge the small files of a result folder into a few, sorted by run, and delete files that no reader needs any more.

A reader skips all files and groups of rows that do not contain its run, so a folder of a hundred thousand runs in few
files is read in less than a second. Every byte is verified before it is written again. Files that a compaction replaced
are kept for a day, for readers that began before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from causeway.analysis import delta, locks, older, physical, schema, store
from causeway.analysis.delta import FolderVersion
from causeway.analysis.files import refuse_links
from causeway.analysis.physical import SOURCE, SOURCES, File
from causeway.analysis.remote import is_remote, place

MANY_FILES = 300
"""The number of files of `runs` from which on the next writer compacts the folder."""
_LARGE_BYTES = 64 << 20
"""A file of this size stays as it is."""
_MERGED_BYTES = 256 << 20
"""The maximum size of files that are merged at once. It bounds the memory."""


@dataclass(frozen=True)
class Compacted:
    """The result of a compaction."""

    runs: int
    files_before: int
    files_after: int


def compact_if_many(out_dir: Path) -> Compacted | None:
    """Compact the folder if it has many files and no other process on this machine is compacting it."""
    if len(delta.latest(out_dir).files.get("runs", [])) < MANY_FILES:
        return None
    with store.revising(out_dir, wait=False) as mine:
        return _compact(delta.top(out_dir)) if mine else None


def compact(out_dir: Path) -> Compacted:
    """Compact a folder; convert a folder of an older layout to the current one.

    The process may be killed at any moment, and other commands may use the folder meanwhile.
    """
    with store.revising(out_dir):
        return _compact(delta.top(out_dir))


def _compact(out: Path) -> Compacted:
    state = delta.latest(out)
    before = len(state.all_files())
    if older.is_there(out):
        old = list(older.files(out))
        if not is_remote(out):
            for at in {path.parent for path in old}:
                refuse_links(out, *(str(one.relative_to(out)) for one in (at, *at.parents) if out in one.parents))
        if state.version < 0:
            before = len(old)
            state = _upgrade(state)
    if state.version >= 0 and older.is_there(out):
        for path in list(older.files(out, older.damaged(out))):
            path.unlink(missing_ok=True)
    for table in list(state.files):
        for group in _groups(state.files.get(table, [])):
            state = _merge(state, table, group)
    if state.version >= 0:
        remove_dead(state)
    return Compacted(len(store.run_ids(state)), before, len(state.all_files()))


def _groups(files: Sequence[File]) -> Iterator[list[File]]:
    """Yield groups of small files, in the order of their commits; each group is merged into one file."""
    group, size = list[File](), 0
    for file in files:
        if file.size > _LARGE_BYTES:
            continue
        if size + file.size > _MERGED_BYTES and len(group) > 1:
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if len(group) > 1:
        yield group


def _merge(state: FolderVersion, table: str, group: list[File]) -> FolderVersion:
    for file in group:
        if what := physical.wrong(state.folder, file, thoroughly=True):
            raise physical.damage(state.folder, file, what)
    with store.files_for(state) as writer:
        writer.write(table, logical(table, physical.read(state.folder, group)))
        try:
            return delta.commit(state, writer, removed=group, moves=True)
        except delta.Overtaken as overtaken:  # another process has merged or changed the files: leave them
            return overtaken.state


def forget_runs(out_dir: Path, run_ids: Iterable[str]) -> None:
    """Remove these runs from all tables of a folder, in one commit."""
    gone = set(run_ids)
    while True:
        state = store.to_write(out_dir)
        if not gone & store.run_ids(state):
            return
        try:
            with store.files_for(state) as writer:
                delta.commit(state, writer, list(without_runs(state, writer, gone, state.all_files())))
            return
        except delta.Overtaken:
            continue


def without_runs(
    state: FolderVersion, writer: physical.Writer, gone: set[str], files: Sequence[File]
) -> Iterator[File]:
    """Rewrite the files that hold rows of these runs without those rows, and yield the old files.

    The sources of the runs count as changed.
    """
    for file in files:
        if file.table == SOURCES:
            rows = physical.read(state.folder, [file])
            texts = [_changed(text, gone) for text in rows["text"].to_pylist()]
            if texts != rows["text"].to_pylist():
                writer.write(SOURCES, rows.set_column(rows.column_names.index("text"), "text", pa.array(texts)))
                yield file
        elif any(map(file.holds, gone)):
            rows = physical.read(state.folder, [file])
            left = but(rows, gone)
            if len(left) < len(rows):
                writer.write(file.table, logical(file.table, left))
                yield file


def but(rows: pa.Table, gone: Iterable[str]) -> pa.Table:
    """Return the rows of all runs except `gone`."""
    import pyarrow.compute as pc

    return rows.filter(pc.invert(pc.is_in(rows["run_id"].cast(pa.string()), pa.array(sorted(gone), pa.string()))))


def _changed(text: str, gone: set[str]) -> str:
    """Return the mark of a source, changed if one of its runs is removed, so that the source is converted again."""
    mark = json.loads(text)
    if gone.isdisjoint(mark["names"].get(run, run) for run in mark["runs"]):
        return text
    return json.dumps({**mark, "size": -1, "mtime_ns": 0, "end": 0, "fingerprint": ""})


def logical(table: str, rows: pa.Table) -> pa.Table:
    """Convert rows with all columns of their files to the form that a `Writer` expects."""
    if table == SOURCES:
        return rows
    made = physical.as_table(table, rows, schema.TABLES[table].names)
    sources = rows[SOURCE]
    return made if sources.null_count == len(rows) else made.append_column(SOURCE, sources)


# --- folders of the older layout ---------------------------------------------------------------------------


def _upgrade(state: FolderVersion) -> FolderVersion:
    """Commit all rows of the older layout at once; from then on its files are ignored.

    Damaged runs and batches are left where they are.
    """
    from causeway.analysis.convert.piece import source_rows

    bad = older.damaged(state.folder)
    with store.files_for(state) as writer:
        for table in schema.TABLES:
            parts, size = list[pa.Table](), 0
            for rows in older.tables(state.folder, table, bad):
                parts.append(rows)
                size += rows.nbytes
                if size > _MERGED_BYTES:
                    writer.write(table, pa.concat_tables(parts))
                    parts, size = [], 0
            if parts:
                writer.write(table, pa.concat_tables(parts))
        if marks := older.sources(state.folder, bad):
            writer.write(SOURCES, source_rows(marks))
        try:
            return delta.commit(state, writer, still=lambda now: now.version < 0)
        except delta.Overtaken as overtaken:
            return overtaken.state


# --- unneeded files ----------------------------------------------------------------------------------------


def dead_files(state: FolderVersion) -> list[Path]:
    """Return the files that are in no version of the last day and that no running writer of this machine writes."""
    assert state.opened is not None
    found = []
    for path in state.opened.vacuum(delta.KEPT_HOURS, dry_run=True, full=True, enforce_retention_duration=False):
        name = path.replace("%3D", "=")
        if not physical.is_ours(name):
            continue
        lock = store.lock_path(state.folder, name.split("-")[2])
        if is_remote(state.folder) or not lock.exists() or locks.is_free(lock):
            found.append(place(state.folder) / "tables" / name)
    return found


def remove_dead(state: FolderVersion) -> None:
    """Remove dead files, and the files of the log, with their copies, of versions of more than a week ago."""
    for path in dead_files(state):
        path.unlink(missing_ok=True)
    delta.clean(state)
