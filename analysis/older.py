"""Read result folders of the older layout, without a log: `tables/<table>/<run>.parquet`, and batches of many runs.

The footer of a file `tables/runs/@<batch>.parquet` lists the other files of its batch, their sizes, and the batches
that it replaced. The row of a run that was committed alone lists its files in the column `parts`. A file that is
incomplete or in none of these lists is ignored. `causeway compact` converts such a folder to the current layout; no
command writes the older one any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import schema
from causeway.analysis.physical import SOURCE
from causeway.analysis.remote import Remote, place

_MARK = "@"
_FOOTER = b"causeway.batch"


@dataclass(frozen=True)
class _Commit:
    """A committed run or batch, as its file in `runs` describes it."""

    key: str
    runs: tuple[str, ...]
    parts: dict[str, tuple[int, str]] | None
    """Maps a file below `tables/` to its size and digest; None for a run of the first versions, identified by file
    names."""
    replaces: tuple[str, ...] = ()
    sources: dict[str, Any] = field(default_factory=dict)
    held: dict[str, list[str]] = field(default_factory=dict)


def is_there(folder: Path) -> bool:
    """Return whether a folder has tables of this layout."""
    runs = place(folder) / "tables" / "runs"
    return runs.is_dir() and any(True for _ in runs.glob("*.parquet"))


def read(folder: Path, table: str, columns: list[str] | None = None, where: Any = None) -> pa.Table:
    """Return all runs' rows of a table."""
    parts = [rows.select(schema.TABLES[table].names) for rows in tables(folder, table)]
    whole = pa.concat_tables(parts) if parts else schema.empty(table)
    whole = whole if where is None else whole.filter(where)
    return whole if columns is None else whole.select(columns)


def run_ids(folder: Path) -> frozenset[str]:
    """Return the ids of all finished runs."""
    return frozenset(run for committed in _commits(place(folder)) for run in committed.runs)


def sources(folder: Path, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the marks of the converted result files, by the id of the source."""
    some = [committed for committed in _commits(place(folder)) if committed.key not in but]
    return {source: mark for committed in some for source, mark in committed.sources.items()}


def damaged(folder: Path) -> set[str]:
    """Return the keys of runs and batches that have changed since they were written. All files are read."""
    tables = place(folder) / "tables"
    return {
        committed.key for committed in _commits(place(folder))
        if any(_digest(tables / name) != digest for name, (_, digest) in (committed.parts or {}).items())
    }  # fmt: skip


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def tables(folder: Path, table: str, but: Collection[str] = ()) -> Iterator[pa.Table]:
    """Yield the rows of a table in the order of their commits, with the sources of converted rows."""
    top, seen = place(folder), set[str]()
    for committed in _commits(top):
        if committed.key in but:
            continue
        again = sorted(seen.intersection(committed.runs)) if not committed.sources else []
        seen.update(committed.runs)
        for name in _files(top, committed, table):
            rows = _rows(table, _opened(top / "tables" / name).read(), committed.held.get(name, []))
            if again:
                import pyarrow.compute as pc

                rows = rows.filter(pc.invert(pc.is_in(rows["run_id"], pa.array(again))))
            yield rows


def _rows(table: str, rows: pa.Table, held: list[str]) -> pa.Table:
    names = [name for name in rows.column_names if name in schema.TABLES[table].names]
    made = schema.conform(table, rows.select(names))
    if SOURCE in rows.column_names:
        return made.append_column(SOURCE, rows[SOURCE].cast(pa.string()))
    return made.append_column(SOURCE, pa.array(held * len(rows) if len(held) == 1 else [None] * len(rows), pa.string()))


def files(folder: Path, but: Collection[str] = ()) -> Iterator[Path]:
    """Yield the files of complete runs and batches, and the files that they replace.

    Each file of `runs` follows the files that it names.
    """
    top = place(folder)
    for committed in _commits(top):
        if committed.key not in but:
            for table in reversed(schema.TABLES):
                yield from (top / "tables" / name for name in _files(top, committed, table))
            yield from (top / "tables" / "runs" / f"{key}.parquet" for key in committed.replaces)


def _files(top: Path, committed: _Commit, table: str) -> list[str]:
    if table == "runs":
        return [f"runs/{committed.key}.parquet"]
    if committed.parts is not None:
        return [name for name in committed.parts if name.partition("/")[0] == table]
    some = sorted(path.name for path in (top / "tables" / table).glob("*.parquet"))
    return [f"{table}/{name}" for name in some if name.removesuffix(".parquet").partition("~")[0] == committed.key]


def _commits(top: Path) -> list[_Commit]:
    """Return the runs and batches that are complete and not replaced, in the order of their commits."""
    there = sorted((top / "tables" / "runs").glob("*.parquet"), key=lambda path: path.name)
    return _whole(top, tuple((path.name, path.stat().st_size) for path in there if path.name[0] != "."))


@lru_cache(maxsize=8)
def _whole(top: Path, names: tuple[tuple[str, int], ...]) -> list[_Commit]:
    found = [
        committed for name, size in names if size and (committed := _read(top / "tables" / "runs" / name)) is not None
    ]
    whole = [
        one for one in found if all(_size(top / "tables" / name) == n for name, (n, _) in (one.parts or {}).items())
    ]
    replaced = {key for one in whole for key in one.replaces}
    return [one for one in whole if one.key not in replaced]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _read(path: Path) -> _Commit | None:
    key = path.name.removesuffix(".parquet")
    try:
        with _opened(path) as file:
            names = file.schema_arrow.names
            rows = file.read(columns=[name for name in ("run_id", "parts") if name in names])
            ids = tuple(rows["run_id"].to_pylist())
            if key.startswith(_MARK):
                given = json.loads((file.metadata.metadata or {})[_FOOTER])
                parts = {str(name): (int(size), str(digest)) for name, (size, digest) in given["files"].items()}
                return _checked(_Commit(key, ids, parts, tuple(given["replaces"]), given["sources"], given["held"]))
            text = rows["parts"][0].as_py() if "parts" in names else None
            reported = json.loads(text) if text else {}
            alone = {f"{table}/{key}.parquet": (int(size), str(digest)) for table, (size, digest) in reported.items()}
            return _checked(_Commit(key, ids, alone if text else None))
    except (OSError, ValueError, KeyError, TypeError, IndexError, pa.ArrowException):
        return None


def _checked(committed: _Commit) -> _Commit:
    """Refuse names of files outside this commit."""
    for name in committed.parts or ():
        if name.partition("/")[0] not in schema.TABLES or ".." in name.split("/") or not name.endswith(".parquet"):
            raise ValueError("it names files that do not belong to it")
    return committed


def _opened(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path.open("rb") if isinstance(path, Remote) else path)
