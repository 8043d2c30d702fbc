"""What one source file gives: headers, rows that wait in memory, parts that wait on the disk, how far it was read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from causeway.analysis import physical, schema
from causeway.analysis.arrays import array
from causeway.analysis.convert import stage
from causeway.analysis.convert.records import Header, Rows
from causeway.analysis.convert.report import FileReport

IN_MEMORY_BYTES = 48 << 20
_FEW_ROWS = 2000
_TUPLE_BYTES = 400  # about what a row of Python values takes
_SUFFIXES = (".sca", ".vec")


@dataclass
class Mark:
    """How far a source file has been converted."""

    path: str = ""
    size: int = 0
    mtime_ns: int = 0
    end: int = 0  # bytes of a text file, rows of a database
    fingerprint: str = ""
    rows: int = 0
    problems: int = 0
    runs: list[str] = field(default_factory=list)  # as the file calls them
    told: list[str] = field(default_factory=list)  # bad lines and notes, to be told again
    names: dict[str, str] = field(default_factory=dict)  # run as the file calls it -> as the tables call it

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> Mark | None:
        try:
            return None if given is None else cls(**given)
        except TypeError:
            return None

    def plain(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class Staged:
    """A parquet file that waits on the disk."""

    table: str
    run_id: str
    path: Path


@dataclass
class Piece:
    """All that a conversion of one file gave."""

    source: Path
    out: Path
    report: FileReport
    mark: Mark = field(default_factory=Mark)
    headers: dict[str, Header] = field(default_factory=dict)
    tables: dict[str, list[tuple[str, pa.Table]]] = field(default_factory=dict)
    """Table -> (run, rows)."""
    loose: dict[str, list[tuple[str, list[tuple[Any, ...]]]]] = field(default_factory=dict)
    """Table -> (run, rows as tuples)."""
    staged: list[Staged] = field(default_factory=list)
    continued: bool = False
    """Samples landed before stay."""
    held_bytes: int = 0

    @cached_property
    def resolved(self) -> str:
        return str(self.source.resolve())

    @cached_property
    def id(self) -> str:
        return stage.source_id(self.resolved)

    @cached_property
    def stem(self) -> str:
        """What the .sca and the .vec of a run have in common."""
        return stem_of(self.resolved)

    @property
    def runs(self) -> list[str]:
        """The runs that it holds rows of, as the tables call them."""
        return list(self.headers)

    @cached_property
    def folder(self) -> Path:
        return stage.folder_of(self.out, self.source)

    def add(self, table: str, run_id: str, rows: pa.Table) -> None:
        """Keeps rows, on the disk when they are many."""
        if self.held_bytes + rows.nbytes > IN_MEMORY_BYTES:
            path = self.folder / f"{table}-part{len(self.staged):06d}.parquet"
            physical.stage(path, table, rows, self.id)
            self.staged.append(Staged(table, run_id, path))
        else:
            self.held_bytes += rows.nbytes
            self.tables.setdefault(table, []).append((run_id, rows))

    def add_rows(self, run_id: str, rows: Rows) -> None:
        """Keeps rows given as tuples, without the run's id. A few stay tuples: their columns are made with others'."""
        for table, tuples in rows.items():
            if len(tuples) < _FEW_ROWS:
                self.held_bytes += _TUPLE_BYTES * len(tuples)
                self.loose.setdefault(table, []).append((run_id, tuples))
                continue
            names = schema.TABLES[table].names[1:]
            columns = dict(zip(names, zip(*tuples, strict=True), strict=True))
            self.add(table, run_id, schema.conform(table, columns, run_id))


def source_rows(marks: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """Return what is known of each source as the table of sources has it."""
    texts = [json.dumps(mark) for mark in marks.values()]
    form = physical.form_of(physical.SOURCES)
    columns = {"run_id": [""] * len(texts), physical.SOURCE: list(marks), "text": texts}
    return pa.Table.from_arrays([array(columns[field.name], field.type) for field in form], schema=form)


def stem_of(resolved: str) -> str:
    """The path of a source without `.gz` and without `.sca` or `.vec`."""
    plain = resolved[:-3] if resolved[-3:].lower() == ".gz" else resolved
    return plain[:-4] if plain[-4:].lower() in _SUFFIXES else plain
