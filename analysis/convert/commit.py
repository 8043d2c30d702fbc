"""Commit the content of many result files at once: a reader sees all of it or none of it. Start here: `Committer`.

If a run has several files, such as a .sca and a .vec, their headers are merged. A file in another folder that contains
a run of the same name is a clash, which is refused unless the caller chooses otherwise. One commit removes the rows of
a file's earlier conversion and adds its present rows. If two commands convert one file at the same time, the second one
finds it committed and skips it.
"""

from __future__ import annotations

import filecmp
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import delta, physical, schema, store
from causeway.analysis.arrow_arrays import of_numbers, of_texts
from causeway.analysis.compact import logical
from causeway.analysis.convert import stage
from causeway.analysis.convert.piece import Mark, Piece, source_rows, stem_of
from causeway.analysis.convert.records import Header
from causeway.analysis.convert.runs import header_tables, run_row
from causeway.analysis.files import replacing
from causeway.analysis.physical import SOURCE, SOURCES, File
from causeway.errors import UserError

BATCH_BYTES = 48 << 20
"""The approximate size of the rows that wait for one commit. In memory they take five times as much."""
BATCH_FILES = 4000
CLASH = ("refuse", "apart", "merge")
HEADER = ("parameters", "config")


@dataclass
class _Claim:
    """A source that contains a run."""

    source: str
    mark: Mark
    committed: bool
    """True if the source is committed, False while it waits for its commit."""


@dataclass
class Committer:
    """Collects pieces, and commits them in batches."""

    out: Path
    clash: str = "refuse"
    changed: set[str] = field(default_factory=set)
    """Sources that have changed since they were committed and that this command reads."""

    def __post_init__(self) -> None:
        self._state = store.to_write(self.out)
        self._pieces: list[Piece] = []
        self._bytes = 0
        self._short: dict[str, tuple[dict[str, str], list[list[str]]]] = {}
        self._load()
        if (self.out / ".convert").is_dir() and any((self.out / ".convert").glob("*.json")):
            raise UserError(f"{self.out} was converted by an older version and can only be read; choose another --out")

    def _load(self) -> None:
        self._claims: dict[str, dict[str, _Claim]] = {}
        self._marks: dict[str, tuple[Mark, bool]] = {}
        self._before: dict[str, Mark] = {}
        if files := self._state.files.get(SOURCES):
            rows = physical.read(self._state.folder, files, [SOURCE, "text"])
            for source, text in zip(rows[SOURCE].to_pylist(), rows["text"].to_pylist(), strict=True):
                if (mark := Mark.of(json.loads(text))) is not None:
                    self._claim(source, mark, True)
                    self._before[source] = mark

    def _claim(self, source: str, mark: Mark, committed: bool) -> None:
        self._marks[source] = (mark, committed)
        for run in mark.runs:
            name = mark.names.get(run, run)
            self._claims.setdefault(name, {})[source] = _Claim(source, mark, committed)

    def _unclaim(self, source: str) -> None:
        mark, _ = self._marks.pop(source, (None, False))
        for run in mark.runs if mark else []:
            self._claims.get(mark.names.get(run, run) if mark else run, {}).pop(source, None)

    @property
    def knows_any(self) -> bool:
        """Return whether any source was converted into this folder before."""
        return bool(self._marks)

    def mark(self, resolved: Path | str) -> Mark | None:
        """Return the mark of a source from its last conversion, or None."""
        return self._marks.get(stage.source_id(resolved), (None, False))[0] if self._marks else None

    def add(self, piece: Piece) -> None:
        """Add a piece, to be committed now or with later ones. Raise UserError for a clash that is refused."""
        if piece.report.status == "up to date":
            return
        if not self._settle(piece):
            stage.clear(piece.folder)
            return
        before = self._marks.get(piece.id)
        self._unclaim(piece.id)
        self._claim(piece.id, piece.mark, before is not None and before[1])
        self._pieces.append(piece)
        self._bytes += piece.held_bytes
        self.changed.discard(piece.id)
        if self._bytes > BATCH_BYTES or len(self._pieces) >= BATCH_FILES or piece.staged:
            self.flush()

    def _settle(self, piece: Piece) -> bool:
        """Resolve clashes with runs of other folders; return False if the piece is a copy of another file."""
        for run in piece.runs:
            others = [
                claim for source, claim in self._claims.get(run, {}).items()
                if source != piece.id and source not in self.changed and stem_of(claim.mark.path) != piece.stem
            ]  # fmt: skip
            if not others:
                continue
            if reference := next((claim for claim in others if _same_content(piece, claim.mark)), None):
                piece.report.status, piece.report.rows = "copy", 0
                piece.report.notes.append(f"{piece.source}: skipped, since it is the same as {reference.mark.path}")
                return False
            conflict = f"{piece.source} and {others[0].mark.path} both hold the run {run!r}, and differ"
            if self.clash == "refuse":
                raise UserError(f"{conflict}; use --clash apart to keep two runs, or --clash merge to make them one")
            if self.clash == "apart":
                piece.mark.names[run] = f"{run}@{piece.id[:8]}"
            piece.report.notes.append(f"{conflict}: " + ("kept apart" if self.clash == "apart" else "made one run"))
        _rename(piece)
        piece.report.runs = piece.mark.stored_runs
        return True

    # --- committing ---

    def flush(self) -> None:
        """Commit all pieces that wait."""
        pieces, self._pieces, self._bytes = self._pieces, [], 0
        staged = pieces
        while pieces:
            try:
                self._commit(pieces)
                break
            except delta.Overtaken as overtaken:
                self._state = overtaken.state
                pieces = self._not_yet_committed(pieces)
        for piece in staged:
            stage.clear(piece.folder)

    def _not_yet_committed(self, pieces: list[Piece]) -> list[Piece]:
        """Return the pieces that no other command has committed meanwhile."""
        self._load()
        left = [piece for piece in pieces if self._before.get(piece.id) != piece.mark]
        for piece in left:
            if not piece.mark.names:
                self._settle(piece)
            committed = piece.id in self._before
            self._unclaim(piece.id)
            self._claim(piece.id, piece.mark, committed)
        for piece in pieces:
            if piece not in left:
                piece.report.notes.append(f"{piece.source}: another command has converted it meanwhile")
        return left

    def _commit(self, pieces: list[Piece]) -> None:
        state = self._state
        headers = self._headers(pieces)
        here = set(headers)
        sources = self._sources(pieces)
        with store.files_for(state) as writer:
            removed = _Replaced(self._before, self._claims, here, pieces).take(state, writer)
            parts: dict[str, list[pa.Table]] = {}
            for table, rows in self._rows(pieces, headers):
                parts.setdefault(table, []).append(rows)
            parts["runs"] = [_runs_table([run_row(r, *self._short[r], sources.get(r, "")) for r in headers])]
            parts[SOURCES] = [source_rows({piece.id: piece.mark.plain() for piece in pieces})]
            for table, some in parts.items():
                writer.write(table, _joined(some))
            for piece in pieces:
                for staged in piece.staged:
                    writer.take(staged.table, staged.run_id, staged.path)
            known = store.run_ids(state) | here
            same = state.files.get(SOURCES)
            self._state = delta.commit(
                state, writer, removed,
                still=lambda now: now.files.get(SOURCES) == same and not (store.run_ids(now) - known) & here,
            )  # fmt: skip
        for run in here:
            self._short.pop(run, None)
        for piece in pieces:
            self._before[piece.id] = piece.mark
            self._claim(piece.id, piece.mark, True)

    def _headers(self, pieces: list[Piece]) -> dict[str, Header]:
        """Return the header of each run, merged from all its files."""
        ids = {piece.id for piece in pieces}
        merged = self._committed_headers({
            run for piece in pieces for run in piece.runs
            if any(claim.committed for source, claim in self._claims.get(run, {}).items() if source not in ids)
        })  # fmt: skip
        for piece in pieces:
            for run, header in piece.headers.items():
                taken = Header(run, list(header.attributes), list(header.iteration_variables()), list(header.config))
                contradictions = merged.setdefault(run, Header(run)).take(taken)
                piece.report.notes += [f"{piece.source}: {line}; the first is kept" for line in contradictions]
        self._short |= {run: (header.attribute_values, header.iteration_variables()) for run, header in merged.items()}
        return merged

    def _committed_headers(self, runs: set[str]) -> dict[str, Header]:
        """Return the headers of committed runs, read from the tables."""
        import pyarrow.compute as pc

        found = {run: Header(run) for run in runs}
        for table in (*HEADER, "attributes"):
            some = [file for file in self._state.files.get(table, []) if any(map(file.holds, runs))]
            if not some:
                continue
            value = physical.renamed(table, ["value"])[0]
            where = pc.field("run_id").isin(sorted(runs)) & pc.field(SOURCE).is_null()
            rows = physical.read(self._state.folder, some, ["run_id", "name", value], where)
            for run, name, text in zip(*(rows[c].to_pylist() for c in ("run_id", "name", value)), strict=True):
                header = found[run]
                into = {"parameters": header.itervars, "config": header.config}.get(table, header.attributes)
                into.append([name, text])
        return found

    def _sources(self, pieces: list[Piece]) -> dict[str, str]:
        stems = {run: piece.stem for piece in reversed(pieces) for run in piece.runs}
        for run in stems:
            committed = [c.mark.path for c in self._claims.get(run, {}).values() if c.committed]
            if committed:
                stems[run] = stem_of(committed[0])
        return stems

    def _rows(self, pieces: list[Piece], headers: dict[str, Header]) -> Iterator[tuple[str, pa.Table]]:
        """Yield (table, rows) of all rows in memory, header tables included."""
        yield from _header_tables(headers.values()).items()
        groups = _loose_rows(pieces)
        for piece in pieces:
            for table, parts in piece.tables.items():
                groups.setdefault(table, []).extend((piece.id, rows) for _, rows in parts)
        for table, found in groups.items():
            yield table, _with_sources(found)


class _Replaced:
    """The rows that a commit of pieces replaces: former rows of their sources, and the headers of their runs."""

    def __init__(
        self, before: dict[str, Mark], claims: dict[str, dict[str, _Claim]], here: set[str], pieces: list[Piece]
    ) -> None:
        self._gone = {piece.id: piece.continued for piece in pieces if piece.id in before}
        self._headers = here | {run for run, some in claims.items() if not some}
        self._runs = set(self._headers)
        for source in self._gone:
            self._runs.update(before[source].names.get(run, run) for run in before[source].runs)

    def take(self, state: delta.FolderVersion, writer: physical.Writer) -> list[File]:
        """Rewrite the files with such rows, without these rows. Return the old files, which are to be removed."""
        runs = sorted(self._runs & store.run_ids(state))
        removed = []
        for file in state.all_files():
            if not self._concerns(file, runs):
                continue
            rows = physical.read(state.folder, [file])
            stays = self._kept_rows(file.table, rows)
            if not stays.all():
                removed.append(file)
                writer.write(file.table, logical(file.table, rows.filter(pa.array(stays))))
        return removed

    def _concerns(self, file: File, runs: list[str]) -> bool:
        if file.table == SOURCES:
            return bool(self._gone)
        if file.table not in (*HEADER, "runs", "attributes"):
            replaced = not all(self._gone.values()) if file.table == "samples" else bool(self._gone)
            if not replaced:
                return False
        at = bisect_left(runs, file.low)
        return at < len(runs) and runs[at] <= file.high

    def _kept_rows(self, table: str, rows: pa.Table) -> np.ndarray:
        import pyarrow.compute as pc

        out = [source for source, continued in self._gone.items() if not (continued and table == "samples")]
        goes = pc.is_in(rows[SOURCE], of_texts(sorted(out)))
        if table != SOURCES:
            of_header = pc.and_(pc.is_null(rows[SOURCE]), pc.is_in(rows["run_id"], of_texts(sorted(self._headers))))
            goes = pc.or_(goes, of_header)
        return ~goes.to_numpy()


def _joined(parts: list[pa.Table]) -> pa.Table:
    """Concatenate parts. A column may be a dictionary in some of them and missing in others."""
    if all(part.schema.equals(parts[0].schema) for part in parts):
        return pa.concat_tables(parts)
    return pa.concat_tables([part.cast(_plain(part.schema)) for part in parts], promote_options="default")


def _plain(form: pa.Schema) -> pa.Schema:
    return pa.schema([
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in form
    ])  # fmt: skip


def _header_tables(headers: Iterable[Header]) -> dict[str, pa.Table]:
    columns: dict[str, dict[str, list[object]]] = {}
    for header in headers:
        for table, made in header_tables(header).items():
            for name, values in made.items():
                columns.setdefault(table, {}).setdefault(name, []).extend(values)
    return {table: schema.conform(table, made) for table, made in columns.items()}


def _runs_table(rows: list[dict[str, Any]]) -> pa.Table:
    return (
        schema.conform("runs", {name: [row[name] for row in rows] for name in rows[0]})
        if rows
        else schema.empty("runs")
    )


def _loose_rows(pieces: list[Piece]) -> dict[str, list[tuple[str, pa.Table]]]:
    """Return the rows that are still tuples as (source, rows) of each table. One pass builds the columns of all."""
    tuples: dict[str, list[tuple[Any, ...]]] = {}
    owners: dict[str, list[str]] = {}
    cuts: dict[str, list[tuple[str, int]]] = {}
    for piece in pieces:
        for table, parts in piece.loose.items():
            for run, rows in parts:
                tuples.setdefault(table, []).extend(rows)
                owners.setdefault(table, []).extend([run] * len(rows))
                cuts.setdefault(table, []).append((piece.id, len(rows)))
    found: dict[str, list[tuple[str, pa.Table]]] = {}
    for table, rows in tuples.items():
        columns = dict(zip(schema.TABLES[table].names[1:], zip(*rows, strict=True), strict=True))
        whole, at = schema.conform(table, {"run_id": owners[table], **columns}), 0
        for source, count in cuts[table]:
            found.setdefault(table, []).append((source, whole.slice(at, count)))
            at += count
    return found


def _with_sources(parts: list[tuple[str, pa.Table]]) -> pa.Table:
    """Return the parts as one table, each row with its source."""
    whole = _joined([rows for _, rows in parts])
    names = sorted({source for source, _ in parts})
    number = {name: i for i, name in enumerate(names)}
    codes = np.repeat([number[source] for source, _ in parts], [rows.num_rows for _, rows in parts]).astype(np.int32)
    return whole.append_column(SOURCE, pa.DictionaryArray.from_arrays(of_numbers(codes), of_texts(names)))


def _rename(piece: Piece) -> None:
    """Rename the runs of a piece to the names in its mark, where these differ from the names in the file."""
    names = piece.mark.names
    if not names:
        return
    for run, name in names.items():
        if run in piece.headers:
            header = piece.headers.pop(run)
            header.run_id = name
            piece.headers[name] = header
    for table, loose in piece.loose.items():
        piece.loose[table] = [(names.get(run, run), rows) for run, rows in loose]
    for table, parts in piece.tables.items():
        piece.tables[table] = [(names.get(run, run), _renamed(rows, names.get(run))) for run, rows in parts]
    for staged in piece.staged:
        if staged.run_id in names:
            staged.run_id = names[staged.run_id]
            with pq.ParquetFile(staged.path) as file, replacing(staged.path) as temporary:
                groups = (_renamed(file.read_row_group(group), staged.run_id) for group in range(file.num_row_groups))
                with pq.ParquetWriter(temporary, file.schema_arrow, **physical.PARQUET) as writer:
                    for rows in groups:
                        writer.write_table(rows, row_group_size=physical.GROUP_ROWS)


def _renamed(rows: pa.Table, name: str | None) -> pa.Table:
    if name is None:
        return rows
    kind = rows.schema.field("run_id")
    return rows.set_column(0, kind, of_texts([name] * rows.num_rows).cast(kind.type))


def _same_content(piece: Piece, mark: Mark) -> bool:
    """Return whether a piece's file has the same content as another file, which was converted."""
    if (piece.mark.size, piece.mark.fingerprint) != (mark.size, mark.fingerprint):
        return False
    other = Path(mark.path)
    try:
        return not other.exists() or filecmp.cmp(piece.source, other, shallow=False)
    except OSError:
        return True
