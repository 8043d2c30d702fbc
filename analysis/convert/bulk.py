"""Many small files at once: a stretch of them becomes one buffer, which compiled code reads in one pass.

Every text that stands in the files is kept once and columns hold its number, so what Python touches are the files and
the different texts, not the lines. A file in which anything is unusual is left to `job.read_file`.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from causeway.analysis import schema, store
from causeway.analysis.arrays import of_numbers, of_texts
from causeway.analysis.batches import SOURCE
from causeway.analysis.convert import lexer, native, stage
from causeway.analysis.convert.piece import Mark, Piece
from causeway.analysis.convert.records import Header
from causeway.analysis.convert.report import FileReport

FILE_BYTES = 1 << 20
"""A larger file is read alone."""
_BUFFER_BYTES = 16 << 20
_MOST_FILES = 4096
_ROWS, _SAMPLES, _SLOTS, _VECTORS = 1 << 19, 1 << 19, 1 << 20, 1 << 13
_FEW_SLOTS = 1 << 16
"""For different texts, at first: a table that fits into the processor's cache is several times as fast."""
_BYTES_A_SLOT = 4
"""A file that has more different texts than that leaves room for is left to the complete reader."""
_PACKED = b"\x1f\x8b"
_OWNERS = ("scalar", "par", "statistic", "vector")
_COLUMNS = {  # table -> (what a row is, our column -> which of the four codes)
    "scalars": (native.SCALAR, {"module": 0, "name": 1}),
    "pars": (native.PAR, {"module": 0, "name": 1, "value": 3}),
    "statistics": (native.FIELD, {"module": 0, "name": 1, "field": 2}),
    "bins": (native.BIN, {"module": 0, "name": 1}),
    "vectors": (native.VECTOR, {"module": 0, "name": 1, "unit": 2}),
    "parameters": (native.ITERVAR, {"name": 2, "value": 3}),
    "config": (native.CONFIG, {"name": 2, "value": 3}),
}
HEADER = ("parameters", "config")


@dataclass
class Bundle:
    """What a stretch of files gave, as columns."""

    texts: list[str]
    kinds: np.ndarray
    codes: np.ndarray
    numbers: np.ndarray
    positions: np.ndarray
    ends: np.ndarray
    """Rows behind each file."""
    samples: tuple[np.ndarray, ...]
    sample_ends: np.ndarray
    sources: list[str] = field(default_factory=list)
    """File by file, the id of its source."""
    _owners: dict[str, np.ndarray] = field(default_factory=dict)

    # --- the headers, file by file ---

    def header(self, file: int, run_id: str) -> Header:
        """A file's header, as lists."""
        found = Header(run_id)
        into = (found.attributes, found.itervars, found.config)
        for kind, name, value in zip(
            *(column[slice(*self._header_span(file))] for column in self._header_lists), strict=True
        ):
            into[kind].append([name, value])
        return found

    def said(self, file: int) -> tuple[dict[str, str], list[list[str]]]:
        """The attributes by name, and the iteration variables: a header in short."""
        begin, end = self._header_span(file)
        kinds, names, values = self._header_lists
        attributes, itervars = {}, []
        for kind, name, value in zip(kinds[begin:end], names[begin:end], values[begin:end], strict=True):
            if kind == native.RUN_ATTR:
                attributes[name] = value
            elif kind == native.ITERVAR:
                itervars.append([name, value])
        return attributes, itervars

    def header_bytes(self, file: int) -> bytes:
        """What its header says, to be compared with another file's of this bundle."""
        return self._header_rows[:, slice(*self._header_span(file))].tobytes()

    def _header_span(self, file: int) -> tuple[int, int]:
        return self._header_ends[file], self._header_ends[file + 1]

    @cached_property
    def _header_ends(self) -> list[int]:
        """Before each file, how many rows of headers there are."""
        before = np.concatenate([[0], np.cumsum(self.kinds <= native.CONFIG)])
        return before[np.concatenate([[0], self.ends])].tolist()

    @cached_property
    def _header_lists(self) -> tuple[list[int], list[str], list[str]]:
        kinds, names, values = self._header_rows.tolist()
        texts = self.texts
        return kinds, [texts[code] for code in names], [texts[code] for code in values]

    @cached_property
    def _header_rows(self) -> np.ndarray:
        of_header = self.kinds <= native.CONFIG
        return np.stack([self.kinds[of_header].astype(np.int32), *self.codes[2:, of_header]])

    # --- the tables ---

    def tables(self, run_of: Sequence[str | None], headers_of: np.ndarray) -> Iterator[tuple[str, pa.Table, list[str]]]:
        """(table, rows, sources) of the files that have a run here; header tables of `headers_of` (no sources)."""
        kept = np.array([run is not None for run in run_of])
        names = [run or "" for run in run_of]
        file_of = np.repeat(np.arange(len(self.ends), dtype=np.int32), np.diff(self.ends, prepend=0))
        rows, heads = kept[file_of], (kept & headers_of)[file_of]
        for table, (kind, codes) in _COLUMNS.items():
            header = table in HEADER
            at = np.flatnonzero((self.kinds == kind) & (heads if header else rows))
            if len(at):
                columns = {name: self._texts_at(self.codes[which, at]) for name, which in codes.items()}
                yield self._table(table, columns | self._numbers_of(table, at, file_of), file_of[at], names, header)
        yield from self._attributes(rows, heads, file_of, names)
        yield from self._samples_of(kept, names)

    def _table(
        self, table: str, columns: dict[str, pa.Array], files: np.ndarray, names: Sequence[str], header: bool
    ) -> tuple[str, pa.Table, list[str]]:
        columns = {"run_id": _dictionary(files, names), **columns}
        fields = [pa.field(f.name, columns[f.name].type, f.nullable) for f in schema.TABLES[table]]
        made = pa.Table.from_arrays([columns[f.name] for f in fields], schema=pa.schema(fields))
        if header:
            return table, made, []
        held = sorted({self.sources[file] for file in np.unique(files).tolist()})
        return table, made.append_column(SOURCE, _dictionary(files, self.sources)), held

    def _numbers_of(self, table: str, at: np.ndarray, file_of: np.ndarray) -> dict[str, pa.Array]:
        """The columns that are no texts of the file."""
        position, value = of_numbers(self.positions[at]), of_numbers(self.numbers[0, at])
        if table == "scalars" or table == "statistics":
            return {"value": value, "position": position}
        if table == "pars":
            return {"position": position}
        if table == "bins":
            more = {"position": of_numbers(self.codes[2, at].astype(np.int64)), "item_position": position}
            return {**more, "edge": value, "value": of_numbers(self.numbers[1, at])}
        if table == "vectors":
            return {"vector_id": position, "columns": _dictionary(self.codes[3, at] - 2, ("TV", "ETV"))}
        if table == "config":
            files = file_of[at]
            first = np.searchsorted(files, files)  # rows of a file lie together
            return {"position": of_numbers(np.arange(len(at)) - first)}
        return {"number": self._quantities(self.codes[3, at])}

    def _quantities(self, codes: np.ndarray) -> pa.Array:
        """The numbers of iteration variables."""
        from causeway.analysis.convert.runs import number_of

        known = {code: number_of(self.texts[code]) for code in np.unique(codes).tolist()}
        values = [known[code] for code in codes.tolist()]
        missing = np.array([value is None for value in values])
        return of_numbers(np.array([0.0 if value is None else value for value in values]), missing)

    def _attributes(
        self, rows: np.ndarray, heads: np.ndarray, file_of: np.ndarray, names: Sequence[str]
    ) -> Iterator[tuple[str, pa.Table, list[str]]]:
        at = np.flatnonzero((self.kinds == native.RUN_ATTR) & heads)
        if len(at):
            none = np.zeros(len(at), np.int32)
            columns = self._named(at) | {
                "position": of_numbers(none.astype(np.int64)),
                "owner": _dictionary(none, ["run"]),
            }
            columns |= {"module": _dictionary(none, [""]), "item": _dictionary(none, [""])}
            yield self._table("attributes", columns, file_of[at], names, True)
        at = np.flatnonzero((self.kinds >= native.OF_ITEM) & rows)
        if len(at):
            owner = _dictionary(self.kinds[at].astype(np.int32) - native.OF_ITEM, _OWNERS)
            columns = self._named(at) | {"owner": owner, "position": of_numbers(self.positions[at])}
            columns |= {name: self._texts_at(self.codes[which, at]) for which, name in enumerate(("module", "item"))}
            yield self._table("attributes", columns, file_of[at], names, False)

    def _named(self, at: np.ndarray) -> dict[str, pa.Array]:
        return {"name": self._texts_at(self.codes[2, at]), "value": self._texts_at(self.codes[3, at])}

    def _samples_of(self, kept: np.ndarray, names: Sequence[str]) -> Iterator[tuple[str, pa.Table, list[str]]]:
        files = np.repeat(np.arange(len(kept), dtype=np.int32), np.diff(self.sample_ends, prepend=0))
        at = np.flatnonzero(kept[files])
        if not len(at):
            return
        ids, events, raws, exponents, values = (column[at] for column in self.samples)
        columns = {
            "vector_id": of_numbers(ids), "event": of_numbers(events, events == native.NO_EVENT),
            "time_raw": of_numbers(raws), "time_exp": of_numbers(exponents), "value": of_numbers(values),
        }  # fmt: skip
        yield self._table("samples", columns, files[at], names, False)

    def _texts_at(self, codes: np.ndarray) -> pa.Array:
        return _dictionary(codes, self.texts)


def same_header(first: Piece, second: Piece) -> bool:
    """Whether two pieces of one bundle say the same of their run."""
    bundle = first.bundle
    return (
        bundle is not None
        and bundle is second.bundle
        and (bundle.header_bytes(first.place) == bundle.header_bytes(second.place))
    )


def bundled(
    pieces: Sequence[Piece], alone: Mapping[str, Piece], study_of: Mapping[str, str]
) -> Iterator[tuple[str, str, pa.Table, list[str]]]:
    """(study, table, rows, sources) of the pieces that are in bundles; header tables where a piece says it alone."""
    parts: dict[int, tuple[Bundle, list[Piece]]] = {}
    for piece in pieces:
        if piece.bundle is not None:
            parts.setdefault(id(piece.bundle), (piece.bundle, []))[1].append(piece)
    found: dict[tuple[str, str, bool], list[tuple[pa.Table, list[str]]]] = {}
    for bundle, some in parts.values():
        by_study: dict[str, list[Piece]] = {}
        for piece in some:
            by_study.setdefault(study_of.get(piece.runs[0], ""), []).append(piece)
        for study, its in by_study.items():
            run_of: list[str | None] = [None] * len(bundle.sources)
            heads = np.zeros(len(bundle.sources), bool)
            for piece in its:
                run_of[piece.place] = run = piece.runs[0]
                heads[piece.place] = alone.get(run) is piece
            for table, rows, held in bundle.tables(run_of, heads):
                found.setdefault((study, table, bool(held)), []).append((rows, held))
    for (study, table, _), tables in found.items():
        yield (
            study,
            table,
            pa.concat_tables([rows for rows, _ in tables]),
            sorted({s for _, held in tables for s in held}),
        )


def _dictionary(codes: np.ndarray, texts: Sequence[str]) -> pa.Array:
    """A column of texts by number; only those that stand in it are in its dictionary."""
    used = np.zeros(len(texts), bool)
    used[codes] = True
    new = (np.cumsum(used) - 1).astype(np.int32)
    some = of_texts([texts[code] for code in np.flatnonzero(used).tolist()])
    return pa.DictionaryArray.from_arrays(of_numbers(new[codes]), some)


class _Room:
    """The arrays that the compiled reader fills, used again and again."""

    def __init__(self) -> None:
        self.slots = np.empty(0, np.int32)
        self.known, self.hashes = np.zeros((3, _SLOTS), np.int64), np.empty(_SLOTS, np.uint64)
        self.vectors = (np.full((3, _VECTORS), -1, np.int64), np.empty(_VECTORS, np.int64))
        self.scratch = (np.empty((3, 5), np.int64), np.empty(17, np.int64))
        self.kinds, self.codes = np.empty(_ROWS, np.int8), np.empty((4, _ROWS), np.int32)
        self.numbers, self.positions = np.empty((2, _ROWS)), np.empty(_ROWS, np.int64)
        self.samples: tuple[np.ndarray, ...] = (
            *(np.empty(_SAMPLES, np.int64) for _ in range(3)), np.empty(_SAMPLES, np.int8), np.empty(_SAMPLES),
        )  # fmt: skip

    def clear(self, slots: int) -> None:
        """Forgets all texts; there is room for half as many as `slots` afterwards, or for as many as before."""
        if slots > len(self.slots):
            self.slots = np.empty(min(_SLOTS, max(_FEW_SLOTS, 1 << (slots - 1).bit_length())), np.int32)
        self.slots.fill(-1)


@dataclass
class _Loaded:
    """A file in the buffer."""

    path: Path
    resolved: str
    status: os.stat_result
    begin: int
    end: int
    """Behind its last whole line."""


class BulkReader:
    """Reads files in stretches; `out` is the result folder that they go to."""

    def __init__(self, out: Path, most_bytes: int = FILE_BYTES) -> None:
        self._out, self._room, self._most_bytes = out, _Room(), min(most_bytes, FILE_BYTES)
        self._slots = 0
        self._raw = mmap.mmap(-1, _BUFFER_BYTES + native.SPARE)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self._raw.madvise(mmap.MADV_HUGEPAGE)
        self._view = memoryview(self._raw)

    def read(self, files: Sequence[tuple[Path, str]]) -> Iterator[Piece | Path]:
        """A piece for each (path, resolved path) that is plain, the path itself for any other, in their order."""
        waiting: list[_Loaded | Path] = []
        at = 0
        for path, resolved in files:
            loaded = self._load(path, resolved, at)
            if loaded is None:  # no room left
                yield from self._read(waiting)
                waiting, at = [], 0
                loaded = self._load(path, resolved, at)
            waiting.append(path if loaded is None else loaded)
            if isinstance(loaded, _Loaded):
                at = loaded.end
            if len(waiting) >= _MOST_FILES:
                yield from self._read(waiting)
                waiting, at = [], 0
        yield from self._read(waiting)

    def _load(self, path: Path, resolved: str, at: int) -> _Loaded | Path | None:
        """The file put into the buffer; its path if it is for another reader, None if there is no room."""
        try:
            descriptor = os.open(resolved, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return path  # which tells why
        try:
            status = os.fstat(descriptor)
            if status.st_size > self._most_bytes:
                return path
            if at + status.st_size > _BUFFER_BYTES:
                return None
            got = os.readv(descriptor, [self._view[at : at + status.st_size]])
        except OSError:
            return path
        finally:
            os.close(descriptor)
        end = self._raw.rfind(b"\n", at, at + got) + 1
        head = self._raw[at : at + len(stage.SQLITE)]
        if got < status.st_size or not end or head.startswith((stage.SQLITE, _PACKED)):
            return path
        return _Loaded(path, resolved, status, at, end)

    def _read(self, waiting: list[_Loaded | Path]) -> Iterator[Piece | Path]:
        files = [one for one in waiting if isinstance(one, _Loaded)]
        pieces: dict[int, Piece] = {}
        if files:
            begins, ends = np.array([one.begin for one in files]), np.array([one.end for one in files])
            first = 0
            while first < len(files):
                first = self._bundle(files, begins, ends, first, pieces)
        number = 0
        for one in waiting:
            if isinstance(one, Path):
                yield one
            else:
                yield pieces.get(number, one.path)
                number += 1

    def _bundle(
        self, files: list[_Loaded], begins: np.ndarray, ends: np.ndarray, first: int, pieces: dict[int, Piece]
    ) -> int:
        """Reads files from `first` on, as far as the room goes: the file reached."""
        room, told = self._room, np.zeros((4, len(files)), np.int64)
        room.clear(max(self._slots, max((one.end - one.begin for one in files[first:]), default=0) // _BYTES_A_SLOT))
        buffer = (np.frombuffer(self._raw, np.uint8), native.words_of(self._raw))
        behind, rows, samples, texts = native.read_files(
            buffer, (begins, ends, first), (room.slots, room.known, room.hashes), room.vectors, room.scratch,
            (room.kinds, room.codes, room.numbers, room.positions), room.samples, told,
        )  # fmt: skip
        self._slots = min(_SLOTS, 8 * texts) if behind < len(files) else 0
        sound: np.ndarray = np.flatnonzero(told[0, first:behind]) + first
        bundle = Bundle(
            self._texts(texts), room.kinds[:rows].copy(), room.codes[:, :rows].copy(), room.numbers[:, :rows].copy(),
            room.positions[:rows].copy(), told[2, sound], tuple(column[:samples].copy() for column in room.samples),
            told[3, sound],
        )  # fmt: skip
        before = 0
        for place, number in enumerate(sound.tolist()):
            run_id, one = bundle.texts[int(told[1, number])], files[number]
            piece = self._piece(one, bundle, place, run_id, int(told[3, number]) - before)
            before = int(told[3, number])
            bundle.sources.append(piece.id)
            if not store.is_path(run_id):  # else the other reader says what is wrong
                pieces[number] = piece
        return behind

    def _texts(self, count: int) -> list[str]:
        raw, found = self._raw, [""]
        places, lengths, escapes = self._room.known[:, 1:count].tolist()
        for place, length, escaped in zip(places, lengths, escapes, strict=True):
            one = lexer.text(raw[place : place + length])
            found.append(lexer.unescape(one) if escaped else one)
        return found

    def _piece(self, one: _Loaded, bundle: Bundle, place: int, run_id: str, samples: int) -> Piece:
        size = one.status.st_size
        report = FileReport(one.path, runs=[run_id], rows=samples, size_bytes=size)
        if one.end - one.begin < size:
            report.notes.append(stage.unended(one.path))
        mark = Mark(one.resolved, size, one.status.st_mtime_ns, one.end - one.begin, self._fingerprint(one), samples)
        mark.runs = [run_id]
        piece = Piece(one.path, self._out, report, mark, bundle=bundle, place=place)
        piece.resolved = one.resolved
        piece.held_bytes = size
        return piece

    def _fingerprint(self, one: _Loaded) -> str:
        """`stage.fingerprint` of what is in memory already."""
        end, most = one.end - one.begin, stage.SAMPLE_BYTES
        digest = hashlib.sha256(str(end).encode())
        digest.update(self._view[one.begin : one.begin + min(end, most)])
        digest.update(self._view[one.begin + max(0, end - most) : one.end])
        return digest.hexdigest()
