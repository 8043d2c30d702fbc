"""Land what was read, many files at a time, as one batch: all of it is seen, or nothing.

A run may have several files: its .sca and .vec say the same of it, and what one of them says more is added. Files of
another place that claim a run of the same name are a clash, which is refused unless the caller says what to do.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import batches, locks, schema, store
from causeway.analysis.arrays import of_numbers, of_texts
from causeway.analysis.batches import SOURCE, Batch, Part
from causeway.analysis.compact import GROUP_ROWS, concatenated, write_runs, write_table, write_tables
from causeway.analysis.convert import stage
from causeway.analysis.convert.piece import Mark, Piece, stem_of
from causeway.analysis.convert.records import Header
from causeway.analysis.convert.runs import header_tables, run_row
from causeway.analysis.remote import Remote
from causeway.bridge.errors import UserError

BATCH_BYTES = 96 << 20
BATCH_FILES = 4000
CLASH = ("refuse", "apart", "merge")
HEADER = ("parameters", "config")


@dataclass
class _Claim:
    """A source that gave a run."""

    source: str
    mark: Mark
    batch: str
    """The batch it landed in; empty: it waits to land."""


@dataclass
class Lander:
    """Takes pieces, and lands them."""

    out: Path
    clash: str = "refuse"
    changed: set[str] = field(default_factory=set)
    """Sources whose content is no longer what landed, and that are read in this command."""

    def __post_init__(self) -> None:
        store.forget_replaced(self.out)
        self._pieces: list[Piece] = []
        self._bytes = 0
        self._study_of: dict[str, str] = {}
        self._short: dict[str, tuple[dict[str, str], list[list[str]]]] = {}
        self._load()
        if (self.out / ".convert").is_dir() and any((self.out / ".convert").glob("*.json")):
            raise UserError(
                f"{self.out} was converted by an older version: it can be read, but not added to; "
                "convert into another folder"
            )

    def _load(self) -> None:
        self._batches = {key: batch for key, batch in store.finished_batches(self.out).items() if batch.many}
        self._claims: dict[str, dict[str, _Claim]] = {}
        self._marks: dict[str, tuple[Mark, str]] = {}
        for key, batch in self._batches.items():
            for source, given in batch.sources.items():
                if (mark := Mark.of(given)) is not None:
                    self._claim(source, mark, key)

    def _claim(self, source: str, mark: Mark, batch: str) -> None:
        self._marks[source] = (mark, batch)
        for run in mark.runs:
            name = mark.names.get(run, run)
            self._claims.setdefault(name, {})[source] = _Claim(source, mark, batch)

    def _unclaim(self, source: str) -> None:
        mark, _ = self._marks.pop(source, (None, ""))
        for run in mark.runs if mark else []:
            self._claims.get(mark.names.get(run, run) if mark else run, {}).pop(source, None)

    @property
    def knows_any(self) -> bool:
        """Whether anything was converted before."""
        return bool(self._marks)

    def mark(self, resolved: Path | str) -> Mark | None:
        """How far a source was converted before."""
        return self._marks.get(stage.source_id(resolved), (None, ""))[0] if self._marks else None

    def add(self, piece: Piece) -> None:
        """Take a piece; it lands now or with later ones. A clash that is refused raises UserError."""
        if piece.report.status == "up to date":
            return
        if not self._settle(piece):
            stage.clear(piece.folder)
            return
        before = self._marks.get(piece.id)
        self._unclaim(piece.id)
        self._claim(piece.id, piece.mark, before[1] if before else "")
        self._pieces.append(piece)
        self._bytes += piece.held_bytes
        self.changed.discard(piece.id)
        if self._bytes > BATCH_BYTES or len(self._pieces) >= BATCH_FILES or piece.staged:
            self.flush()

    def _settle(self, piece: Piece) -> bool:
        """Deal with runs that another place gave already; False: the piece is only a copy."""
        for run in piece.runs:
            others = [
                claim for source, claim in self._claims.get(run, {}).items()
                if source != piece.id and source not in self.changed and stem_of(claim.mark.path) != piece.stem
            ]  # fmt: skip
            if not others:
                continue
            if twin := next((claim for claim in others if _same_content(piece, claim.mark)), None):
                piece.report.status, piece.report.rows = "copy", 0
                piece.report.notes.append(f"{piece.source}: passed over, it is the same as {twin.mark.path}")
                return False
            told = f"{piece.source} and {others[0].mark.path} both hold the run {run!r}, and differ"
            if self.clash == "refuse":
                raise UserError(f"{told}; say --clash apart to keep two runs, or --clash merge to make them one")
            if self.clash == "apart":
                piece.mark.names[run] = f"{run}@{piece.id[:8]}"
            piece.report.notes.append(f"{told}: " + ("kept apart" if self.clash == "apart" else "made one run"))
        _rename(piece)
        return True

    # --- landing ---

    def flush(self) -> None:
        """Land what was taken."""
        pieces, self._pieces, self._bytes = self._pieces, [], 0
        if not pieces:
            return
        ids = {piece.id for piece in pieces}
        headers = self._headers(pieces)
        touched = {key: batch for key, batch in self._batches.items()
                   if ids & batch.sources.keys() or headers.keys() & set(batch.run_ids)}  # fmt: skip
        new = Batch(batches.new_key(), replaces=tuple(touched))
        new.sources = {source: mark for batch in touched.values() for source, mark in batch.sources.items()}
        new.sources |= {piece.id: piece.mark.plain() for piece in pieces}
        carried, runs = _Carried(self, new, set(headers), pieces), []
        for batch in touched.values():
            runs += carried.take(batch)
        with locks.held(store.lock_path(self.out, new.key), wait=True):
            writer = _Writer(self.out, new)
            for study, table, rows, held in [*carried.rows, *self._rows(pieces, headers)]:
                writer.write(table, study, rows, held)
            for piece in pieces:
                for staged in piece.staged:
                    writer.move(staged.path, staged.table, self._study_of.get(staged.run_id, ""), piece.id)
            sources = self._sources(pieces)
            rows = [run_row(run, *self._short.pop(run), sources.get(run, "")) for run in headers]
            runs.append(_runs_table(rows))
            whole = pa.concat_tables(runs)
            write_runs(self.out, whole, new)
            for key in touched:
                store.forget_batch(self.out, key)
        self._batches = {key: batch for key, batch in self._batches.items() if key not in touched}
        new.run_ids = tuple(whole["run_id"].to_pylist())
        self._batches[new.key] = new
        for source, given in new.sources.items():
            if mark := Mark.of(given):
                self._claim(source, mark, new.key)
        for piece in pieces:
            stage.clear(piece.folder)

    def _headers(self, pieces: list[Piece]) -> dict[str, Header]:
        """Return the header of each run, merged from all files that say something of it."""
        merged: dict[str, Header] = {}
        ids = {piece.id for piece in pieces}
        for piece in pieces:
            for run, header in piece.headers.items():
                if run not in merged:
                    landed = {c.batch for s, c in self._claims.get(run, {}).items() if s not in ids and c.batch}
                    merged[run] = self._landed_header(run, landed) if landed else Header(run)
                taken = Header(run, list(header.attributes), list(header.iteration_variables()), list(header.config))
                contradictions = merged[run].take(taken)
                piece.report.notes += [f"{piece.source}: {line}; the first is kept" for line in contradictions]
        self._short |= {run: (header.said, header.iteration_variables()) for run, header in merged.items()}
        for run in merged:
            self._study_of[run] = self._short[run][0].get("configname", "")
        return merged

    def _landed_header(self, run: str, keys: set[str]) -> Header:
        """The header of a run as its tables have it."""
        import pyarrow.compute as pc

        found = Header(run)
        for key in sorted(keys):
            for name in self._batches[key].files:
                table = name.partition("/")[0]
                if table not in (*HEADER, "attributes") or self._batches[key].held.get(name):
                    continue
                rows = _read(self.out, name, pc.field("run_id") == run)
                pairs = [[row["name"], row["value"]] for row in rows.select(["name", "value"]).to_pylist()]
                into = {"parameters": found.itervars, "config": found.config}.get(table, found.attributes)
                into += pairs
        return found

    def _sources(self, pieces: list[Piece]) -> dict[str, str]:
        stems = {run: piece.stem for piece in reversed(pieces) for run in piece.runs}
        for run in stems:
            landed = [c.mark.path for c in self._claims.get(run, {}).values() if c.batch]
            if landed:
                stems[run] = stem_of(landed[0])
        return stems

    def _rows(self, pieces: list[Piece], headers: dict[str, Header]) -> Iterator[tuple[str, str, pa.Table, list[str]]]:
        """(study, table, rows, sources) of what waits in memory, header tables included."""
        by_study: dict[str, list[Header]] = {}
        for run, header in headers.items():
            by_study.setdefault(self._study_of[run], []).append(header)
        for study, some in by_study.items():
            made = _header_tables(some)
            yield from ((study, table, rows, []) for table, rows in made.items())
        groups = _loose_rows(pieces, self._study_of)
        for piece in pieces:
            for table, parts in piece.tables.items():
                for run, rows in parts:
                    groups.setdefault((self._study_of.get(run, ""), table), []).append((piece.id, rows))
        for (study, table), found in groups.items():
            yield study, table, _with_sources(found), sorted({source for source, _ in found})


class _Carried:
    """What a batch keeps of the batches that it replaces: whole files as they are, others without what is gone."""

    def __init__(self, lander: Lander, new: Batch, here: set[str], pieces: list[Piece]) -> None:
        self._out, self._new, self._here = lander.out, new, here
        self._gone = {piece.id: piece.continued for piece in pieces}
        self._dead = {run for run, claims in lander._claims.items() if not claims}
        self.rows: list[tuple[str, str, pa.Table, list[str]]] = []

    def take(self, batch: Batch) -> list[pa.Table]:
        """The rows of `runs` that are kept; the rest is in `rows`, or taken over as it is."""
        for name, part in batch.files.items():
            self._file(batch, name, part)
        rows = _read(self._out, f"runs/{batch.key}.parquet")
        return [rows.filter(self._kept(rows["run_id"]))]

    def _kept(self, run_ids: pa.ChunkedArray) -> list[bool]:
        return [run not in self._dead and run not in self._here for run in run_ids.to_pylist()]

    def _file(self, batch: Batch, name: str, part: Part) -> None:
        import pyarrow.compute as pc

        table, held = name.partition("/")[0], batch.held.get(name, [])
        out = {source for source in held if source in self._gone and not (table == "samples" and self._gone[source])}
        if held and not out:
            self._new.files[name], self._new.held[name] = part, held
            return
        if held and out == set(held):
            return
        rows = _read(self._out, name)
        if held:
            rows = rows.filter(pc.invert(pc.is_in(rows[SOURCE], of_texts(sorted(out)))))
        else:
            rows = rows.filter(self._kept(rows["run_id"]))
        if rows.num_rows:
            study = name.split("/")[1].removeprefix("study=") if name.count("/") > 1 else ""
            self.rows.append((f"={study}", table, rows, sorted(set(held) - out)))


class _Writer:
    """Writes the files of a batch."""

    def __init__(self, out: Path, batch: Batch) -> None:
        self._out, self._batch, self._count = out, batch, 0

    def _path(self, table: str, study: str) -> str:
        self._count += 1
        quoted = study[1:] if study.startswith("=") else store.quote(study) if study else ""
        return f"{table}/{batches.study_dir(quoted)}/{self._batch.key}~{self._count}.parquet"

    def write(self, table: str, study: str, rows: pa.Table, held: list[str]) -> None:
        if not rows.num_rows:
            return
        name = self._path(table, study)
        self._batch.files[name] = write_table(self._out / "tables" / name, rows, GROUP_ROWS)
        self._batch.held[name] = held

    def move(self, path: Path, table: str, study: str, source: str) -> None:
        name = self._path(table, study)
        target = self._out / "tables" / name
        self._batch.files[name] = Part(path.stat().st_size, store.digest_of(path))
        if isinstance(target, Remote):
            target.send(path)
            path.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
        self._batch.held[name] = [source]


def _read(out: Path, name: str, where: Any | None = None) -> pa.Table:
    table = batches.opened(out / "tables" / name).read()
    return table if where is None else table.filter(where)


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


def _loose_rows(pieces: list[Piece], study_of: dict[str, str]) -> dict[tuple[str, str], list[tuple[str, pa.Table]]]:
    """(study, table) -> the rows that wait as tuples, by source: columns are made of all of them at once."""
    tuples: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    owners: dict[tuple[str, str], list[str]] = {}
    cuts: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for piece in pieces:
        for table, parts in piece.loose.items():
            for run, rows in parts:
                group = (study_of.get(run, ""), table)
                tuples.setdefault(group, []).extend(rows)
                owners.setdefault(group, []).extend([run] * len(rows))
                cuts.setdefault(group, []).append((piece.id, len(rows)))
    found: dict[tuple[str, str], list[tuple[str, pa.Table]]] = {}
    for group, rows in tuples.items():
        names = schema.TABLES[group[1]].names[1:]
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        whole, at = schema.conform(group[1], {"run_id": owners[group], **columns}), 0
        for source, count in cuts[group]:
            found.setdefault(group, []).append((source, whole.slice(at, count)))
            at += count
    return found


def _with_sources(parts: list[tuple[str, pa.Table]]) -> pa.Table:
    """The parts as one table, each row with its source."""
    whole = concatenated([rows for _, rows in parts])
    names = sorted({source for source, _ in parts})
    number = {name: i for i, name in enumerate(names)}
    codes = np.repeat([number[source] for source, _ in parts], [rows.num_rows for _, rows in parts]).astype(np.int32)
    return whole.append_column(SOURCE, pa.DictionaryArray.from_arrays(of_numbers(codes), of_texts(names)))


def _rename(piece: Piece) -> None:
    """Gives the runs of a piece the names that its mark says, where those differ from the file's."""
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
            with pq.ParquetFile(staged.path) as file:
                groups = (file.read_row_group(group) for group in range(file.num_row_groups))
                write_tables(staged.path, (_renamed(rows, staged.run_id) for rows in groups), GROUP_ROWS)


def _renamed(rows: pa.Table, name: str | None) -> pa.Table:
    if name is None:
        return rows
    kind = rows.schema.field("run_id")
    return rows.set_column(0, kind, of_texts([name] * rows.num_rows).cast(kind.type))


def _same_content(piece: Piece, mark: Mark) -> bool:
    """Whether a piece's file holds what another file held that was converted."""
    if (piece.mark.size, piece.mark.fingerprint) != (mark.size, mark.fingerprint):
        return False
    other = Path(mark.path)
    try:
        return not other.exists() or filecmp.cmp(piece.source, other, shallow=False)
    except OSError:
        return True
