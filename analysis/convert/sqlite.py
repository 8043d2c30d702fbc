"""OMNeT++ results in SQLite: the same tables, read row by row."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from causeway.analysis import schema, store
from causeway.analysis.convert.records import Header
from causeway.analysis.convert.report import FileReport
from causeway.analysis.convert.runs import header_tables
from causeway.analysis.convert.samples import Batch, SampleWriter
from causeway.analysis.convert.stage import Mark, Stage
from causeway.bridge.errors import UserError

_MAGIC = b"SQLite format 3\0"
_ROWS = 100_000
_KINDS = {  # our owner -> (table, its key, its name column, attribute table)
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


def is_sqlite(path: Path) -> bool:
    """Both kinds have the same suffixes: only the first bytes tell."""
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def convert(stage: Stage, keep_going: bool, report: FileReport) -> None:
    """Stage and land all tables of one database. Samples already landed are not read again."""
    before, status = stage.mark(), stage.source.stat()
    if before.whole and (before.size, before.mtime_ns) == (status.st_size, status.st_mtime_ns):
        report.status, report.runs = "up to date", before.runs
        return
    stage.clear()
    try:
        with sqlite3.connect(f"{stage.source.resolve().as_uri()}?mode=ro", uri=True, timeout=30) as database:
            database.row_factory = None
            database.text_factory = _text
            database.execute("BEGIN")  # one consistent state, whatever the simulation adds meanwhile
            after = _convert(database, stage, before, report)
    except sqlite3.Error as error:
        raise UserError(f"{stage.source}: {error}; is it a result file of OMNeT++, and not locked?") from error
    after.size, after.mtime_ns = status.st_size, status.st_mtime_ns
    stage.land(before, after, keep_old_parts=report.status == "continued")


def _convert(database: sqlite3.Connection, stage: Stage, before: Mark, report: FileReport) -> Mark:
    runs = dict(database.execute("SELECT runId, runName FROM run ORDER BY runId"))
    for key, run_id in runs.items():
        _stage_header(database, stage, key, run_id)
        for kind in _KINDS:
            _stage_items(database, stage, kind, key, run_id)
        _stage_statistics(database, stage, key, run_id)
    grown = before.whole and before.runs == list(runs.values()) and before.fingerprint == _seen(database, before.end)
    report.status = "continued" if grown and before.end else "converted"
    report.runs = list(runs.values())
    start = before.end if grown else 0
    end, report.rows = _stage_samples(database, stage, runs, start)
    return Mark(end=end, fingerprint=_seen(database, end), rows=start + report.rows, runs=report.runs)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _seen(database: sqlite3.Connection, end: int) -> str:
    """What the last sample read looks like, to know it again."""
    rows = database.execute("SELECT * FROM vectorData WHERE rowid = ?", (end,)).fetchall() if end else []
    return repr(rows)


def _stage_header(database: sqlite3.Connection, stage: Stage, key: int, run_id: str) -> None:
    def pairs(query: str) -> list[list[str]]:
        return [list(row) for row in database.execute(query, (key,))]

    header = Header(
        run_id,
        attributes=pairs("SELECT attrName, attrValue FROM runAttr WHERE runId = ? ORDER BY rowid"),
        itervars=pairs("SELECT itervarName, itervarValue FROM runItervar WHERE runId = ? ORDER BY rowid"),
        config=pairs("SELECT configKey, configValue FROM runConfig WHERE runId = ? ORDER BY configOrder, rowid"),
    )
    for table, columns in header_tables(header, stage.source).items():
        store.write_table(stage.path(table, run_id), schema.conform(table, columns))


def _stage(stage: Stage, table: str, run_id: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Stage rows as parts of a table, some at a time."""
    names = schema.TABLES[table].names[1:]
    for number, some in enumerate(_some(rows)):
        columns = dict(zip(names, zip(*some, strict=True), strict=True))
        path = stage.path(table, run_id, f"{table}{number:06d}")
        store.write_table(path, schema.conform(table, columns, run_id))


def _some(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    some: list[tuple[Any, ...]] = []
    for row in rows:
        some.append(row)
        if len(some) == _ROWS:
            yield some
            some = []
    if some:
        yield some


def _real(value: float | None) -> float:
    return float("nan") if value is None else value


def _stage_items(database: sqlite3.Connection, stage: Stage, kind: str, key: int, run_id: str) -> None:
    """The items of one kind, and their attributes."""
    table, item_key, item_name, attributes = _KINDS[kind]

    def items(columns: str) -> Iterator[tuple[Any, ...]]:
        return database.execute(f"SELECT {columns} FROM {table} WHERE runId = ? ORDER BY {item_key}", (key,))

    if kind == "scalar":
        rows = items("moduleName, scalarName, scalarValue")
        _stage(stage, "scalars", run_id, ((module, name, _real(value)) for module, name, value in rows))
    elif kind == "par":
        _stage(stage, "pars", run_id, items("moduleName, paramName, paramValue"))
    elif kind == "vector":
        unit = "SELECT attrValue FROM vectorAttr a WHERE a.vectorId = vector.vectorId AND attrName = 'unit'"
        _stage(stage, "vectors", run_id, items(f"vectorId, moduleName, vectorName, COALESCE(({unit}), ''), 'ETV'"))
    position = "i.vectorId" if kind == "vector" else f"DENSE_RANK() OVER (ORDER BY i.{item_key}) - 1"
    rows = database.execute(
        f"SELECT * FROM (SELECT ?, i.moduleName, i.{item_name}, a.attrName, a.attrValue, {position} "
        f"FROM {table} i LEFT JOIN {attributes} a ON a.{item_key} = i.{item_key} WHERE i.runId = ? "
        f"ORDER BY i.{item_key}, a.rowid) WHERE attrName IS NOT NULL",
        (kind, key),
    )
    _stage_attributes(stage, kind, run_id, rows)


def _stage_attributes(stage: Stage, kind: str, run_id: str, rows: Iterable[tuple[Any, ...]]) -> None:
    names = schema.TABLES["attributes"].names[1:]
    for number, some in enumerate(_some(rows)):
        columns = dict(zip(names, zip(*some, strict=True), strict=True))
        path = stage.path("attributes", run_id, f"{kind}{number:06d}")
        store.write_table(path, schema.conform("attributes", columns, run_id))


def _stage_statistics(database: sqlite3.Connection, stage: Stage, key: int, run_id: str) -> None:
    def fields() -> Iterator[tuple[Any, ...]]:
        for weighted in (0, 1):
            names = _FIELDS | (_WEIGHTED_FIELDS if weighted else _PLAIN_FIELDS)
            query = (
                f"SELECT moduleName, statName, {', '.join(names.values())} FROM statistic "
                "WHERE runId = ? AND isWeighted = ? ORDER BY statId"
            )
            for module, name, *values in database.execute(query, (key, weighted)):
                for field, value in zip(names, values, strict=True):
                    yield module, name, field, _real(value)

    _stage(stage, "statistics", run_id, fields())
    bins = database.execute(
        "SELECT s.moduleName, s.statName, ROW_NUMBER() OVER (PARTITION BY s.statId ORDER BY b.rowid) - 1, "
        "b.lowerEdge, b.binValue FROM statistic s JOIN histogramBin b ON b.statId = s.statId "
        "WHERE s.runId = ? ORDER BY s.statId, b.rowid",
        (key,),
    )
    _stage(stage, "bins", run_id, bins)


def _stage_samples(database: sqlite3.Connection, stage: Stage, runs: dict[int, str], start: int) -> tuple[int, int]:
    """Stage the samples behind row `start`: (last row, number of samples)."""
    end = database.execute("SELECT COALESCE(MAX(rowid), 0) FROM vectorData").fetchone()[0]
    count = 0
    for key, run_id in runs.items():
        exponent = database.execute("SELECT simtimeExp FROM run WHERE runId = ?", (key,)).fetchone()[0]
        cursor = database.execute(
            "SELECT vectorId, eventNumber, simtimeRaw, value FROM vectorData WHERE rowid > ? AND rowid <= ? "
            "AND vectorId IN (SELECT vectorId FROM vector WHERE runId = ?) ORDER BY rowid",
            (start, end, key),
        )
        rows = cursor.fetchmany(_ROWS)
        if not rows:
            continue
        with SampleWriter(stage.path("samples", run_id, f"{start:015d}-{end:015d}"), run_id) as writer:
            while rows:
                if writer.batch.rows + len(rows) > len(writer.batch.ids):
                    writer.swap()
                _fill(writer.batch, rows, exponent)
                rows = cursor.fetchmany(_ROWS)
        count += writer.rows
    return end, count


def _fill(batch: Batch, rows: list[tuple[int, int, int, float | None]], exponent: int) -> None:
    at = slice(batch.rows, batch.rows + len(rows))
    ids, events, raws, values = zip(*rows, strict=True)
    batch.ids[at], batch.events[at], batch.raws[at], batch.exponents[at] = ids, events, raws, exponent
    batch.values[at] = np.array(values, dtype=np.float64)  # None, which is how NaN is stored, becomes NaN
    batch.rows = at.stop
