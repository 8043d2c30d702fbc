"""Read one result file completely. Start here: `read_file`.

The vector data of a large file is cut into ranges (`RangeTask`), which may be read in other processes.
"""

from __future__ import annotations

import gzip
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from causeway.analysis.convert import stage, text
from causeway.analysis.convert.conversion_report import FileReport
from causeway.analysis.convert.declared import hash_table
from causeway.analysis.convert.piece import Mark, Piece, Staged
from causeway.analysis.convert.records import Section
from causeway.analysis.convert.samples import Collected, SampleWriter
from causeway.errors import UserError

RANGE_BYTES = 128 << 20
"""The length of a range of a large file."""
SMALL_BYTES = 8 << 20
"""A file of at most this size, and of one range, is kept in memory until it is committed."""


@dataclass(frozen=True)
class RangeTask:
    """The vector data in [start, end) of a text file, to be staged as one parquet file."""

    content: Path
    folder: Path
    source: str
    run_id: str
    start: int
    end: int
    keep_going: bool

    @property
    def name(self) -> str:
        """The range as text. Names sort in the order of the ranges in the file."""
        return f"{self.start:015d}-{self.end:015d}"

    @property
    def part(self) -> Path:
        """The path of the staged parquet file."""
        return self.folder / f"samples-{self.name}.parquet"


@dataclass
class RangeResult:
    """The number of samples in a range, and its bad lines."""

    rows: int
    problems: text.Problems


RunRanges = Callable[[list[RangeTask], np.ndarray], list[RangeResult]]


def run_range(task: RangeTask, declared: np.ndarray) -> RangeResult:
    """Read one range and stage it as a parquet file, unless the same bytes were staged before."""
    seen = stage.fingerprint(task.content, task.end, task.start)
    note = stage.noted(task.folder, task.name)
    if (
        note
        and note.get("fingerprint") == seen
        and note.get("run") == task.run_id
        and note.get("source") == task.source
        and task.part.exists()
    ):
        return RangeResult(note["rows"], text.Problems(task.keep_going))
    problems = text.Problems(task.keep_going)
    try:
        with SampleWriter(task.part, task.run_id, task.source) as writer:
            text.read_range(task.content, task.start, task.end, declared, problems, writer)
    except text.StopAtProblem:
        return RangeResult(0, problems)
    if not problems.count:  # a range with problems is read again next time, to report them again
        stage.note(
            task.folder,
            task.name,
            {"fingerprint": seen, "rows": writer.rows, "run": task.run_id, "source": task.source},
        )
    return RangeResult(writer.rows, problems)


def run_here(tasks: list[RangeTask], declared: np.ndarray) -> list[RangeResult]:
    """Read all ranges in this process, one after the other; stop at the first bad line unless tasks `keep_going`."""
    results: list[RangeResult] = []
    for task in tasks:
        results.append(run_range(task, declared))
        if results[-1].problems.count and not task.keep_going:
            break
    return results


def read_file(
    source: Path, out: Path, before: Mark | None, keep_going: bool = False, run_ranges: RunRanges = run_here
) -> Piece:
    """Read one result file, text or SQLite, without adding it to the tables yet.

    Args:
        source: The file; a text file may be packed by gzip.
        out: The result folder, in which large files are staged.
        before: The state of the file when it was converted last, if it was.
        keep_going: Collect bad lines instead of stopping at the first one.
        run_ranges: Reads the ranges of a large file, here or elsewhere.

    Raises:
        UserError: A line is bad (unless `keep_going`), or the file cannot be read.
    """
    begun = time.monotonic()
    piece = Piece(source, out, FileReport(source))
    try:
        status = os.stat(source)
        piece.report.size_bytes = status.st_size
        piece.mark = Mark(piece.resolved, status.st_size, status.st_mtime_ns)
        if before and _is_unchanged(before, status, keep_going):
            piece.mark, piece.report.status, piece.report.runs = before, "up to date", before.stored_runs
            piece.report.problem_count, piece.report.problems = before.problems, list(before.reported)
        elif stage.is_sqlite(source):
            from causeway.analysis.convert import sqlite

            sqlite.read(piece, before, keep_going)
        else:
            with _content(source, piece.folder) as content:
                _read_text(piece, content, before if content == source else None, keep_going, run_ranges)
    except PermissionError as error:
        raise UserError(f"cannot read {source}: {error.strerror}; check its permissions") from error
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot convert {source}: {reason}; make room or choose another --out") from error
    piece.report.seconds = time.monotonic() - begun
    return piece


def _is_unchanged(before: Mark, status: os.stat_result, keep_going: bool) -> bool:
    same = (before.size, before.mtime_ns) == (status.st_size, status.st_mtime_ns)
    return same and (keep_going or not before.problems)


@contextmanager
def _content(source: Path, folder: Path) -> Iterator[Path]:
    """Yield the path of the plain file: the source itself, or an unpacked copy of it."""
    with open(source, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if not packed:
        yield source
        return
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / f".{os.getpid()}.unpacked"
    try:
        with gzip.open(source, "rb") as inside, open(plain, "wb") as unpacked:
            while block := inside.read(1 << 20):
                unpacked.write(block)
        if stage.is_sqlite(plain):
            raise UserError(f"{source} is a packed SQLite database; unpack it first")
        yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{source} cannot be unpacked ({error}): it is incomplete or damaged; pack it again") from error
    finally:
        plain.unlink(missing_ok=True)


def _grown(piece: Piece, before: Mark | None, keep_going: bool) -> bool:
    """Return whether the file has only grown since it was last read."""
    if before is None or piece.mark.size <= before.size or (before.problems and not keep_going):
        return False
    return stage.fingerprint(piece.source, before.end) == before.fingerprint


def _read_text(piece: Piece, content: Path, before: Mark | None, keep_going: bool, run_ranges: RunRanges) -> None:
    problems, report = text.Problems(keep_going), piece.report
    piece.continued = _grown(piece, before, keep_going)
    report.status = "continued" if piece.continued else "converted"
    start = before.end if piece.continued and before else 0
    try:
        records = text.read_records(content, problems, piece.add_rows, piece.add)
        if not records.headers:
            problems.add(0, "a 'run' record: is this a result file of OMNeT++?")
        if content.stat().st_size <= min(SMALL_BYTES, RANGE_BYTES):
            report.rows = _collect(piece, content, records, start, problems)
        else:
            report.rows = _stage_ranges(piece, content, records, start, problems, run_ranges)
        if problems.count and not keep_going:
            raise text.StopAtProblem
    except text.StopAtProblem:
        first = text.located(content, problems, piece.source)[0]
        raise UserError(f"{first}; correct the line, or convert the rest with --keep-going") from None
    if records.end < content.stat().st_size:
        report.notes.append(stage.unended(piece.source))
    report.notes += [f"{piece.source}: {contradiction}" for contradiction in records.contradictions]
    piece.headers, report.runs = records.headers, list(records.headers)
    report.problem_count = problems.count
    report.problems = text.located(content, problems, piece.source)
    mark = piece.mark
    mark.end, mark.fingerprint = records.end, stage.fingerprint(content, records.end)
    mark.rows = report.rows + (before.rows if piece.continued and before else 0)
    mark.problems, mark.reported, mark.runs = problems.count, report.problems[:50], report.runs


def _collect(piece: Piece, content: Path, records: text.Records, start: int, problems: text.Problems) -> int:
    """Read the samples of a small file into the piece; return their number."""
    rows = 0
    for section, begin, end in _sections(records):
        if end <= start or not records.rows:
            continue
        collected = Collected(section.run_id, records.rows)
        text.read_range(content, max(begin, start), end, _declared(section), problems, collected)
        rows += collected.finish()
        for table in collected.tables:
            piece.add("samples", section.run_id, table)
    return rows


def _sections(records: text.Records) -> Iterator[tuple[Section, int, int]]:
    """Yield (section, begin, end) of each part of the file that belongs to one run."""
    begins = [0] + [section.start for section in records.sections[1:]] + [records.end]
    yield from zip(records.sections, begins, begins[1:], strict=False)


def _declared(section: Section) -> np.ndarray:
    return hash_table((key, *columns) for key, columns in section.vectors.items())


def _stage_ranges(
    piece: Piece, content: Path, records: text.Records, start: int, problems: text.Problems, run_ranges: RunRanges
) -> int:
    """Stage the samples of a large file range by range; return their number."""
    rows = 0
    for section, begin, end in _sections(records):
        tasks, at = [], max(begin, start)
        while at < end and records.rows:
            cut = (at // RANGE_BYTES + 1) * RANGE_BYTES
            behind = end if cut >= end else text.line_start(content, cut, end)
            tasks.append(
                RangeTask(content.resolve(), piece.folder, piece.id, section.run_id, at, behind, problems.keep_going)
            )
            at = behind
        for result in run_ranges(tasks, _declared(section)):
            rows += result.rows
            problems.merge(result.problems)
        if problems.count and not problems.keep_going:
            raise text.StopAtProblem
        piece.staged += [Staged("samples", section.run_id, task.part) for task in tasks]
    return rows
