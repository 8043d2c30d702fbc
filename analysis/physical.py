"""The parquet files of a result folder, with the digests of their contents in their names.

    table=scalars/000000000007-0002-3fa9c1d2e4b5a697-<footer>-<whole>.parquet

The first number is the version of the log for which the file was written, so names sort in the order of commits. The
number of the file within its commit and the commit's key follow. `footer` and `whole` are digests. A reader of a part
of a large file verifies the footer by its digest, and the pages by the checksums of the parquet format. Small files are
verified by the digest of the whole.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import schema
from causeway.analysis.files import Hidden, replacing, replacing_in
from causeway.analysis.remote import Remote, place
from causeway.errors import UserError

SOURCE = "_source"
"""An extra column of converted rows: the result file from which a row came."""
SOURCES = "sources"
"""The table of result files that were converted, beside those of `schema`."""
PARQUET: dict[str, Any] = {"compression": "zstd", "store_schema": False, "write_page_checksum": True}
GROUP_ROWS = 1 << 16
"""The number of rows that a reader reads or skips together."""
_TEXTS = ("parameters", "attributes", "config", "pars")
"""Tables whose `value` is a text. In their files the column is named `text`, since `value` is a number in all files."""
_NAME = re.compile(r"table=([a-z]+)/(\d{12}-\d{4})-([0-9a-f]{16})-([0-9a-f]{16})-([0-9a-f]{32})\.parquet")
_SMALL_BYTES = 4 << 20
"""The maximum size of a file that is verified by the digest of the whole, which takes 2 ms."""


class DamagedError(UserError):
    """Raised if a file of a result folder has changed since it was written."""


@dataclass(frozen=True)
class File:
    """One parquet file of a result folder, as the log names it."""

    path: str
    """The path below `tables/`."""
    size: int
    rows: int
    low: str
    """The first of its runs by name; `high` is the last."""
    high: str

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        found = _NAME.fullmatch(self.path)
        if found is None or found[1] not in (*schema.TABLES, SOURCES):
            raise UserError(f"the log names {self.path!r}, which is not a file of a result folder of this version")
        return found.groups()

    @property
    def table(self) -> str:
        """The name of its table."""
        return self._parts[0]

    @property
    def order(self) -> str:
        """Its version and its number within the commit, which sort files in the order of their commits."""
        return self._parts[1]

    @property
    def key(self) -> str:
        """The key of its commit."""
        return self._parts[2]

    @property
    def footer(self) -> str:
        """The digest of its footer."""
        return self._parts[3]

    @property
    def whole(self) -> str:
        """The digest of all its bytes."""
        return self._parts[4]

    def holds(self, run_id: str) -> bool:
        """Return whether the file may hold rows of a run."""
        return self.low <= run_id <= self.high


def is_ours(path: str) -> bool:
    """Return whether a path below `tables/` is the name of a file of a result folder."""
    return _NAME.fullmatch(path) is not None


def new_key() -> str:
    """Return a unique name for a commit."""
    return os.urandom(8).hex()


# --- columns ---------------------------------------------------------------------------------------------


def form_of(table: str) -> pa.Schema:
    """Return the columns of the files of a table."""
    if table == SOURCES:
        return pa.schema([("run_id", pa.string()), (SOURCE, pa.string()), ("text", pa.string())])
    renamed = [pa.field("text" if _is_text(table, f.name) else f.name, f.type) for f in schema.TABLES[table]]
    return pa.schema([*renamed, pa.field(SOURCE, pa.string())])


def log_form() -> pa.Schema:
    """Return the columns of the files of any table, and the column that names the table."""
    fields = {field.name: field for table in (*schema.TABLES, SOURCES) for field in form_of(table)}
    return pa.schema([pa.field("table", pa.string()), *fields.values()])


def _is_text(table: str, column: str) -> bool:
    return column == "value" and table in _TEXTS


def renamed(table: str, columns: Iterable[str]) -> list[str]:
    """Return the names of the columns of a table in its files."""
    return ["text" if _is_text(table, column) else column for column in columns]


def as_table(table: str, rows: pa.Table, columns: list[str]) -> pa.Table:
    """Give rows of files the columns, names and types of the table. Columns that an older file lacks are filled."""
    if table == SOURCES:
        return rows
    form = schema.TABLES[table]
    made = []
    for name, physical in zip(columns, renamed(table, columns), strict=True):
        column, field = rows[physical], form.field(name)
        if column.null_count and not field.nullable and field.type == pa.string():
            column = column.fill_null("")
        made.append(column)
    return pa.Table.from_arrays(made, schema=pa.schema([form.field(name) for name in columns]))


# --- writing ---------------------------------------------------------------------------------------------


class _Digesting:
    """A file that keeps the size and the digest of the bytes written to it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size, self.digest = file, 0, hashlib.sha256()

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


def stage(path: Path, table: str, rows: pa.Table, source: str) -> None:
    """Write rows of one source to a file for `Writer.take`."""
    rows = rows.rename_columns(renamed(table, rows.column_names))
    rows = rows.append_column(SOURCE, pa.array([source] * len(rows), pa.string()))
    with replacing(path) as temporary:
        pq.write_table(rows, temporary, row_group_size=GROUP_ROWS, **PARQUET)


class Writer:
    """Writes the files of one commit."""

    def __init__(self, folder: Path, version: int, key: str) -> None:
        self.files: list[File] = []
        self.began_s = time.monotonic()
        self._tables, self._version, self._key = place(folder) / "tables", version, key

    def write(self, table: str, rows: pa.Table) -> None:
        """Write one file, its rows sorted by run; the order within a run stays."""
        if not rows.num_rows:
            return
        import pyarrow.compute as pc  # imported here, since it is slow to load and only some commands need it

        ids = rows["run_id"].cast(pa.string())
        low, high = pc.min_max(ids).as_py().values()
        if low != high:
            rows = rows.take(pc.sort_indices(ids))
        rows = rows.rename_columns(renamed(table, rows.column_names)).unify_dictionaries()
        with replacing_in(self._tables / f"table={table}") as hidden, open(hidden.path, "w+b") as file:
            sink = _Digesting(file)
            with pq.ParquetWriter(pa.PythonFile(sink, "w"), rows.schema, **PARQUET) as writer:
                writer.write_table(rows, row_group_size=GROUP_ROWS)
            self._named(table, hidden, file, sink.digest.hexdigest(), rows.num_rows, low, high)

    def take(self, table: str, run_id: str, path: Path) -> None:
        """Add a parquet file that was written elsewhere, with all rows of one run, as a link or a copy."""
        with pq.ParquetFile(path) as given:
            rows = given.metadata.num_rows
        with replacing_in(self._tables / f"table={table}") as hidden, open(hidden.path, "w+b") as file:
            sink = _Digesting(file)
            with open(path, "rb") as source:
                while block := source.read(1 << 20):
                    sink.write(block)
            self._named(table, hidden, file, sink.digest.hexdigest(), rows, run_id, run_id)

    def _named(self, table: str, hidden: Hidden, file: BinaryIO, whole: str, rows: int, low: str, high: str) -> None:
        if len(self.files) > 9999:
            raise UserError("more than 10,000 files in one commit; convert fewer files at once")
        file.flush()
        stem = f"{self._version:012d}-{len(self.files):04d}-{self._key}"
        hidden.name = f"{stem}-{footer_digest(file)}-{whole[:32]}.parquet"
        self.files.append(File(f"table={table}/{hidden.name}", file.seek(0, os.SEEK_END), rows, low, high))


# --- reading ---------------------------------------------------------------------------------------------


def footer_digest(file: Any) -> str:
    """Return the digest of the bytes after the pages of a parquet file."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 8))
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, end - 8 - length))
    return hashlib.sha256(file.read()).hexdigest()[:16]


def whole_digest(file: Any) -> str:
    """Return the digest of a whole file."""
    return hashlib.file_digest(file, "sha256").hexdigest()[:32]


_RIGHT: set[tuple[str, int, int, int]] = set()
"""(path, size, time of change, inode) of files that were verified before."""


def wrong(folder: Path, file: File, thoroughly: bool = False) -> str:
    """Return the damage of a file as text, or "" if it has not changed. With `thoroughly`, every byte is read."""
    path = place(folder) / "tables" / file.path
    if isinstance(path, Remote):
        return _wrong_remote(path, file, thoroughly)
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or stat.S_ISLNK(os.lstat(path.parent).st_mode):
            return "is a link"
        known = (str(path), status.st_size, status.st_mtime_ns, status.st_ino)
        if known in _RIGHT and not thoroughly:
            return ""
        if status.st_size != file.size:
            return "is truncated" if status.st_size < file.size else "is longer than it was"
        with open(path, "rb") as opened:
            if thoroughly or file.size <= _SMALL_BYTES:
                right = whole_digest(opened) == file.whole
            else:
                right = footer_digest(opened) == file.footer
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if right:
        _RIGHT.add(known)
    return "" if right else "has changed since it was written"


def _wrong_remote(path: Remote, file: File, thoroughly: bool) -> str:
    """Return the damage of a file behind a URL as text.

    Its store verifies transfers, so the file is read only if `thoroughly`.
    """
    if not thoroughly:
        return ""
    try:
        content = path.read_bytes()
    except OSError:
        return "is missing"
    same = hashlib.sha256(content).hexdigest()[:32] == file.whole
    return "" if same else "has changed since it was written"


def damage(folder: Path, file: File, what: str) -> DamagedError:
    """Return the error that names a damaged file and its runs."""
    runs = f"run {file.low}" if file.low == file.high else f"runs {file.low} to {file.high}"
    path = place(folder) / "tables" / file.path
    return DamagedError(
        f"{path} {what}: {file.rows} rows of {file.table} of {runs}; "
        f"`causeway doctor {folder} --repair` removes the lost runs and keeps all others"
    )


def dataset(folder: Path, files: Sequence[File]) -> Any:
    """Return some files of one table as a pyarrow dataset that verifies the pages that it reads."""
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    for file in files:
        if what := wrong(folder, file):
            raise damage(folder, file, what)
    where, form = place(folder), form_of(files[0].table)
    checked = ds.ParquetFileFormat(
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    )
    if isinstance(where, Remote):
        inner = [(where / "tables" / file.path).inner for file in files]
        return ds.dataset(inner, schema=form, format=checked, filesystem=where.filesystem)
    plain = LocalFileSystem()  # passed explicitly, so that a path with a colon is not parsed as a URL
    return ds.dataset([str(where / "tables" / f.path) for f in files], schema=form, format=checked, filesystem=plain)


def read(folder: Path, files: Sequence[File], columns: list[str] | None = None, where: Any = None) -> pa.Table:
    """Return the rows of some files of one table, verified and in the form of the files.

    `where` is a pyarrow expression that selects rows.
    """
    try:
        return dataset(folder, files).to_table(columns=columns, filter=where)
    except DamagedError:
        raise
    except (OSError, pa.ArrowException) as error:
        for file in files:
            if what := wrong(folder, file, thoroughly=True):
                raise damage(folder, file, what) from error
        raise
