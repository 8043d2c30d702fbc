"""The two passes over a text result file: its records, then its vector data range by range.

The records pass is cheap (it only looks at where lines begin) and says which vectors are declared where. After it the
data can be read in any order and by anybody: a range needs the path, two offsets and the table of vectors.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from causeway.analysis.convert import native, scalars
from causeway.analysis.convert.lexer import BadLine, exact_time, integer, number, text, tokens
from causeway.analysis.convert.records import COLUMNS, Header, RecordReader, Rows, Section
from causeway.analysis.convert.samples import Batch, Collected, SampleWriter

CHUNK_BYTES = 8 << 20
_MOST_PROBLEMS = 1000
_ORDERS = {code: order for order, code in COLUMNS.items()}
_COLUMN_NAMES = {"E": "event", "T": "time", "V": "value"}


class StopAtProblem(Exception):
    """A bad line, where the caller did not ask to go on."""


@dataclass
class Problems:
    """Bad lines found, as (offset, what was expected): the first thousand are kept, all are counted."""

    keep_going: bool
    found: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0

    def add(self, offset: int, expected: str) -> None:
        self.count += 1
        if len(self.found) < _MOST_PROBLEMS:
            self.found.append((offset, expected))
        if not self.keep_going:
            raise StopAtProblem

    def merge(self, other: "Problems") -> None:
        self.count += other.count
        self.found = sorted(self.found + other.found)[:_MOST_PROBLEMS]


@dataclass
class Records:
    """What the records pass found."""

    headers: dict[str, Header]
    sections: list[Section]
    rows: int  # vector data lines
    end: int  # just behind the last whole line
    contradictions: list[str]


def chunks(descriptor: int, start: int, end: int, size: int = CHUNK_BYTES) -> Iterator[tuple[int, bytearray, int]]:
    """The whole lines of the bytes [start, end): (file offset, bytes, how many of them are whole lines).

    A last line without its line end is not there: a simulation may still be writing it. The bytes have room to spare
    behind the lines, and are used again for the next chunk.
    """
    raw = bytearray(min(size, end - start) + native.SPARE)
    while start < end:
        room = min(len(raw) - native.SPARE, end - start)
        got = os.preadv(descriptor, [memoryview(raw)[:room]], start)
        lines = raw.rfind(b"\n", 0, got) + 1
        if lines:
            yield start, raw, lines
            start += lines
        elif got < room or start + got == end:
            return
        else:
            raw = bytearray(2 * len(raw))  # one line longer than a chunk


def read_records(
    path: Path, problems: Problems, put_away: Callable[[str, Rows], None],
    put_table: Callable[[str, str, pa.Table], None],
) -> Records:  # fmt: skip
    """The first pass: every line that is not vector data."""
    reader = RecordReader(put_away)
    starts, rows, end = np.empty(1 << 16, np.int64), 0, 0
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for offset, raw, lines in chunks(file.fileno(), 0, size):
            data, words, at = np.frombuffer(raw, np.uint8), native.words_of(raw), 0
            while at < lines:
                found, at, passed = native.records(data, words, at, lines, starts)
                rows += passed
                _take(reader, raw, data, words, starts[:found], offset, problems, put_table)
            end = offset + lines
    reader.finish()
    return Records(reader.headers, reader.sections, rows, end, reader.contradictions)


def _take(
    reader: RecordReader, raw: bytearray, data: np.ndarray, words: np.ndarray, starts: np.ndarray, offset: int,
    problems: Problems, put_table: Callable[[str, str, pa.Table], None],
) -> None:  # fmt: skip
    """The records that begin at `starts`: many plain scalars at once, all others one by one."""
    at = 0
    while at < len(starts):
        behind = min(len(starts), at + scalars.LEAST_LINES)
        if not raw.startswith(b"scalar", int(starts[at])):  # as far as the next scalar
            behind = next((i for i in range(at + 1, behind) if raw.startswith(b"scalar", int(starts[i]))), behind)
        elif reader.may_take_scalars:
            position = reader.count("scalar")
            many = scalars.stretch(data, words, starts, at, len(starts), reader.run_id, position)
            if many is not None:
                reader.took_scalars(many.rows, *many.last)
                for table, rows in (("scalars", many.scalars), ("attributes", many.attributes)):
                    put_table(table, reader.run_id, rows)
                at += many.lines
                continue
        for start in starts[at:behind].tolist():
            line = text(raw[start : raw.index(b"\n", start)]).rstrip("\r")
            try:
                reader.read(line, offset + start)
            except BadLine as bad:
                problems.add(offset + start, str(bad))
        at = behind


def read_range(
    path: Path, start: int, end: int, declared: np.ndarray, problems: Problems, writer: SampleWriter | Collected
) -> None:
    """The second pass, over the lines of [start, end), into `writer`."""
    with open(path, "rb") as file:
        for offset, raw, lines in chunks(file.fileno(), start, end):
            _parse_chunk(raw, lines, offset, declared, problems, writer)


def _parse_chunk(
    raw: bytearray, lines: int, offset: int, declared: np.ndarray, problems: Problems, writer: SampleWriter | Collected
) -> None:
    data, words, at = np.frombuffer(raw, np.uint8), native.words_of(raw), 0
    while True:
        batch = writer.batch
        columns = batch.columns
        status, at, batch.rows = native.parse(data, words, at, lines, offset, declared, *columns, batch.rows)
        if status == native.DONE:
            return
        if status == native.FULL:
            writer.swap()
            continue
        behind = raw.index(b"\n", at) + 1
        try:
            _odd_line(text(raw[at : behind - 1]), offset + at, declared, batch)
        except BadLine as bad:
            problems.add(offset + at, str(bad))
        at = behind


def _odd_line(line: str, offset: int, declared: np.ndarray, batch: Batch) -> None:
    """Read one data line the complete way: a number of unusual shape, or an error to be told."""
    parts = tokens(line.rstrip("\r"))
    vector_id = integer(parts[0], "a vector id")
    known = declared[:, (declared[0] == vector_id) & (declared[2] <= offset)]
    if vector_id < 0 or not known.shape[1]:
        raise BadLine(f"a 'vector' record that declares vector {vector_id} before its data")
    order = _ORDERS[int(known[1, 0])]
    if len(parts) != 1 + len(order):
        raise BadLine(f"{1 + len(order)} columns ({' '.join(['id', *(_COLUMN_NAMES[c] for c in order)])})")
    column = dict(zip(order, parts[1:], strict=True))
    event = integer(column["E"], "an event number") if "E" in column else int(native.NO_EVENT)
    row, (raw, exponent), value = batch.rows, exact_time(column["T"]), number(column["V"])
    for room, cell in zip(batch.columns, (vector_id, event, raw, exponent, value), strict=True):
        room[row] = cell
    batch.rows += 1


def line_start(path: Path, offset: int, end: int) -> int:
    """The first line start at or after `offset`, at most `end`."""
    if offset <= 0:
        return 0
    with open(path, "rb") as file:
        file.seek(offset - 1)
        rest = file.readline(end - offset + 1)
    return min(end, offset - 1 + len(rest))


def located(path: Path, problems: Problems, name: object = None) -> list[str]:
    """The problems kept, as "file:line: expected ..."; `name` is what to call the file."""
    lines, at, line = [], 0, 1
    with open(path, "rb") as file:
        for offset, expected in problems.found:
            while at < offset and (raw := file.read(min(offset - at, CHUNK_BYTES))):
                line += raw.count(b"\n")
                at += len(raw)
            lines.append(f"{name or path}:{line}: expected {expected}")
    return lines
