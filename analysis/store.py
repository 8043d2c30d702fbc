"""Land a run's tables in a result folder, and read a result folder back.

A folder holds `tables/<table>/<run>[~<part>].parquet`. Every file is written under a hidden name in the same folder,
flushed to the disk and renamed, so a crash or a full disk leaves no half-written table. Readers skip hidden names.

A run is finished if its `runs` row is there and so is every file that the row names (column `parts`: size and digest of
each). The row lands last and goes first; a run that is not finished does not exist and nobody reads it. Whoever makes a
run holds its lock (`writing`), so that there is one writer at a time; a lock dies with its owner.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import locks, schema
from causeway.bridge.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=,+")
_LONGEST = 120  # characters of a quoted run id: leaves room for a part's name within the 255 of most file systems
_PARQUET = {"compression": "zstd", "store_schema": False}


def table_dir(folder: Path, table: str) -> Path:
    """Where the files of `table` stand in a result folder."""
    return Path(folder) / "tables" / table


def table_path(folder: Path, table: str, run_id: str, part: str = "") -> Path:
    """The file of one run and table; `part` names one of several (converted files land in parts)."""
    stem = quote(run_id) + (f"~{quote(part)}" if part else "")
    return table_dir(folder, table) / f"{stem}.parquet"


def quote(name: str) -> str:
    """`name` as a file name: odd characters as %XX, and a name too long for a file system cut short with a hash."""
    text = "".join(c if c in _PLAIN else "".join(f"%{byte:02X}" for byte in c.encode()) for c in name)
    if text.startswith((".", "_")):  # readers take such names for hidden
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) > _LONGEST:
        return f"{text[: _LONGEST - 34]}!{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return text


# --- writing ---------------------------------------------------------------------------------------------


@contextmanager
def landing(path: Path) -> Iterator[Path]:
    """A hidden path to write to, renamed to `path` when the block ends well and removed when it does not.

    It is locked as long as its writer lives, so that `sweep` takes away only what a dead one left.
    """
    temporary = path.parent / f".{uuid.uuid4().hex}.part"
    lock = locks.take(temporary, wait=True)
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
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


def write_table(path: Path, table: pa.Table) -> "Part":
    """Land one parquet file, and tell what it holds."""
    with landing(path) as temporary, open(temporary, "wb") as file:
        sink = _Digesting(file)
        pq.write_table(table, pa.PythonFile(sink, "w"), **_PARQUET)
        return Part(sink.size, sink.digest.hexdigest())


@dataclass(frozen=True)
class Part:
    """One file of a run, as its `runs` row names it."""

    size: int
    digest: str


class _Digesting:
    """A file to write to that knows the size and digest of what went through."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size, self.digest = file, 0, hashlib.blake2b(digest_size=16)

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self._file.write(view)
        self.digest.update(view)
        self.size += view.nbytes
        return view.nbytes

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.flush()


def digest_of(path: Path) -> str:
    """The digest of a file, as a `Part` has it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def lock_path(out_dir: Path, key: str) -> Path:
    """The file that is locked while somebody makes the run of this key."""
    return Path(out_dir) / ".locks" / f"{key}.lock"


@contextmanager
def writing(out_dir: Path, run_id: str, wait: bool = True) -> Iterator[bool]:
    """Makes the caller the only one to make this run. False: somebody else is at it (never if `wait`)."""
    with locks.held(lock_path(out_dir, quote(run_id)), wait) as mine:
        yield mine


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
    forget_run(out_dir, run_id)
    parts = {name: write_table(table_path(out_dir, name, run_id), table) for name, table in others.items()}
    told = json.dumps({name: [part.size, part.digest] for name, part in parts.items()})
    row = schema.conform("runs", {**{name: runs[name] for name in runs.column_names}, "parts": [told]})
    write_table(table_path(out_dir, "runs", run_id), row)


def forget_run(out_dir: Path, run_id: str) -> None:
    """Remove every file of a run, its `runs` row first."""
    forget_key(out_dir, quote(run_id))


def forget_key(out_dir: Path, key: str) -> None:
    """The same for the key in its files' names."""
    for name in schema.TABLES:
        folder = table_dir(out_dir, name)
        (folder / f"{key}.parquet").unlink(missing_ok=True)
        for part in folder.glob(f"{_glob_escape(key)}~*.parquet"):
            part.unlink(missing_ok=True)


def _glob_escape(key: str) -> str:
    return key.replace("[", "[[]")


# --- what is there ---------------------------------------------------------------------------------------


def has_run(out_dir: Path, run_id: str) -> bool:
    """Whether the run is finished: its row and all that the row names are there."""
    path = table_path(out_dir, "runs", run_id)
    try:
        if not path.stat().st_size:
            return False
        parts = parts_in(path)
        return all(table_path(out_dir, name, run_id).stat().st_size == part.size for name, part in parts.items())
    except (OSError, ValueError):
        return False


def finished_runs(out_dir: Path) -> set[str]:
    """The ids of all finished runs."""
    finished = _finished_keys(out_dir)
    return {_no_path(_run_of(path), out_dir) for key, path in _runs_files(out_dir).items() if key in finished}


def parts_in(runs_file: Path) -> dict[str, Part]:
    """The files that a `runs` row names, by table; none for a run that says nothing of them (a converted one).

    Raises OSError or ValueError if the file is damaged.
    """
    with pq.ParquetFile(runs_file) as file:
        rows = file.metadata.num_rows
        known = "parts" in file.schema_arrow.names  # else it was made before rows named their parts
        text = file.read(columns=["parts"])["parts"][0].as_py() if known and rows == 1 else None
    if rows != 1:
        raise ValueError(f"{rows} rows")
    given = json.loads(text) if text else {}
    if not isinstance(given, dict) or not set(given) <= set(schema.TABLES):
        raise ValueError("it names tables that there are not")
    return {name: Part(int(size), str(digest)) for name, (size, digest) in given.items()}


_KNOWN_PARTS: dict[tuple[str, int, int], dict[str, Part] | None] = {}
"""(path, size, time of change) of a `runs` file -> what its row names; None: it is damaged."""


def _finished_keys(folder: Path) -> set[str]:
    """The file keys of all finished runs."""
    sizes: dict[str, dict[str, int]] = {}
    finished = set()
    for key, parts in _parts_of_all(folder).items():
        for name in parts:
            if name not in sizes:
                sizes[name] = _sizes(folder, name)
        if all(sizes[name].get(f"{key}.parquet") == part.size for name, part in parts.items()):
            finished.add(key)
    return finished


def _parts_of_all(folder: Path) -> dict[str, dict[str, Part]]:
    """File key -> what the `runs` row names, for every row that can be read."""
    seen = {}
    for key, path in _runs_files(folder).items():
        with suppress(FileNotFoundError):
            status = path.stat()
            seen[key] = (str(path), status.st_size, status.st_mtime_ns)
    new = [known for known in seen.values() if known not in _KNOWN_PARTS]
    _KNOWN_PARTS.update(_read_parts(new))
    return {key: parts for key, known in seen.items() if (parts := _KNOWN_PARTS[known]) is not None}


def _read_parts(files: list[tuple[str, int, int]]) -> dict[tuple[str, int, int], dict[str, Part] | None]:
    found: dict[tuple[str, int, int], dict[str, Part] | None] = {}
    for known in files:
        try:
            found[known] = parts_in(Path(known[0])) if known[1] else None
        except (OSError, ValueError):
            found[known] = None
    return found


def _runs_files(folder: Path) -> dict[str, Path]:
    return {_key(path): path for path in _files(folder, "runs")}


def _sizes(folder: Path, table: str) -> dict[str, int]:
    place = table_dir(folder, table)
    if not place.is_dir():
        return {}
    with os.scandir(place) as entries:
        return {entry.name: entry.stat().st_size for entry in entries if entry.name.endswith(".parquet")}


def unfinished(out_dir: Path) -> dict[str, str]:
    """File key of every run that left files behind but is not finished -> why it is not."""
    rows, finished = _parts_of_all(out_dir), _finished_keys(out_dir)
    present = {_key(path): path for name in reversed(schema.TABLES) for path in _files(out_dir, name)}
    found = {}
    for key in sorted(present.keys() - finished):
        if key in rows:
            found[key] = f"{', '.join(_not_as_told(out_dir, key, rows[key], False))} missing or cut short"
        else:
            row = table_dir(out_dir, "runs") / f"{key}.parquet"
            found[key] = "its row in `runs` is damaged" if row.exists() else "stopped before its row in `runs`"
    return found


def damaged(out_dir: Path) -> dict[str, str]:
    """File key of every finished run whose files do not hold what was written -> which. Reads all of them."""
    rows = _parts_of_all(out_dir)
    bad = {key: _not_as_told(out_dir, key, rows[key], True) for key in sorted(_finished_keys(out_dir))}
    return {key: f"{', '.join(names)} changed since it was written" for key, names in bad.items() if names}


def _not_as_told(out_dir: Path, key: str, parts: Mapping[str, Part], look_inside: bool) -> list[str]:
    """The tables of a run whose file is missing, or is not what the run's row says."""
    found = []
    for name, part in parts.items():
        path = table_dir(out_dir, name) / f"{key}.parquet"
        try:
            same = path.stat().st_size == part.size and (not look_inside or digest_of(path) == part.digest)
        except OSError:
            same = False
        if not same:
            found.append(name)
    return found


def sweep(out_dir: Path) -> list[Path]:
    """Removes what dead writers left: hidden half-written files, and locks that nobody holds. Gives what it removed."""
    return [path for path in leftovers(out_dir) if locks.remove_if_free(path)]


def leftovers(out_dir: Path) -> list[Path]:
    """Half-written files and locks whose owner is dead."""
    out_dir = Path(out_dir)
    places = [
        out_dir / ".locks",
        out_dir / "studies",
        out_dir / "report",
        *(table_dir(out_dir, t) for t in schema.TABLES),
    ]
    found = []
    for place in places:
        if place.is_dir():
            with os.scandir(place) as entries:
                names = [entry.name for entry in entries]
            hidden = (place / name for name in names if name.endswith(".part") or place.name == ".locks")
            found += [path for path in hidden if locks.is_free(path)]
    return sorted(found)


def _files(folder: Path, table: str) -> list[Path]:
    place = table_dir(folder, table)
    if not place.is_dir():
        return []
    with os.scandir(place) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(".parquet") and entry.name[0] != ".")
    return [place / name for name in names]


def _key(path: Path) -> str:
    return path.name.removesuffix(".parquet").partition("~")[0]


def _run_of(path: Path) -> str:
    key = _key(path)
    if "!" in key:  # shortened: only the file itself knows the whole id
        return str(pq.read_table(path, columns=["run_id"])["run_id"][0].as_py())
    return unquote(key)


def _no_path(run_id: str, folder: Path) -> str:
    """The id of a run, which must not lead out of the folders that are named after it."""
    if run_id.startswith("/") or ".." in run_id.replace("\\", "/").split("/") or "\0" in run_id:
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


def _finished_files(folder: Path, table: str) -> list[Path]:
    finished = _finished_keys(folder)
    return [path for path in _files(folder, table) if _key(path) in finished]


def count_rows(folder: Path, table: str) -> int:
    """How many rows of a table all finished runs have."""
    import pyarrow.dataset as ds

    files = _finished_files(folder, table)
    return ds.dataset(files, format="parquet").count_rows() if files else 0


def read_arrow(folder: Path, table: str, columns: list[str] | None = None) -> pa.Table:
    """All finished runs' rows of a table, in memory."""
    import pyarrow.dataset as ds

    files = _finished_files(folder, table)
    if not files:
        whole = schema.empty(table)
        return whole.select(columns) if columns else whole
    whole = ds.dataset(files, schema=schema.TABLES[table], format="parquet").to_table(columns=columns)
    return _without_paths(whole, folder)


def read_table_of(folder: Path, table: str, run_id: str) -> pa.Table:
    """One run's rows of a table; empty if the run has none."""
    path = table_path(folder, table, run_id)
    if not path.exists():
        return schema.empty(table)
    return _without_paths(pq.read_table(path, schema=schema.TABLES[table]), folder)


def read_pandas(folder: Path, table: str, columns: list[str] | None = None) -> "pd.DataFrame":
    """All finished runs' rows of a table as pandas: for small tables. `event` stays a nullable integer."""
    import pandas as pd  # here, because what only writes should not pay for loading it

    whole = read_arrow(folder, table, columns)
    frame = whole.to_pandas()
    if "event" in frame:
        frame["event"] = whole["event"].to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame


def read_spark(spark: "SparkSession", folder: Path, table: str) -> "DataFrame":
    """All finished runs' rows of a table as a Spark DataFrame."""
    from pyspark.sql.pandas.types import from_arrow_schema

    spark_schema = from_arrow_schema(schema.TABLES[table])
    files = _finished_files(folder, table)
    if not files:
        return spark.createDataFrame([], spark_schema)
    reader = spark.read.schema(spark_schema)
    if len(files) == len(_files(folder, table)):  # the common case: one directory instead of thousands of names
        return reader.parquet(str(table_dir(folder, table).resolve()))
    return reader.parquet(*(str(path.resolve()) for path in files))
