"""Commit runs to a result folder (`write_run`, `write_runs`), and read its tables (`read_arrow`, `read_pandas`).

One commit adds all rows of a run (see `delta`), so a run is complete if its row in `runs` exists. The process that
executes a run holds its lock (`writing`), so that no other process executes the same run. The lock ends with the
process. Without locks (behind URLs, on some network file systems) a run may be executed twice; then the first one is
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import pyarrow as pa

from causeway.analysis import delta, locks, older, physical, schema
from causeway.analysis.delta import FolderVersion
from causeway.analysis.delta import forget_versions as forget_versions
from causeway.analysis.files import make_folder, refuse_links
from causeway.analysis.files import quote as quote
from causeway.analysis.files import replacing as replacing
from causeway.analysis.physical import File
from causeway.analysis.remote import is_remote, local_folder, place
from causeway.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
R = TypeVar("R")
COMPACT_EVERY = 256
"""The number of commits between two checks for too many small files (see `compact`)."""


def table_dir(folder: Path, table: str) -> Path:
    """Return the folder of the files of `table` in a result folder."""
    return place(folder) / "tables" / f"table={table}"


# --- writing ---------------------------------------------------------------------------------------------


def lock_path(out_dir: Path, key: str) -> Path:
    """Return the path of the lock of a run or a commit."""
    refuse_links(local_folder(place(out_dir)), ".locks")
    return local_folder(place(out_dir)) / ".locks" / f"{key}.lock"


@contextmanager
def writing(out_dir: Path, run_id: str, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a run for the block.

    Yield False if another process holds it; with `wait`, wait for it instead.
    """
    with locks.held(lock_path(out_dir, quote(run_id)), wait) as mine:
        yield mine


@contextmanager
def revising(out_dir: Path, wait: bool = True) -> Iterator[bool]:
    """Hold a lock, so that two commands of this machine do not do the same long work.

    Results are correct without it.
    """
    with locks.held(lock_path(out_dir, "batches"), wait) as mine:
        yield mine


@contextmanager
def files_for(state: FolderVersion) -> Iterator[physical.Writer]:
    """Yield a writer for the files of one commit. While its lock is held, the files do not count as orphans."""
    key = physical.new_key()
    if not is_remote(state.folder):  # rows without a folder of the log: the log was deleted
        make_folder(place(state.folder) / "tables" / delta.LOG)
    with locks.held(lock_path(state.folder, key), wait=True):
        yield physical.Writer(state.folder, state.version + 1, key)


def to_write(folder: Path) -> FolderVersion:
    """Return the latest state of a folder in order to add to it; refuse a folder of an older layout."""
    state = delta.latest(folder)
    if state.version < 0 and older.is_there(state.folder):
        raise UserError(f"{folder} was written by an older causeway: `causeway compact {folder}` converts it")
    return state


def conformed(tables: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Return a run's tables with exactly the columns of `schema`, for `write_runs`.

    Raise ValueError for other tables.
    """
    unknown = sorted(set(tables) - set(schema.TABLES))
    if unknown:
        raise ValueError(f"no such table: {', '.join(unknown)} (there are {', '.join(schema.TABLES)})")
    runs = schema.conform("runs", tables["runs"])
    if runs.num_rows != 1:
        raise ValueError(f"a run must have one row in `runs`, not {runs.num_rows}")
    run_id = runs["run_id"][0].as_py()
    made = {"runs": runs} | {name: schema.conform(name, t, run_id) for name, t in tables.items() if name != "runs"}
    for name, table in made.items():
        if any(owner != run_id for owner in table["run_id"].unique().to_pylist()):
            raise ValueError(f"table {name} holds rows of a run other than {run_id}")
    return made


def write_run(out_dir: Path, tables: Mapping[str, pa.Table | Mapping[str, Any]]) -> None:
    """Commit one run. `tables["runs"]` has one row; other tables may lack `run_id`. A run that is committed is kept."""
    write_runs(out_dir, [conformed(tables)])


def write_runs(out_dir: Path, runs: Sequence[Mapping[str, pa.Table]]) -> None:
    """Commit many runs at once. Runs that another writer has committed are kept as they are."""
    left = {tables["runs"]["run_id"][0].as_py(): tables for tables in runs}
    state = to_write(out_dir)
    while left := {run_id: tables for run_id, tables in left.items() if run_id not in run_ids(state)}:
        grouped: dict[str, list[pa.Table]] = {}
        for tables in left.values():
            for name, table in tables.items():
                grouped.setdefault(name, []).append(table)
        try:
            with files_for(state) as writer:
                for name, parts in sorted(grouped.items()):
                    writer.write(name, pa.concat_tables(parts))
                state = delta.commit(state, writer, still=lambda now: not run_ids(now) & left.keys())
                break
        except delta.Overtaken as overtaken:
            state = overtaken.state
    if left and state.version % COMPACT_EVERY == 0:
        from causeway.analysis import compact

        compact.compact_if_many(out_dir)


# --- ids of runs -----------------------------------------------------------------------------------------


def has_run(out_dir: Path, run_id: str) -> bool:
    """Return whether the run is committed."""
    return run_id in run_ids(delta.latest(out_dir, may_be_old=True))


def finished_runs(out_dir: Path) -> frozenset[str]:
    """Return the ids of all committed runs; refuse a folder in which an id is a path."""
    ids = run_ids(state_of(out_dir))
    for run_id in ids:
        no_path(run_id, out_dir)
    return ids


_RUNS: dict[str, frozenset[str]] = {}
"""Maps a file of `runs` to the runs in it. Entries stay valid, since such a file never changes."""
_UNION: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
"""Maps a folder to the files of `runs` that were read last, and to the ids of all runs in them."""


def run_ids(state: FolderVersion) -> frozenset[str]:
    """Return the ids of the runs of a state."""
    if state.version < 0:
        return older.run_ids(state.folder)
    files = state.files.get("runs", [])
    paths, top = frozenset(file.path for file in files), str(state.folder)
    kept = _UNION.get(top)
    if kept is not None and kept[0] == paths:
        return kept[1]
    old, some = frozenset[str](), files
    if kept is not None and kept[0] <= paths:  # only new files were added since
        old, some = kept[1], [file for file in files if file.path not in kept[0]]
    ids = old.union(*(_ids_in(state, file) for file in some))
    _UNION[top] = (paths, ids)
    return ids


def _ids_in(state: FolderVersion, file: File) -> frozenset[str]:
    """Return the runs in a file of `runs`. A file of a single run need not be read, since the log names the run."""
    if file.low == file.high:
        return frozenset([file.low])
    key = f"{state.folder}/{file.path}"
    if key not in _RUNS:
        _RUNS[key] = frozenset(physical.read(state.folder, [file], ["run_id"])["run_id"].to_pylist())
    return _RUNS[key]


def is_path(run_id: str) -> bool:
    """Return whether an id would lead out of the folders that are named after it."""
    return run_id.startswith("/") or ".." in run_id.replace("\\", "/").split("/") or "\0" in run_id


def no_path(run_id: str, folder: Path) -> str:
    """Return an id, or raise UserError if it is a path."""
    if is_path(run_id):
        raise UserError(f"the result folder {folder} has a run {run_id!r}: an id must not be a path; remove that run")
    return run_id


# --- reading ---------------------------------------------------------------------------------------------


_PINNED: ContextVar[dict[str, FolderVersion] | None] = ContextVar("pinned", default=None)


def state_of(folder: Path) -> FolderVersion:
    """Return the state that a reader sees: the pinned one (see `one_state`), or the latest."""
    pinned = _PINNED.get()
    return (pinned or {}).get(str(delta.top(folder))) or delta.latest(folder)


@contextmanager
def one_state(*folders: Path, at: Sequence[FolderVersion] = ()) -> Iterator[None]:
    """Pin these folders to their present states (or to the states `at`) for the block. Later commits are not seen."""
    states = {str(delta.top(folder)): state_of(folder) for folder in folders} | {str(s.folder): s for s in at}
    token = _PINNED.set({**(_PINNED.get() or {}), **states})
    try:
        yield
    finally:
        _PINNED.reset(token)


def in_one_state(read: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function, so that it reads one state of the folder in its first argument from beginning to end."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_state(cast(Path, args[0])):
            return read(*args, **kwargs)

    return reading


def files_of(folder: Path, table: str) -> list[Path]:
    """Return the files of a table, for other tools that read parquet."""
    state = state_of(folder)
    return [state.folder / "tables" / file.path for file in state.files.get(table, [])]


def count_rows(folder: Path, table: str) -> int:
    """Return the number of rows of a table."""
    state = state_of(folder)
    if state.version < 0:
        return older.read(state.folder, table, ["run_id"]).num_rows
    return sum(file.rows for file in state.files.get(table, []))


def read_arrow(folder: Path, table: str, columns: list[str] | None = None, where: Any = None) -> pa.Table:
    """Return all runs' rows of a table. `where` is a pyarrow expression that selects rows."""
    state = state_of(folder)
    if state.version < 0:
        return _without_paths(older.read(state.folder, table, columns, where), folder)
    return _read(state, table, state.files.get(table, []), columns, where)


def read_table_of(folder: Path, table: str, run_id: str) -> pa.Table:
    """Return one run's rows of a table; no rows if the run has none."""
    import pyarrow.compute as pc

    state, where = state_of(folder), pc.field("run_id") == run_id
    if state.version < 0:
        return _without_paths(older.read(state.folder, table, None, where), folder)
    some = [file for file in state.files.get(table, []) if file.holds(run_id)]
    return _read(state, table, some, None, where)


def _read(state: FolderVersion, table: str, files: list[File], columns: list[str] | None, where: Any) -> pa.Table:
    columns = schema.TABLES[table].names if columns is None else columns
    if not files:
        return schema.empty(table).select(columns)
    rows = physical.read(state.folder, files, physical.renamed(table, columns), where)
    return _without_paths(physical.as_table(table, rows, columns), state.folder)


def _without_paths(table: pa.Table, folder: Path) -> pa.Table:
    if "run_id" in table.column_names:
        for run_id in table["run_id"].unique().to_pylist():
            no_path(run_id, folder)
    return table


def read_pandas(folder: Path, table: str, columns: list[str] | None = None) -> pd.DataFrame:
    """Return all runs' rows of a small table as a pandas DataFrame. Integer columns with nulls stay integers."""
    import pandas as pd  # imported here, because it loads slowly and writers do not need it

    whole = read_arrow(folder, table, columns)
    frame = whole.to_pandas()
    for name in {"event", "seed"} & set(frame):
        if name == "event" or whole[name].null_count:
            frame[name] = whole[name].to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame
