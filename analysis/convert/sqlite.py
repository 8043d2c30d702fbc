"""Read OMNeT++'s results in SQLite into the result tables. Start here: `read`.

A cell of SQLite may hold a value of any type, so every value is validated.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from causeway.analysis import schema, store
from causeway.analysis.convert import lexer
from causeway.analysis.convert.declared import NO_EVENT
from causeway.analysis.convert.piece import Mark, Piece, Staged
from causeway.analysis.convert.records import Header
from causeway.analysis.convert.samples import Batch, SampleWriter
from causeway.errors import UserError

_ROWS = 100_000
_MOST_PROBLEMS = 1000
_KINDS = {  # our kind of owner -> (table, its key, its name column, attribute table)
    "scalar": ("scalar", "scalarId", "scalarName", "scalarAttr"),
    "par": ("parameter", "paramId", "paramName", "paramAttr"),
    "statistic": ("statistic", "statId", "statName", "statisticAttr"),
    "vector": ("vector", "vectorId", "vectorName", "vectorAttr"),
}
_FIELDS = {"count": "statCount", "mean": "statMean", "stddev": "statStddev", "min": "statMin", "max": "statMax"}
_PLAIN_FIELDS = {"sum": "statSum", "sqrsum": "statSqrsum"}
_WEIGHTED_FIELDS = {
    "weights": "statWeights", "weightedSum": "statWeightedSum",
    "sqrSumWeights": "statSqrSumWeights", "weightedSqrSum": "statWeightedSqrSum",
}  # fmt: skip
_SAMPLES = (
    "SELECT vectorId, eventNumber, simtimeRaw, value, rowid FROM vectorData WHERE rowid > ? AND rowid <= ? "
    "AND vectorId IN (SELECT vectorId FROM vector WHERE runId = ?) ORDER BY rowid"
)
Row = tuple[Any, ...]


def read(piece: Piece, before: Mark | None, keep_going: bool) -> None:
    """Read all tables of one database; of samples, only those added since the last conversion (`before`)."""
    try:
        with sqlite3.connect(f"{piece.source.resolve().as_uri()}?mode=ro", uri=True, timeout=30) as database:
            database.row_factory = None
            database.text_factory = lexer.text
            database.execute("BEGIN")  # all queries see one state, even if the simulation adds rows meanwhile
            _refuse_views(database, piece)
            _Reader(database, piece, keep_going).read(before)
        database.close()
    except (sqlite3.Error, OverflowError) as error:
        check = "check that it is a result file of OMNeT++ and that no program locks it"
        raise UserError(f"{piece.source}: {error}; {check}") from error


def _refuse_views(database: sqlite3.Connection, piece: Piece) -> None:
    """Refuse a database with views or computed tables, which can have infinitely many rows."""
    computed = "type = 'view' OR sql LIKE 'CREATE VIRTUAL%' OR sql LIKE '%GENERATED ALWAYS%'"
    for (name,) in database.execute(f"SELECT name FROM sqlite_master WHERE {computed}"):
        raise UserError(
            f"{piece.source}: {name} is not a plain table, unlike those of OMNeT++; remove it from the database"
        )


# --- validation of cells: each function returns the value of our column, or raises ValueError with the expectation


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int | float):
        return repr(cell)
    raise ValueError(f"text instead of {_shown(cell)}")


def _as_int(cell: Any) -> int:
    if isinstance(cell, int):
        return cell
    raise ValueError(f"an integer instead of {_shown(cell)}")


def _as_event(cell: Any) -> int:
    return int(NO_EVENT) if cell is None else _as_int(cell)


def _as_real(cell: Any) -> float:
    if cell is None:
        return float("nan")  # OMNeT++ stores NaN as NULL
    if isinstance(cell, int | float):
        return float(cell)
    raise ValueError(f"a number instead of {_shown(cell)}")


def _shown(cell: Any) -> str:
    return "NULL" if cell is None else repr(cell)[:40]


_CHECKS: dict[pa.DataType, Callable[[Any], Any]] = {pa.string(): _as_text, pa.int64(): _as_int, pa.float64(): _as_real}
_SAMPLE = (_as_int, _as_event, _as_int, _as_real)


class _Reader:
    """Reads one database into a piece."""

    def __init__(self, database: sqlite3.Connection, piece: Piece, keep_going: bool) -> None:
        self.database, self.piece, self.keep_going = database, piece, keep_going

    def read(self, before: Mark | None) -> None:
        report, mark = self.piece.report, self.piece.mark
        runs = self._runs()
        for key, (run_id, _) in runs.items():
            self._header(key, run_id)
            for kind in _KINDS:
                self._items(kind, key, run_id)
            self._statistics(key, run_id)
        names = list(dict.fromkeys(run_id for run_id, _ in runs.values()))
        grown = bool(before and before.end and before.runs == names and before.fingerprint == self._seen(before.end))
        start = before.end if before and grown else 0
        self.piece.continued, report.status = grown, "continued" if grown else "converted"
        mark.end, report.rows = self._samples(runs, start)
        mark.fingerprint, mark.rows = self._seen(mark.end), report.rows + (before.rows if before and grown else 0)
        report.runs = mark.runs = names
        mark.problems, mark.reported = report.problem_count, report.problems[:50]

    def _problem(self, table: str, row: Any, expected: object) -> None:
        problem = f"{self.piece.source}: table {table}, row {row}: expected {expected}"
        if not self.keep_going:
            raise UserError(f"{problem}; correct the row, or convert the rest with --keep-going")
        report = self.piece.report
        report.problem_count += 1
        if len(report.problems) < _MOST_PROBLEMS:
            report.problems.append(problem)

    def _valid_rows(self, table: str, rows: Iterable[Row], checks: Sequence[Callable[[Any], Any]]) -> Iterator[Row]:
        """Yield the valid rows, without the row number at the end of each."""
        for row in rows:
            try:
                yield tuple(check(cell) for check, cell in zip(checks, row[:-1], strict=True))
            except ValueError as error:
                self._problem(table, row[-1], error)

    def _runs(self) -> dict[int, tuple[str, int]]:
        found = {}
        for *row, number in self.database.execute("SELECT runId, runName, simtimeExp, rowid FROM run ORDER BY runId"):
            try:
                key, run_id, exponent = _as_int(row[0]), _as_text(row[1]), _as_int(row[2])
                if store.is_path(run_id):
                    raise ValueError(f"a name that is not a path instead of {_shown(row[1])}")
                if not -18 <= exponent <= 0:
                    raise ValueError(f"an exponent of time from -18 to 0 instead of {exponent}")
                found[key] = (run_id, exponent)
            except ValueError as error:
                self._problem("run", number, error)
        return found

    def _header(self, key: int, run_id: str) -> None:
        def pairs(table: str, name: str, value: str, order: str = "rowid") -> list[list[str]]:
            query = f"SELECT {name}, {value}, rowid FROM {table} WHERE runId = ? ORDER BY {order}"
            return [
                list(row) for row in self._valid_rows(table, self.database.execute(query, (key,)), (_as_text, _as_text))
            ]

        header = Header(
            run_id,
            attributes=pairs("runAttr", "attrName", "attrValue"),
            itervars=pairs("runItervar", "itervarName", "itervarValue"),
            config=pairs("runConfig", "configKey", "configValue", "configOrder, rowid"),
        )
        known = self.piece.headers.setdefault(run_id, header)
        if known is not header:
            self.piece.report.notes += known.take(header)

    def _add(self, table: str, source: str, run_id: str, rows: Iterable[Row]) -> None:
        """Add rows to a table in batches. The rows have no run, and end with their row number."""
        fields = list(schema.TABLES[table])[1:]
        names, rows = [field.name for field in fields], iter(rows)
        while some := list(islice(rows, _ROWS)):
            try:
                part = schema.conform(
                    table, dict(zip(names, zip(*(r[:-1] for r in some), strict=True), strict=True)), run_id
                )
            except (ValueError, TypeError, OverflowError, pa.ArrowException):
                sound = list(self._valid_rows(source, some, [_CHECKS[field.type] for field in fields]))
                if not sound:
                    continue
                part = schema.conform(table, dict(zip(names, zip(*sound, strict=True), strict=True)), run_id)
            self.piece.add(table, run_id, part)

    def _items(self, kind: str, key: int, run_id: str) -> None:
        """Read the items of one kind, and their attributes."""
        table, item_key, item_name, attributes = _KINDS[kind]

        def items(columns: str) -> Iterator[Row]:
            return self.database.execute(
                f"SELECT {columns}, rowid FROM {table} WHERE runId = ? ORDER BY {item_key}", (key,)
            )

        if kind == "scalar":
            rows = enumerate(items("moduleName, scalarName, scalarValue"))
            values = ((m, name, float("nan") if v is None else v, at, row) for at, (m, name, v, row) in rows)
            self._add("scalars", table, run_id, values)
        elif kind == "par":
            rows = enumerate(items("moduleName, paramName, paramValue"))
            self._add("pars", table, run_id, ((m, name, text, at, row) for at, (m, name, text, row) in rows))
        elif kind == "vector":
            unit = "SELECT attrValue FROM vectorAttr a WHERE a.vectorId = vector.vectorId AND attrName = 'unit'"
            columns = f"vectorId, moduleName, vectorName, COALESCE(({unit}), ''), 'ETV'"
            self._add("vectors", table, run_id, items(columns))
        position = "i.vectorId" if kind == "vector" else f"DENSE_RANK() OVER (ORDER BY i.{item_key}) - 1"
        found = self.database.execute(
            f"SELECT * FROM (SELECT ?, i.moduleName, i.{item_name}, a.attrName, a.attrValue, {position}, a.rowid AS r "
            f"FROM {table} i LEFT JOIN {attributes} a ON a.{item_key} = i.{item_key} WHERE i.runId = ? "
            f"ORDER BY i.{item_key}, a.rowid) WHERE r IS NOT NULL",
            (kind, key),
        )
        self._add("attributes", attributes, run_id, found)

    def _statistics(self, key: int, run_id: str) -> None:
        self._add("statistics", "statistic", run_id, self._fields(key))
        bins = self.database.execute(
            "SELECT s.moduleName, s.statName, ROW_NUMBER() OVER (PARTITION BY s.statId ORDER BY b.rowid) - 1, "
            "b.lowerEdge, b.binValue, s.at, b.rowid FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY statId) - 1 AS at "
            "FROM statistic WHERE runId = ?) s JOIN histogramBin b ON b.statId = s.statId ORDER BY s.statId, b.rowid",
            (key,),
        )
        self._add("bins", "histogramBin", run_id, bins)

    def _fields(self, key: int) -> Iterator[Row]:
        every = [*_FIELDS.values(), *_PLAIN_FIELDS.values(), *_WEIGHTED_FIELDS.values()]
        query = (
            f"SELECT isWeighted, moduleName, statName, {', '.join(every)}, rowid FROM statistic "
            "WHERE runId = ? ORDER BY statId"
        )
        checks = (_as_text, _as_text, *(_as_real for _ in every))
        for at, (weighted, *row) in enumerate(self.database.execute(query, (key,))):
            names = _FIELDS | (_WEIGHTED_FIELDS if weighted else _PLAIN_FIELDS)
            for module, name, *values in self._valid_rows("statistic", [tuple(row)], checks):
                value_of = dict(zip(every, values, strict=True))
                for field, column in names.items():
                    yield module, name, field, value_of[column], at, row[-1]

    def _seen(self, end: int) -> str:
        """Return a fingerprint of the samples up to a row: their number, their sums, and the last one."""
        if not end:
            return "[]"
        found = self.database.execute(
            "SELECT COUNT(*), TOTAL(vectorId), TOTAL(eventNumber), TOTAL(simtimeRaw), TOTAL(value) FROM vectorData "
            "WHERE rowid <= ?", (end,)
        ).fetchall()  # fmt: skip
        return repr(found + self.database.execute("SELECT * FROM vectorData WHERE rowid = ?", (end,)).fetchall())

    def _samples(self, runs: dict[int, tuple[str, int]], start: int) -> tuple[int, int]:
        """Stage the samples after row `start`; return (last row, number of samples)."""
        end = self.database.execute("SELECT COALESCE(MAX(rowid), 0) FROM vectorData").fetchone()[0]
        count = 0
        for key, (run_id, exponent) in runs.items():
            first = self.database.execute(_SAMPLES, (start, end, key)).fetchone()
            if not first:
                continue
            part = self.piece.folder / f"samples-{key}-{start:015d}-{end:015d}.parquet"
            with SampleWriter(part, run_id, self.piece.id) as writer:
                cursor = self.database.execute(_SAMPLES, (start, end, key))
                rows = cursor.fetchmany(_ROWS)
                while rows:
                    if writer.batch.rows + len(rows) > len(writer.batch.ids):
                        writer.swap()
                    self._fill(writer.batch, rows, exponent)
                    rows = cursor.fetchmany(_ROWS)
            count += writer.rows
            self.piece.staged.append(Staged("samples", run_id, part))
        return end, count

    def _fill(self, batch: Batch, rows: list[Row], exponent: int) -> None:
        try:
            self._put(batch, list(zip(*rows, strict=True))[:-1], exponent)
        except (TypeError, ValueError, OverflowError):
            sound = list(self._valid_rows("vectorData", rows, _SAMPLE))
            if sound:
                self._put(batch, list(zip(*sound, strict=True)), exponent)

    @staticmethod
    def _put(batch: Batch, columns: Sequence[Sequence[Any]], exponent: int) -> None:
        ids, events, raws, values = columns
        at = slice(batch.rows, batch.rows + len(ids))
        batch.ids[at], batch.events[at], batch.raws[at], batch.exponents[at] = ids, events, raws, exponent
        batch.values[at] = np.array(values, dtype=np.float64)  # None becomes NaN
        batch.rows = at.stop
