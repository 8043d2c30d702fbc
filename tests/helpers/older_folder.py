"""A result folder as causeway wrote it before it had a log: runs that landed alone, and batches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import schema


def _write_table(path: Path, table: pa.Table, footer: Mapping[bytes, str] | None = None) -> list[Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        if footer:
            writer.add_key_value_metadata(dict(footer))
    return [path.stat().st_size, hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()]


def _runs(rows: pa.Table, reported: str | None) -> pa.Table:
    return rows.append_column("parts", pa.array([reported] * len(rows), pa.string()))


def alone(folder: Path, tables: Mapping[str, Any]) -> None:
    """Land one run."""
    runs = schema.conform("runs", tables["runs"])
    run = runs["run_id"][0].as_py()
    parts = {
        name: _write_table(folder / "tables" / name / f"{run}.parquet", schema.conform(name, rows, run))
        for name, rows in tables.items() if name != "runs"
    }  # fmt: skip
    _write_table(folder / "tables" / "runs" / f"{run}.parquet", _runs(runs, json.dumps(parts)))


def batch(folder: Path, key: str, some: Sequence[Mapping[str, Any]], replaces: Sequence[str] = ()) -> None:
    """Land many runs."""
    files: dict[str, list[Any]] = {}
    for table in {name for tables in some for name in tables} - {"runs"}:
        rows = [schema.conform(table, tables[table], tables["runs"]["run_id"][0]) for tables in some]
        name = f"{table}/study=s/@{key}~0.parquet"
        files[name] = _write_table(folder / "tables" / name, pa.concat_tables(rows))
    runs = pa.concat_tables([schema.conform("runs", tables["runs"]) for tables in some])
    reported = {"files": files, "replaces": list(replaces), "sources": {}, "held": {}}
    path = folder / "tables" / "runs" / f"@{key}.parquet"
    _write_table(path, _runs(runs, None), {b"causeway.batch": json.dumps(reported)})
