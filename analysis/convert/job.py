"""Read one file whole: both passes. The ranges of a huge file are tasks that can run anywhere."""

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
from causeway.analysis.convert.declared import hash_table
from causeway.analysis.convert.piece import Mark, Piece, Staged
from causeway.analysis.convert.records import Section
from causeway.analysis.convert.report import FileReport
from causeway.analysis.convert.samples import Collected, SampleWriter
from causeway.bridge.errors import UserError

RANGE_BYTES = 128 << 20
SMALL_BYTES = 8 << 20
"""A file of at most this size, and of one range, is held in memory until it lands."""


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
        return f"{self.start:015d}-{self.end:015d}"

    @property
    def part(self) -> Path:
        return self.folder / f"samples-{self.name}.parquet"


@dataclass
class RangeResult:
    rows: int
    problems: text.Problems


RunRanges = Callable[[list[RangeTask], np.ndarray], list[RangeResult]]


def run_range(task: RangeTask, declared: np.ndarray) -> RangeResult:
    """Stage one range, unless that was done before on the same bytes."""
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
    if not problems.count:  # a range with problems is read again, to tell of them again
        stage.note(
            task.folder,
            task.name,
            {"fingerprint": seen, "rows": writer.rows, "run": task.run_id, "source": task.source},
        )
    return RangeResult(writer.rows, problems)


def run_here(tasks: list[RangeTask], declared: np.ndarray) -> list[RangeResult]:
    """All ranges in this process, one after the other; the first problem ends it unless the caller goes on."""
    results: list[RangeResult] = []
    for task in tasks:
        results.append(run_range(task, declared))
        if results[-1].problems.count and not task.keep_going:
            break
    return results


def read_file(
    source: Path, out: Path, before: Mark | None, keep_going: bool = False, run_ranges: RunRanges = run_here
) -> Piece:
    """Read one result file of any kind. Nothing of it is in the result folder yet; `before` says what was read then."""
    begun = time.monotonic()
    piece = Piece(source, out, FileReport(source))
    try:
        status = os.stat(source)
        piece.report.size_bytes = status.st_size
        piece.mark = Mark(piece.resolved, status.st_size, status.st_mtime_ns)
        if before and _is_unchanged(before, status, keep_going):
            piece.mark, piece.report.status, piece.report.runs = before, "up to date", before.runs
            piece.report.problem_count, piece.report.problems = before.problems, list(before.told)
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
    """The plain file to read: the source, or what is packed in it."""
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
            raise UserError(f"{source} is a packed database; unpack it first")
        yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{source} cannot be unpacked ({error}): it was cut short or damaged; pack it again") from error
    finally:
        plain.unlink(missing_ok=True)


def _grown(piece: Piece, before: Mark | None, keep_going: bool) -> bool:
    """Whether the file only grew behind what was read before."""
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
        raise UserError(f"{first}; mend it, or convert the rest with --keep-going") from None
    if records.end < content.stat().st_size:
        report.notes.append(stage.unended(piece.source))
    report.notes += [f"{piece.source}: {told}" for told in records.contradictions]
    piece.headers, report.runs = records.headers, list(records.headers)
    report.problem_count = problems.count
    report.problems = text.located(content, problems, piece.source)
    mark = piece.mark
    mark.end, mark.fingerprint = records.end, stage.fingerprint(content, records.end)
    mark.rows = report.rows + (before.rows if piece.continued and before else 0)
    mark.problems, mark.told, mark.runs = problems.count, report.problems[:50], report.runs


def _collect(piece: Piece, content: Path, records: text.Records, start: int, problems: text.Problems) -> int:
    """The samples of a small file, in memory."""
    rows = 0
    for section, begin, end in _sections(records):
        if end <= start or not records.rows:
            continue
        collected = Collected(section.run_id, end - max(begin, start))
        text.read_range(content, max(begin, start), end, _declared(section), problems, collected)
        rows += collected.finish()
        for table in collected.tables:
            piece.add("samples", section.run_id, table)
    return rows


def _sections(records: text.Records) -> Iterator[tuple[Section, int, int]]:
    """The stretches of the file that belong to one run each: (section, begin, end)."""
    begins = [0] + [section.start for section in records.sections[1:]] + [records.end]
    yield from zip(records.sections, begins, begins[1:], strict=False)


def _declared(section: Section) -> np.ndarray:
    return hash_table((key, *columns) for key, columns in section.vectors.items())


def _stage_ranges(
    piece: Piece, content: Path, records: text.Records, start: int, problems: text.Problems, run_ranges: RunRanges
) -> int:
    """The samples of a large file, range by range: how many."""
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
