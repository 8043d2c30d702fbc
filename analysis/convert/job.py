"""Convert one file: both passes into the stage, then land. The ranges of a file are tasks that can run anywhere."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from causeway.analysis import schema, store
from causeway.analysis.convert import kernel, sqlite, text
from causeway.analysis.convert.records import Rows
from causeway.analysis.convert.report import FileReport
from causeway.analysis.convert.runs import header_tables
from causeway.analysis.convert.samples import SampleWriter
from causeway.analysis.convert.stage import Mark, Stage, fingerprint
from causeway.bridge.errors import UserError

RANGE_BYTES = 128 << 20


@dataclass(frozen=True)
class RangeTask:
    """The vector data in [start, end) of a text file, to be staged as one parquet file."""

    source: Path
    out: Path
    run_id: str
    start: int
    end: int
    keep_going: bool

    @property
    def name(self) -> str:
        return f"{self.start:015d}-{self.end:015d}"


@dataclass
class RangeResult:
    rows: int
    problems: text.Problems


RunRanges = Callable[[list[RangeTask], np.ndarray], list[RangeResult]]


def run_range(task: RangeTask, declared: np.ndarray) -> RangeResult:
    """Stage one range, unless that was done before on the same bytes."""
    stage = Stage(task.out, task.source)
    part = stage.path("samples", task.run_id, task.name)
    seen = fingerprint(task.source, task.end)
    if (note := stage.noted(task.name)) and note["fingerprint"] == seen and part.exists():
        return RangeResult(note["rows"], text.Problems(task.keep_going))
    problems = text.Problems(task.keep_going)
    try:
        with SampleWriter(part, task.run_id) as writer:
            text.read_range(task.source, task.start, task.end, declared, problems, writer)
    except text.StopAtProblem:
        return RangeResult(0, problems)
    if not problems.count:  # a range with problems is read again, to tell of them again
        stage.note(task.name, {"fingerprint": seen, "rows": writer.rows})
    return RangeResult(writer.rows, problems)


def run_here(tasks: list[RangeTask], declared: np.ndarray) -> list[RangeResult]:
    """All ranges in this process, one after the other; the first problem ends it unless the caller goes on."""
    results: list[RangeResult] = []
    for task in tasks:
        results.append(run_range(task, declared))
        if results[-1].problems.count and not task.keep_going:
            break
    return results


def convert_file(source: Path, out: Path, keep_going: bool = False, run_ranges: RunRanges = run_here) -> FileReport:
    """Convert one result file of any kind into the result folder `out`."""
    begun = time.monotonic()
    report = FileReport(source)
    try:
        status = os.stat(source)
        report.size_bytes = status.st_size
        if sqlite.is_sqlite(source):
            sqlite.convert(Stage(out, source), keep_going, report)
        else:
            _convert_text(Stage(out, source), status, keep_going, report, run_ranges)
    except PermissionError as error:
        raise UserError(f"cannot read {source}: {error.strerror}; check its permissions") from error
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot convert {source}: {reason}; make room or choose another --out") from error
    report.seconds = time.monotonic() - begun
    return report


def _convert_text(
    stage: Stage, status: os.stat_result, keep_going: bool, report: FileReport, run_ranges: RunRanges
) -> None:
    source, before = stage.source, stage.mark()
    same = before.whole and before.end <= status.st_size and fingerprint(source, before.end) == before.fingerprint
    same = same and (keep_going or not before.problems)
    if same and (before.size, before.mtime_ns) == (status.st_size, status.st_mtime_ns):
        report.status, report.runs = "up to date", before.runs
        report.problem_count = before.problems
        return
    grown = same and status.st_size > before.size
    report.status = "continued" if grown else "converted"
    problems = text.Problems(keep_going)
    try:
        records = text.read_records(source, problems, lambda *part: _stage_rows(stage, *part))
        if not records.headers:
            problems.add(0, "a 'run' record: is this a result file of OMNeT++?")
        start = before.end if grown else 0
        results = [result for plan in _plan(stage, records, start, keep_going) for result in run_ranges(*plan)]
        for result in results:
            problems.merge(result.problems)
        if problems.count and not keep_going:
            raise text.StopAtProblem
    except text.StopAtProblem:
        first = text.located(source, problems)[0]
        raise UserError(f"{first}; mend it, or convert the rest with --keep-going") from None
    for header in records.headers.values():
        for table, columns in header_tables(header, source).items():
            store.write_table(stage.path(table, header.run_id), schema.conform(table, columns))
    report.rows, report.runs = sum(result.rows for result in results), list(records.headers)
    report.problem_count = problems.count
    report.problems = text.located(source, problems)
    after = Mark(
        size=status.st_size, mtime_ns=status.st_mtime_ns, end=records.end, fingerprint=fingerprint(source, records.end),
        rows=report.rows + (before.rows if grown else 0), problems=problems.count, runs=report.runs,
    )  # fmt: skip
    stage.land(before, after, keep_old_parts=grown)


def _stage_rows(stage: Stage, run_id: str, rows: Rows, offset: int) -> None:
    """Stage the rows of some records as one part of each table."""
    for table, tuples in rows.items():
        names = schema.TABLES[table].names[1:]
        columns = dict(zip(names, zip(*tuples, strict=True), strict=True))
        path = stage.path(table, run_id, f"r{offset:015d}")
        store.write_table(path, schema.conform(table, columns, run_id))


def _plan(
    stage: Stage, records: text.Records, start: int, keep_going: bool
) -> Iterator[tuple[list[RangeTask], np.ndarray]]:
    """For each run, the ranges still to be read from `start` on, cut every RANGE_BYTES, and its declared vectors."""
    begins = [0] + [section.start for section in records.sections[1:]] + [records.end]
    for section, at, end in zip(records.sections, begins, begins[1:], strict=False):
        tasks, at = [], max(at, start)
        while at < end and records.rows:
            cut = (at // RANGE_BYTES + 1) * RANGE_BYTES
            behind = end if cut >= end else text.line_start(stage.source, cut, end)
            tasks.append(RangeTask(stage.source.resolve(), stage.out, section.run_id, at, behind, keep_going))
            stage.path("samples", section.run_id, tasks[-1].name)
            at = behind
        yield tasks, kernel.hash_table((key, *columns) for key, columns in section.vectors.items())
