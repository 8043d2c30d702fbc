"""Read a text result file in two passes: `read_records`, then `read_range` for each range of its vector data.

The first pass is cheap, since it reads only the beginnings of data lines. It finds the declarations of vectors. After
it, ranges can be read in any order and in any process: each needs the path, two offsets and the table of vectors.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from causeway.analysis.convert import scalar_lines
from causeway.analysis.convert.declared import DONE, FULL, NO_EVENT
from causeway.analysis.convert.lexer import BadLine, exact_time, integer, number, text, tokens
from causeway.analysis.convert.records import COLUMNS, Header, RecordReader, Rows, Section
from causeway.analysis.convert.samples import Batch, Collected, SampleWriter

CHUNK_BYTES = 8 << 20
_MOST_PROBLEMS = 1000
_ORDERS = {code: order for order, code in COLUMNS.items()}
_TAB, _LF, _CR, _SPACE, _HASH, _ZERO, _NINE = b"\t\n\r #09"
_COLUMN_NAMES = {"E": "event", "T": "time", "V": "value"}


class StopAtProblem(Exception):
    """Raised at the first bad line if the caller does not `keep_going`."""


@dataclass
class Problems:
    """Bad lines as (offset, expectation). The first thousand are kept, and all are counted."""

    keep_going: bool
    found: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0

    def add(self, offset: int, expected: str) -> None:
        """Add a bad line; raise StopAtProblem unless `keep_going`."""
        self.count += 1
        if len(self.found) < _MOST_PROBLEMS:
            self.found.append((offset, expected))
        if not self.keep_going:
            raise StopAtProblem

    def merge(self, other: "Problems") -> None:
        """Add the bad lines of another range."""
        self.count += other.count
        self.found = sorted(self.found + other.found)[:_MOST_PROBLEMS]


@dataclass
class Records:
    """The result of the first pass."""

    headers: dict[str, Header]
    sections: list[Section]
    rows: int  # vector data lines
    end: int  # the position after the last whole line
    contradictions: list[str]


def chunks(descriptor: int, start: int, end: int, size: int = CHUNK_BYTES) -> Iterator[tuple[int, bytearray, int]]:
    """Yield the whole lines of the bytes [start, end) as (file offset, buffer, length of the whole lines in it).

    A last line without a line end is left out: a simulation may still be writing it. The next chunk overwrites the
    buffer.
    """
    raw = bytearray(min(size, end - start))
    while start < end:
        room = min(len(raw), end - start)
        got = os.preadv(descriptor, [memoryview(raw)[:room]], start)
        lines = raw.rfind(b"\n", 0, got) + 1
        if lines:
            yield start, raw, lines
            start += lines
        elif got < room or start + got == end:
            return
        else:
            raw = bytearray(2 * len(raw))  # the chunk ends within its first line


def read_records(
    path: Path, problems: Problems, put_away: Callable[[str, Rows], None],
    put_table: Callable[[str, str, pa.Table], None],
) -> Records:  # fmt: skip
    """Read every line that is not vector data (the first pass)."""
    reader = RecordReader(put_away)
    rows, end = 0, 0
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for offset, raw, lines in chunks(file.fileno(), 0, size):
            starts, ends, passed = _record_lines(np.frombuffer(raw, np.uint8)[:lines])
            _take(reader, raw, starts, ends, offset, problems, put_table)
            rows += passed
            end = offset + lines
    reader.finish()
    return Records(reader.headers, reader.sections, rows, end, reader.contradictions)


def _record_lines(data: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the starts and the ends of the lines that are not data, and the number of data lines."""
    ends = np.flatnonzero(data == _LF) + 1
    starts = np.concatenate([[0], ends[:-1]])
    first = starts.copy()  # the position of the first byte of each line that is not a blank
    indented = np.arange(len(first))
    while len(indented := indented[_is_blank(data[first[indented]])]):
        first[indented] += 1
    byte = data[first]
    is_data = (byte >= _ZERO) & (byte <= _NINE)
    records = ~is_data & (byte != _LF) & (byte != _CR) & (byte != _HASH)
    return starts[records], ends[records], int(is_data.sum())


def _is_blank(bytes_: np.ndarray) -> np.ndarray:
    return (bytes_ == _SPACE) | (bytes_ == _TAB)


def _take(
    reader: RecordReader, raw: bytearray, starts: np.ndarray, ends: np.ndarray, offset: int, problems: Problems,
    put_table: Callable[[str, str, pa.Table], None],
) -> None:  # fmt: skip
    """Read records: plain scalars many at once, all others one by one."""
    at, data = 0, np.frombuffer(raw, np.uint8)
    while at < len(starts):
        behind = min(len(starts), at + scalar_lines.LEAST_LINES)
        if not raw.startswith(b"scalar", int(starts[at])):  # read lines one by one up to the next scalar
            behind = next((i for i in range(at + 1, behind) if raw.startswith(b"scalar", int(starts[i]))), behind)
        elif reader.may_take_scalars:
            many = scalar_lines.stretch(data, starts[at:], ends[at:], reader.run_id, reader.count("scalar"))
            if many is not None:
                reader.took_scalars(many.rows, *many.last)
                for table, rows in (("scalars", many.scalars), ("attributes", many.attributes)):
                    put_table(table, reader.run_id, rows)
                at += many.lines
                continue
        for start, end in zip(starts[at:behind].tolist(), ends[at:behind].tolist(), strict=True):
            line = text(raw[start : end - 1]).rstrip("\r")
            try:
                reader.read(line, offset + start)
            except BadLine as bad:
                problems.add(offset + start, str(bad))
        at = behind


def read_range(
    path: Path, start: int, end: int, declared: np.ndarray, problems: Problems, writer: SampleWriter | Collected
) -> None:
    """Read the vector data of [start, end) into `writer` (the second pass)."""
    with open(path, "rb") as file:
        for offset, raw, lines in chunks(file.fileno(), start, end):
            _parse_chunk(raw, lines, offset, declared, problems, writer)


def _parse_chunk(
    raw: bytearray, lines: int, offset: int, declared: np.ndarray, problems: Problems, writer: SampleWriter | Collected
) -> None:
    from causeway.analysis.convert import kernel  # loads numba, which a file without vectors does not need

    data, at = np.frombuffer(raw, np.uint8), 0
    unread, characters = np.zeros((2, len(writer.batch.ids) + 1), np.int32), np.empty(lines, np.uint8)
    while True:
        batch = writer.batch
        parse: Any = kernel.parse
        status, at, batch.rows, left = parse(
            data, at, lines, offset, declared, *batch.columns, batch.rows, unread[:, 1:], characters
        )
        if left:
            batch.values[unread[0, 1 : left + 1]] = _doubles(unread[1, : left + 1], characters)
        if status == DONE:
            return
        if status == FULL:
            writer.swap()
            continue
        behind = raw.index(b"\n", at) + 1
        try:
            _odd_line(text(raw[at : behind - 1]), offset + at, declared, batch)
        except BadLine as bad:
            problems.add(offset + at, str(bad))
        at = behind


def _doubles(ends: np.ndarray, characters: np.ndarray) -> np.ndarray:
    """Read numbers that are written one after the other. `ends` contains the end of each."""
    texts = pa.Array.from_buffers(pa.string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(characters)])
    try:
        return texts.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:  # a number too large for a double: strtod returns infinity, and pyarrow raises an error
        return np.array(texts.to_pylist(), dtype=np.float64)


def _odd_line(line: str, offset: int, declared: np.ndarray, batch: Batch) -> None:
    """Read one data line that `kernel.parse` cannot read, or raise BadLine."""
    parts = tokens(line.rstrip("\r"))
    vector_id = integer(parts[0], "a vector id")
    known = declared[:, (declared[0] == vector_id) & (declared[2] <= offset)]
    if vector_id < 0 or not known.shape[1]:
        raise BadLine(f"a 'vector' record that declares vector {vector_id} before its data")
    order = _ORDERS[int(known[1, 0])]
    if len(parts) != 1 + len(order):
        raise BadLine(f"{1 + len(order)} columns ({' '.join(['id', *(_COLUMN_NAMES[c] for c in order)])})")
    column = dict(zip(order, parts[1:], strict=True))
    event = integer(column["E"], "an event number") if "E" in column else int(NO_EVENT)
    row, (raw, exponent), value = batch.rows, exact_time(column["T"]), number(column["V"])
    for room, cell in zip(batch.columns, (vector_id, event, raw, exponent, value), strict=True):
        room[row] = cell
    batch.rows += 1


def line_start(path: Path, offset: int, end: int) -> int:
    """Return the first line start at or after `offset`, at most `end`."""
    if offset <= 0:
        return 0
    with open(path, "rb") as file:
        file.seek(offset - 1)
        rest = file.readline(end - offset + 1)
    return min(end, offset - 1 + len(rest))


def located(path: Path, problems: Problems, name: object = None) -> list[str]:
    """Return the bad lines as "file:line: expected ..."; `name` replaces `path` there."""
    lines, at, line = [], 0, 1
    with open(path, "rb") as file:
        for offset, expected in problems.found:
            while at < offset and (raw := file.read(min(offset - at, CHUNK_BYTES))):
                line += raw.count(b"\n")
                at += len(raw)
            lines.append(f"{name or path}:{line}: expected {expected}")
    return lines
