"""The content of one result file between reading and commit (`Piece`), and the state of its conversion (`Mark`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from causeway.analysis import physical, schema
from causeway.analysis.arrow_arrays import array
from causeway.analysis.convert import stage
from causeway.analysis.convert.conversion_report import FileReport
from causeway.analysis.convert.records import Header, Rows

IN_MEMORY_BYTES = 48 << 20
"""The maximum size of a piece's rows in memory. More rows are staged on the disk."""
_FEW_ROWS = 2000
"""Fewer rows than this stay tuples until the commit, since columns are built faster once for many files."""
_TUPLE_BYTES = 400  # the approximate size of a row of Python values
_SUFFIXES = (".sca", ".vec")


@dataclass
class Mark:
    """The state of a source file when it was converted: how far it was read, and the runs that it contained.

    Marks are kept in the result folder as JSON, so the names of the fields must not change.
    """

    path: str = ""
    size: int = 0
    mtime_ns: int = 0
    end: int = 0  # bytes of a text file, rows of a database
    fingerprint: str = ""
    rows: int = 0
    problems: int = 0
    runs: list[str] = field(default_factory=list)  # their names in the file
    reported: list[str] = field(default_factory=list)  # bad lines, to be reported again
    names: dict[str, str] = field(default_factory=dict)  # name of a run in the file -> its name in the tables

    @property
    def stored_runs(self) -> list[str]:
        """The runs by their names in the tables."""
        return [self.names.get(run, run) for run in self.runs]

    @classmethod
    def of(cls, plain: Mapping[str, Any] | None) -> Mark | None:
        """Return the mark with these fields; None if they are those of another version of the format."""
        try:
            return None if plain is None else cls(**plain)
        except TypeError:
            return None

    def plain(self) -> dict[str, Any]:
        """Return the fields as a dict, for JSON."""
        return dict(vars(self))


@dataclass
class Staged:
    """A parquet file that waits on the disk for its commit."""

    table: str
    run_id: str
    path: Path


@dataclass
class Piece:
    """The content of one result file: headers, rows in memory, and parquet files that wait on the disk."""

    source: Path
    out: Path
    report: FileReport
    mark: Mark = field(default_factory=Mark)
    headers: dict[str, Header] = field(default_factory=dict)
    tables: dict[str, list[tuple[str, pa.Table]]] = field(default_factory=dict)
    """Maps a table to its pairs of run and rows."""
    loose: dict[str, list[tuple[str, list[tuple[Any, ...]]]]] = field(default_factory=dict)
    """Maps a table to its pairs of run and rows as tuples."""
    staged: list[Staged] = field(default_factory=list)
    continued: bool = False
    """True if the file has grown, so that the samples that were committed before stay valid."""
    held_bytes: int = 0

    @cached_property
    def resolved(self) -> str:
        """The resolved path of the source."""
        return str(self.source.resolve())

    @cached_property
    def id(self) -> str:
        """The source's name in the tables."""
        return stage.source_id(self.resolved)

    @cached_property
    def stem(self) -> str:
        """The path without suffixes. The .sca and the .vec of a run have the same."""
        return stem_of(self.resolved)

    @property
    def runs(self) -> list[str]:
        """The runs of the file, by their names in the tables."""
        return list(self.headers)

    @cached_property
    def folder(self) -> Path:
        """The folder in which the source's parts are staged."""
        return stage.folder_of(self.out, self.source, self.id)

    def add(self, table: str, run_id: str, rows: pa.Table) -> None:
        """Add rows of a table; they are staged on the disk if memory would hold too many."""
        if self.held_bytes + rows.nbytes > IN_MEMORY_BYTES:
            path = self.folder / f"{table}-part{len(self.staged):06d}.parquet"
            physical.stage(path, table, rows, self.id)
            self.staged.append(Staged(table, run_id, path))
        else:
            self.held_bytes += rows.nbytes
            self.tables.setdefault(table, []).append((run_id, rows))

    def add_rows(self, run_id: str, rows: Rows) -> None:
        """Add rows of several tables as tuples without the run's id.

        A small number of rows stays tuples until the commit.
        """
        for table, tuples in rows.items():
            if len(tuples) < _FEW_ROWS:
                self.held_bytes += _TUPLE_BYTES * len(tuples)
                self.loose.setdefault(table, []).append((run_id, tuples))
                continue
            names = schema.TABLES[table].names[1:]
            columns = dict(zip(names, zip(*tuples, strict=True), strict=True))
            self.add(table, run_id, schema.conform(table, columns, run_id))


def source_rows(marks: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """Return the rows of the table of sources: the mark of each source as JSON."""
    texts = [json.dumps(mark) for mark in marks.values()]
    form = physical.form_of(physical.SOURCES)
    columns = {"run_id": [""] * len(texts), physical.SOURCE: list(marks), "text": texts}
    return pa.Table.from_arrays([array(columns[field.name], field.type) for field in form], schema=form)


def stem_of(resolved: str) -> str:
    """Return the path of a source without `.gz` and without `.sca` or `.vec`."""
    plain = resolved[:-3] if resolved[-3:].lower() == ".gz" else resolved
    return plain[:-4] if plain[-4:].lower() in _SUFFIXES else plain
