"""Remove a damaged file from a result folder, and keep those of its rows that are verifiably undamaged.

Rows on undamaged pages are kept. Runs that have lost rows are removed from all tables, so that no mean covers part of a
run; the user repeats these runs. The damaged file itself is kept under another name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import delta, physical, store
from causeway.analysis.compact import but, logical, without_runs
from causeway.analysis.delta import FolderVersion
from causeway.analysis.physical import SOURCE, SOURCES, File
from causeway.analysis.remote import Remote, place


def salvage(folder: Path, file: File) -> str:
    """Repair the damage of one file; return a message with the result."""
    while True:
        state = delta.latest(folder)
        if file.path not in {one.path for one in state.all_files()}:
            return "already removed: no version contains it"
        try:
            done = _salvage(state, file)
        except delta.Overtaken:
            continue
        rename_damaged(place(state.folder) / "tables" / file.path)
        return done


def rename_damaged(path: Path) -> None:
    """Rename a damaged file that no version contains, so that readers ignore it."""
    if not isinstance(path, Remote):
        with suppress(FileNotFoundError):
            os.replace(path, path.with_name(f"{path.name}.damaged"))


def _salvage(state: FolderVersion, file: File) -> str:
    right, bad = _rows_of(state, file)
    whole = [one for one in state.all_files() if one.path != file.path and not physical.wrong(state.folder, one, True)]
    known = _runs_in(state, [one for one in whole if one.table == "runs"])
    if file.table == SOURCES:
        return _without_marks(state, file, right, whole)
    if file.table == "runs":
        known |= set(right["run_id"].to_pylist()) if right is not None else set()
        lost = {run for run in _runs_in(state, [o for o in whole if o.table != SOURCES]) if file.holds(run)} - known
    else:
        lost = _lost(state, file, bad, whole, known)
    with store.files_for(state) as writer:
        if right is not None:
            writer.write(file.table, but(logical(file.table, right), lost))
        removed = [file, *without_runs(state, writer, lost, whole)]
        delta.commit(state, writer, removed)
    some = ", ".join(sorted(lost)[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    return f"removed; repeat {some}" if lost else "removed; no run has lost rows"


_Bad = tuple[set[str], list[tuple[str, str]]]
"""Runs that certainly have unreadable rows, and ranges of runs that may have some."""


def _rows_of(state: FolderVersion, file: File) -> tuple[pa.Table | None, _Bad]:
    """Return the undamaged rows, and the runs of the damaged ones as far as they are known."""
    everything: _Bad = (set(), [(file.low, file.high)])
    path = place(state.folder) / "tables" / file.path
    try:
        with path.open("rb") as raw:
            if physical.footer_digest(raw) != file.footer:
                return None, everything
            raw.seek(0)
            return _groups(pq.ParquetFile(raw, page_checksum_verification=True), file)
    except (OSError, pa.ArrowException, ValueError):
        return None, everything


def _groups(opened: pq.ParquetFile, file: File) -> tuple[pa.Table | None, _Bad]:
    right, runs, ranges = list[pa.Table](), set[str](), list[tuple[str, str]]()
    form = physical.form_of(file.table)
    for number in range(opened.num_row_groups):
        try:
            rows = opened.read_row_group(number)
            columns = {
                f.name: rows[f.name] if f.name in rows.column_names else pa.nulls(len(rows), f.type) for f in form
            }
            right.append(pa.table({name: column.cast(form.field(name).type) for name, column in columns.items()}))
        except (OSError, pa.ArrowException, ValueError):
            try:
                runs.update(opened.read_row_group(number, ["run_id"])["run_id"].to_pylist())
            except (OSError, pa.ArrowException, ValueError):
                stats: Any = opened.metadata.row_group(number).column(0).statistics
                ranges.append((stats.min, stats.max) if stats is not None else (file.low, file.high))
    return (pa.concat_tables(right) if right else None), (runs, ranges)


def _lost(state: FolderVersion, file: File, bad: _Bad, whole: list[File], known: set[str]) -> set[str]:
    """Return the runs that have lost rows.

    These are the runs with damaged rows, as far as their names can be read. For unreadable groups, they are the runs of
    the same commit (or of the group's range) without rows of this table elsewhere. All converted runs among these count
    as lost, since they may have rows in several files.
    """
    surely, ranges = bad
    beside = [one for one in whole if one.table == "runs" and one.key == file.key]
    some = _runs_in(state, beside) if beside else known
    may = {run for run in some if any(low <= run <= high for low, high in ranges)}
    if may:
        elsewhere = _runs_in(state, [one for one in whole if one.table == file.table])
        may -= elsewhere - _converted(state, whole)
    return (surely | may) & known


def _runs_in(state: FolderVersion, files: Iterable[File]) -> set[str]:
    found: set[str] = set()
    for file in files:
        found.update(physical.read(state.folder, [file], ["run_id"])["run_id"].unique().to_pylist())
    return found


def _converted(state: FolderVersion, whole: list[File]) -> set[str]:
    rows = [physical.read(state.folder, [one], ["run_id", "source"]) for one in whole if one.table == "runs"]
    return {
        run for table in rows for run, source in zip(*(c.to_pylist() for c in table.columns), strict=True) if source
    }


def _without_marks(state: FolderVersion, file: File, right: pa.Table | None, whole: list[File]) -> str:
    """Repair lost marks of sources: mark each source that has rows in the folder for another conversion."""
    from causeway.analysis.convert.piece import Mark, source_rows

    runs: dict[str, set[str]] = {}
    for one in whole:
        if one.table != SOURCES:
            rows = physical.read(state.folder, [one], ["run_id", SOURCE]).group_by(["run_id", SOURCE]).aggregate([])
            for run, source in zip(rows["run_id"].to_pylist(), rows[SOURCE].to_pylist(), strict=True):
                if source:
                    runs.setdefault(source, set()).add(run)
    known = set() if right is None else set(right[SOURCE].to_pylist())
    for one in whole:
        if one.table == SOURCES:
            known.update(physical.read(state.folder, [one], [SOURCE])[SOURCE].to_pylist())
    marks = {source: Mark(size=-1, runs=sorted(some)).plain() for source, some in runs.items() if source not in known}
    with store.files_for(state) as writer:
        for rows in ([right] if right is not None else []) + ([source_rows(marks)] if marks else []):
            writer.write(SOURCES, rows)
        delta.commit(state, writer, [file])
    return f"removed; convert {len(marks)} result files again"
