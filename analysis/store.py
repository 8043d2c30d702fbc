"""Land a run's tables in a result folder, and read a result folder back.

A folder holds `tables/<table>/<run>[~<part>].parquet`. Every file is written under a hidden name in the same folder,
flushed to the disk and renamed, so a crash or a full disk leaves no half-written table; the `runs` file lands last and
goes first, so a run without its `runs` row does not exist and nobody reads it. Readers skip hidden names.
"""

import hashlib
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import schema
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
    """A hidden path to write to, renamed to `path` when the block ends well and removed when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{uuid.uuid4().hex}.part"
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_table(path: Path, table: pa.Table) -> None:
    """Land one parquet file."""
    with landing(path) as temporary:
        pq.write_table(table, temporary, **_PARQUET)


def write_run(out_dir: Path, tables: Mapping[str, pa.Table | Mapping[str, Any]]) -> None:
    """Land one run: every table given, `runs` last. `tables["runs"]` has one row; the others may leave out `run_id`."""
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
    for name, table in others.items():
        write_table(table_path(out_dir, name, run_id), table)
    write_table(table_path(out_dir, "runs", run_id), runs)


def forget_run(out_dir: Path, run_id: str) -> None:
    """Remove every file of a run, its `runs` row first."""
    key = quote(run_id)
    for name in schema.TABLES:
        folder = table_dir(out_dir, name)
        (folder / f"{key}.parquet").unlink(missing_ok=True)
        for part in folder.glob(f"{_glob_escape(key)}~*.parquet"):
            part.unlink(missing_ok=True)


def _glob_escape(key: str) -> str:
    return key.replace("[", "[[]")


# --- what is there ---------------------------------------------------------------------------------------


def has_run(out_dir: Path, run_id: str) -> bool:
    """Whether the run landed whole."""
    return table_path(out_dir, "runs", run_id).exists()


def finished_runs(out_dir: Path) -> set[str]:
    """The ids of all runs that landed whole."""
    return {_no_path(_run_of(path), out_dir) for path in _files(out_dir, "runs")}


def incomplete_runs(out_dir: Path) -> set[str]:
    """The file keys of runs that left tables behind but no `runs` row: stopped half-way, or still being written."""
    finished = {_key(path) for path in _files(out_dir, "runs")}
    present = {_key(path) for name in schema.TABLES for path in _files(out_dir, name)}
    return {unquote(key) for key in present - finished}


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
    finished = {_key(path) for path in _files(folder, "runs")}
    return [path for path in _files(folder, table) if _key(path) in finished]


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
