"""Land a run's tables in a result folder, and read a result folder back.

A run lands alone, as `tables/<table>/<run>.parquet`, or with others as a batch (see `batches`), as
`tables/<table>/study=<study>/@<batch>.parquet`. Every file is written under a hidden name in the same folder, flushed
to the disk and renamed, so a crash or a full disk leaves no half-written table. Readers skip hidden names.

A run is finished if its `runs` row is there and so is every file that the row (column `parts`: size and digest of each)
or its batch names. The row lands last and goes first; a run that is not finished does not exist and nobody reads it.
Whoever makes a run holds its lock (`writing`), so that there is one writer at a time; a lock dies with its owner.
"""

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import batches, locks, schema
from causeway.analysis.arrays import of_texts
from causeway.analysis.batches import Batch, Part
from causeway.analysis.remote import Remote, desk, is_remote, place, sending
from causeway.bridge.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=,+")
_LONGEST = 120  # characters of a quoted run id: leaves room for a part's name within the 255 of most file systems
PARQUET = {"compression": "zstd", "store_schema": False}


def table_dir(folder: Path, table: str) -> Path:
    """Where the files of `table` stand in a result folder."""
    return place(folder) / "tables" / table


def table_path(folder: Path, table: str, run_id: str, part: str = "") -> Path:
    """The file of one run and table; `part` names one of several (converted files land in parts)."""
    stem = quote(run_id) + (f"~{quote(part)}" if part else "")
    return table_dir(folder, table) / f"{stem}.parquet"


def quote(name: str) -> str:
    """`name` as a file name: odd characters as %XX, and a name too long for a file system cut short with a hash."""
    text = "".join(c if c in _PLAIN else "".join(f"%{byte:02X}" for byte in c.encode()) for c in name)
    if not text:
        return "%"
    if text.startswith((".", "_")):  # readers take such names for hidden
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) > _LONGEST:
        return f"{text[: _LONGEST - 34]}!{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return text


# --- writing ---------------------------------------------------------------------------------------------


@contextmanager
def landing(path: Path) -> Iterator[Path]:
    """A hidden path to write to, renamed to `path` when the block ends well and removed when it does not.

    It is locked as long as its writer lives, so that `sweep` takes away only what a dead one left. Behind a URL it is a
    file of this machine that is sent when the block ends well.
    """
    if isinstance(path, Remote):
        with sending(path) as here:
            yield here
        _LISTED.clear()
        return
    temporary = path.parent / f".{uuid.uuid4().hex}.part"
    lock = locks.take(temporary, wait=True)
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
    except OSError as error:
        if error.filename is None:  # a file that is written to does not know its name
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_table(path: Path, table: pa.Table) -> Part:
    """Land one parquet file, and tell what it holds."""
    with landing(path) as temporary, open(temporary, "wb") as file:
        sink = batches.Digesting(file)
        pq.write_table(table, pa.PythonFile(sink, "w"), **PARQUET)
        return sink.part()


def digest_of(path: Path) -> str:
    """The digest of a file, as a `Part` has it."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def lock_path(out_dir: Path, key: str) -> Path:
    """The file that is locked while somebody makes the run of this key."""
    return desk(place(out_dir)) / ".locks" / f"{key}.lock"


@contextmanager
def writing(out_dir: Path, run_id: str, wait: bool = True) -> Iterator[bool]:
    """Makes the caller the only one to make this run. False: somebody else is at it (never if `wait`)."""
    with locks.held(lock_path(out_dir, quote(run_id)), wait) as mine:
        yield mine


@contextmanager
def revising(out_dir: Path) -> Iterator[None]:
    """Makes the caller the only one to replace batches of this folder. New runs may land meanwhile."""
    with locks.held(lock_path(out_dir, "batches"), wait=True):
        yield


def write_run(out_dir: Path, tables: Mapping[str, pa.Table | Mapping[str, Any]]) -> None:
    """Land one run: every table given, `runs` last. `tables["runs"]` has one row; the others may leave out `run_id`.

    The caller is the only writer of this run (see `writing`).
    """
    unknown = sorted(set(tables) - set(schema.TABLES))
    if unknown:
        raise ValueError(f"no such table: {', '.join(unknown)} (there are {', '.join(schema.TABLES)})")
    runs = schema.conform("runs", tables["runs"])
    if runs.num_rows != 1:
        raise ValueError(f"a run has one row in `runs`, not {runs.num_rows}")
    run_id = runs["run_id"][0].as_py()
    others = {name: schema.conform(name, table, run_id) for name, table in tables.items() if name != "runs"}
    for name, table in others.items():
        if any(owner != run_id for owner in table["run_id"].unique().to_pylist()):
            raise ValueError(f"table {name} holds rows of a run other than {run_id}")
    if not is_remote(place(out_dir)):
        forget_run(out_dir, run_id)  # behind a URL a second writer may be at it: it writes the same over it
    parts = {name: write_table(table_path(out_dir, name, run_id), table) for name, table in others.items()}
    told = json.dumps({name: [part.size, part.digest] for name, part in parts.items()})
    row = schema.conform("runs", {**{name: runs[name] for name in runs.column_names}, "parts": [told]})
    write_table(table_path(out_dir, "runs", run_id), row)


def forget_run(out_dir: Path, run_id: str) -> None:
    """Remove every file of a run, its `runs` row first."""
    forget_key(out_dir, quote(run_id))


def forget_key(out_dir: Path, key: str) -> None:
    """The same for the key in its files' names."""
    if key.startswith(batches.MARK):
        return forget_batch(out_dir, key)
    for name in schema.TABLES:
        folder = table_dir(out_dir, name)
        (folder / f"{key}.parquet").unlink(missing_ok=True)
        for part in folder.glob(f"{_glob_escape(key)}~*.parquet"):
            part.unlink(missing_ok=True)


def forget_replaced(out_dir: Path) -> None:
    """Remove what another batch has replaced, where that was killed before it did so itself."""
    known = finished_batches(out_dir)
    present = {key_of(path) for name in schema.TABLES for path in all_files(out_dir, name)}
    for key in {key for batch in known.values() for key in batch.replaces} & present - known.keys():
        forget_key(out_dir, key)


def forget_batch(out_dir: Path, key: str) -> None:
    """Remove a batch, its `runs` file first, but no file that another batch has taken over."""
    known = read_batches(runs_files(out_dir))
    own = known.pop(key, Batch(key)).files
    taken = {file for batch in known.values() for file in batch.files}
    (table_dir(out_dir, "runs") / f"{key}.parquet").unlink(missing_ok=True)
    named = {below(out_dir, path) for name in schema.TABLES for path in all_files(out_dir, name) if key_of(path) == key}
    for file in (own.keys() | named) - taken:
        (place(out_dir) / "tables" / file).unlink(missing_ok=True)


def _glob_escape(key: str) -> str:
    return key.replace("[", "[[]")


# --- what is there ---------------------------------------------------------------------------------------


def has_run(out_dir: Path, run_id: str) -> bool:
    """Whether the run is finished: its row and all that the row names are there."""
    if is_remote(place(out_dir)):
        return run_id in _runs_behind(out_dir)
    path = table_path(out_dir, "runs", run_id)
    try:
        if path.stat().st_size:
            files = batches.read(path, schema.TABLES).files
            if all((place(out_dir) / "tables" / name).stat().st_size == part.size for name, part in files.items()):
                return True
    except (OSError, ValueError):
        pass
    return run_id in _batched_runs(out_dir)


def run_keys(out_dir: Path) -> set[str]:
    """File keys of the runs that landed alone and have their row: a quick look, not a proof that they are whole."""
    names = batches.names(table_dir(out_dir, "runs"))
    return {name.removesuffix(".parquet") for name in names if name[0] != batches.MARK}


def _runs_behind(url: Path) -> frozenset[str]:
    """The ids of the finished runs behind a URL. A look costs many requests, so what was seen counts for a while."""
    kept = _LISTED.get(str(url))
    if kept is None or time.time_ns() - kept[0] > _SEEN_NS:
        kept = _LISTED[str(url)] = (time.time_ns(), frozenset(finished_runs(url)))
    return kept[1]


def _batched_runs(folder: Path) -> frozenset[str]:
    """The ids of the runs that landed in batches. The listing is kept while the folder of `runs` does not change."""
    runs = table_dir(folder, "runs")
    try:
        changed_ns = runs.stat().st_mtime_ns
    except FileNotFoundError:
        return frozenset()
    kept = _LISTED.get(str(runs))
    if kept is not None and kept[0] == changed_ns and time.time_ns() - changed_ns > _SURE_NS:
        return kept[1]
    known = {
        path.name.removesuffix(".parquet"): path for path in all_files(folder, "runs") if path.name[0] == batches.MARK
    }
    found = _whole(folder, read_batches(known)) if known else {}
    ids = frozenset(run_id for batch in found.values() for run_id in batch.run_ids)
    _LISTED[str(runs)] = (changed_ns, ids)
    return ids


_LISTED: dict[str, tuple[int, frozenset[str]]] = {}
"""Folder of `runs` -> (its time of change, the ids in its batches)."""
_SURE_NS = 2_000_000_000
"""A time of change this old cannot hide a second change, however coarse the file system's clock is."""


_SEEN_NS = 10_000_000_000
"""For so long a run that another machine has landed behind a URL may be taken for one to do; it is made once more."""


def forget_what_is_known() -> None:
    """Look at every folder anew: what was seen of it before is kept otherwise."""
    _LISTED.clear()
    _KNOWN.clear()


def finished_runs(out_dir: Path) -> set[str]:
    """The ids of all finished runs."""
    finished, files = finished_batches(out_dir), runs_files(out_dir)
    single = {_run_of(files[key]) for key, batch in finished.items() if not batch.many}
    many = {run_id for batch in finished.values() for run_id in batch.run_ids}
    return {_no_path(run_id, out_dir) for run_id in single | many}


_KNOWN: dict[tuple[str, int, int], Batch | None] = {}
"""(path, size, time of change) of a `runs` file -> what it says; None: it is damaged."""


def finished_batches(folder: Path) -> dict[str, Batch]:
    """File key -> every single run and every batch that is finished and that no other one replaces."""
    return _whole(folder, read_batches(runs_files(folder)))


def _whole(folder: Path, known: dict[str, Batch]) -> dict[str, Batch]:
    tables, sizes = place(folder) / "tables", dict[str, int]()
    for name in {file.partition("/")[0] for batch in known.values() for file in batch.files}:
        sizes |= batches.sizes(tables, name)
    whole = {
        key: batch
        for key, batch in known.items()
        if all(sizes.get(file) == part.size for file, part in batch.files.items())
    }
    replaced = {key for batch in whole.values() for key in batch.replaces}
    return {key: batch for key, batch in whole.items() if key not in replaced}


def read_batches(files: Mapping[str, Path]) -> dict[str, Batch]:
    """File key -> what the file in `runs` says, for every one that can be read."""
    if any(map(is_remote, files.values())):
        with ThreadPoolExecutor(_AT_ONCE) as pool:  # they wait for their answers, not for this machine
            told = list(pool.map(_told, files.values()))
    else:
        told = [_told(path) for path in files.values()]
    return {key: batch for key, batch in zip(files, told, strict=True) if batch is not None}


_AT_ONCE = 16


def _told(path: Path) -> Batch | None:
    """What a file in `runs` says, read once as long as it is the same."""
    try:
        status = path.stat()
        known = (str(path), status.st_size, status.st_mtime_ns)
        if known not in _KNOWN:
            _KNOWN[known] = _read_batch(path) if status.st_size else None
        return _KNOWN[known]
    except FileNotFoundError:
        return None


def _read_batch(path: Path) -> Batch | None:
    try:
        return batches.read(path, schema.TABLES)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def runs_files(folder: Path) -> dict[str, Path]:
    """File key -> the file in `runs`."""
    return {key_of(path): path for path in all_files(folder, "runs")}


def all_files(folder: Path, table: str) -> list[Path]:
    """Every file of a table, whoever it belongs to."""
    return [path for _, (_, path) in sorted(batches.found(place(folder) / "tables", table).items())]


def below(folder: Path, path: Path) -> str:
    """The path of a file below `tables/`, as a batch names it."""
    return path.relative_to(place(folder) / "tables").as_posix()


def key_of(path: Path) -> str:
    """What files of one run or batch have in common in their names."""
    return path.name.removesuffix(".parquet").partition("~")[0]


def _run_of(path: Path) -> str:
    key = key_of(path)
    if "!" in key:  # shortened: only the file itself knows the whole id
        return str(batches.opened(path).read(columns=["run_id"])["run_id"][0].as_py())
    return run_of_key(key)


def run_of_key(key: str) -> str:
    """The id of a run from the name of its files, unless that was shortened."""
    return "" if key == "%" else unquote(key)


def is_path(run_id: str) -> bool:
    """Whether an id would lead out of the folders that are named after it."""
    return run_id.startswith("/") or ".." in run_id.replace("\\", "/").split("/") or "\0" in run_id


def _no_path(run_id: str, folder: Path) -> str:
    if is_path(run_id):
        raise UserError(
            f"the result folder {folder} has a run {run_id!r}: ids that are paths are refused; remove that run"
        )
    return run_id


def _without_paths(table: pa.Table, folder: Path) -> pa.Table:
    if "run_id" in table.column_names:
        for run_id in table["run_id"].unique().to_pylist():
            _no_path(run_id, folder)
    return table


# --- reading ---------------------------------------------------------------------------------------------


def files_of(folder: Path, table: str) -> list[Path]:
    """The files that hold the finished runs' rows of a table: what to give to a tool that reads parquet."""
    folder = place(folder).resolve()
    finished = finished_batches(folder)
    if table == "runs":
        return [path for key, path in runs_files(folder).items() if key in finished]
    told = {file for batch in finished.values() for file in batch.files}
    old = {key for key, batch in finished.items() if not batch.told}
    return [path for path in all_files(folder, table) if below(folder, path) in told or (old and key_of(path) in old)]


def doubled(finished: Mapping[str, Batch]) -> dict[str, frozenset[str]]:
    """File below `tables/` -> the runs in it whose rows another file gives already.

    Where there are no locks (behind URLs, on some network file systems), two machines may make one run, or put the same
    runs together. It is read from where it landed first."""
    ours = [batch for _, batch in sorted(finished.items()) if not batch.sources]
    batched, found = [batch for batch in ours if batch.many], dict[str, frozenset[str]]()
    ids = set().union(*(batch.run_ids for batch in batched))
    if len(ids) < sum(len(batch.run_ids) for batch in batched):
        seen: set[str] = set()
        for batch in batched:
            if again := seen.intersection(batch.run_ids):
                found |= dict.fromkeys((*batch.files, f"runs/{batch.key}.parquet"), frozenset(again))
            seen.update(batch.run_ids)
    single = {batch.key: batch for batch in ours if not batch.many}
    if single and ids:
        for run_id in ids:
            if (one := single.get(quote(run_id))) is not None:
                found |= dict.fromkeys((*one.files, f"runs/{one.key}.parquet"), frozenset([run_id]))
    return found


def datasets(folder: Path, table: str) -> list[tuple[Any, Any]]:
    """All finished runs' rows of a table as pyarrow datasets, each with what to leave out of it (or None)."""
    import pyarrow.compute as pc

    folder = place(folder).resolve()
    there, again = files_of(folder, table), doubled(finished_batches(folder))
    some = [(path, again.get(below(folder, path)) if again else None) for path in there]
    plain = [path for path, ids in some if ids is None]
    cut = [([path], ~pc.field("run_id").isin(sorted(ids))) for path, ids in some if ids is not None]
    return [(_dataset(folder, table, files), but) for files, but in [(plain, None), *cut] if files]


def _dataset(folder: Path, table: str, there: list[Path]) -> Any:
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    form, where = schema.TABLES[table], place(folder)
    if isinstance(where, Remote):
        inner = [cast(Remote, path).inner for path in there]
        return ds.dataset(inner, schema=form, format="parquet", filesystem=where.filesystem)
    plain = LocalFileSystem()  # said, lest a colon in a path be taken for a scheme
    return ds.dataset([str(path) for path in there], schema=form, format="parquet", filesystem=plain)


def count_rows(folder: Path, table: str) -> int:
    """How many rows of a table all finished runs have."""
    return sum(found.count_rows(filter=but) for found, but in datasets(folder, table))


def read_arrow(folder: Path, table: str, columns: list[str] | None = None, where: Any = None) -> pa.Table:
    """All finished runs' rows of a table, in memory; `where` is a pyarrow expression that they must fulfil."""
    for tries_left in (2, 1, 0):
        try:
            parts = [
                found.to_table(columns=columns, filter=where if but is None else but if where is None else where & but)
                for found, but in datasets(folder, table)
            ]
        except FileNotFoundError:  # a batch took the place of another between our look and our reading
            if not tries_left:
                raise
            continue
        break
    if not parts:
        parts = [schema.empty(table).select(columns) if columns else schema.empty(table)]
    return _without_paths(pa.concat_tables(parts), folder)


def read_table_of(folder: Path, table: str, run_id: str) -> pa.Table:
    """One run's rows of a table; empty if the run has none."""
    import pyarrow.compute as pc

    path = table_path(folder, table, run_id)
    if path.exists():
        return _without_paths(schema.conform(table, batches.opened(path).read()), folder)
    return read_arrow(folder, table, where=pc.field("run_id") == run_id)


def read_pandas(folder: Path, table: str, columns: list[str] | None = None) -> "pd.DataFrame":
    """All finished runs' rows of a table as pandas: for small tables. Integers with gaps stay integers."""
    import pandas as pd  # here, because what only writes should not pay for loading it

    whole = read_arrow(folder, table, columns)
    frame = whole.to_pandas()
    for name in {"event", "seed"} & set(frame):
        if name == "event" or whole[name].null_count:
            frame[name] = whole[name].to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame


def without_runs(rows: pa.Table, left_out: Iterable[str]) -> pa.Table:
    """The rows that are of none of these runs."""
    import pyarrow.compute as pc

    ids = rows["run_id"].cast(pa.string()) if left_out else None
    return rows if ids is None else rows.filter(pc.invert(pc.is_in(ids, of_texts(sorted(left_out)))))
