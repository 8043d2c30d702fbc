"""Many runs in few files: landing them together, and putting together what landed apart.

A folder of a hundred thousand runs is read in less than a second if its rows stand in few files, sorted by run, so that
a reader passes over all groups of rows but one. Whatever is killed when: see `batches`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.analysis import batches, locks, schema, store
from causeway.analysis.batches import SOURCE, Batch, Part
from causeway.analysis.remote import place

GROUP_ROWS = 1 << 16
"""Rows that a reader takes or passes over together."""
MANY_FILES = 1000
"""So many files of runs, and a command that adds to them compacts the folder."""
_LARGE_BYTES = 256 << 20
"""A file of this size stays as it is."""
_SORTED_BYTES = 256 << 20
"""Files of together more than this are put one behind the other instead of being sorted in memory."""
_MOST_RUNS = 50_000
"""Single runs and small batches that are put together at once: bounds the memory."""

Group = tuple[str, str, bool]
"""Table, quoted study, and whether its rows say which file they were converted from."""


# --- landing many runs ---------------------------------------------------------------------------------------------


def conformed(tables: Mapping[str, Any]) -> dict[str, pa.Table]:
    """A run's tables with exactly their columns: what `land_runs` takes."""
    runs = schema.conform("runs", tables["runs"])
    run_id = runs["run_id"][0].as_py()
    return {"runs": runs} | {name: schema.conform(name, t, run_id) for name, t in tables.items() if name != "runs"}


def land_runs(out_dir: Path, runs: Sequence[Mapping[str, pa.Table]]) -> None:
    """Land many runs as one batch. The caller is the only writer of each (see `store.writing`)."""
    if not runs:
        return
    batch = Batch(batches.new_key())
    grouped: dict[Group, list[pa.Table]] = {}
    for tables in runs:
        named = tables["runs"]["study"][0].as_py()
        study = store.quote(named) if named else ""
        for name, table in tables.items():
            if name != "runs" and table.num_rows:
                grouped.setdefault((name, study, False), []).append(table)
    with locks.held(store.lock_path(out_dir, batch.key), wait=True):
        for number, (group, tables_) in enumerate(sorted(grouped.items(), key=lambda pair: pair[0])):
            name = _name(group, batch, number)
            whole = _sorted(pa.concat_tables(tables_))
            batch.files[name] = write_table(place(out_dir) / "tables" / name, whole, GROUP_ROWS)
        rows = _sorted(pa.concat_tables([tables["runs"] for tables in runs]))
        write_runs(out_dir, rows, batch)


def write_table(path: Path, table: pa.Table, group_rows: int, footer: Mapping[bytes, str] | None = None) -> Part:
    """Land one parquet file of many runs, in groups of rows that a reader can pass over."""
    with store.landing(path) as temporary, open(temporary, "wb") as file:
        sink = batches.Digesting(file)
        with pq.ParquetWriter(pa.PythonFile(sink, "w"), table.schema, **store.PARQUET) as writer:
            writer.write_table(table.unify_dictionaries(), row_group_size=group_rows)
            if footer:
                writer.add_key_value_metadata(dict(footer))
        return sink.part()


def write_tables(path: Path, tables: Iterable[pa.Table], group_rows: int) -> Part:
    """Land one parquet file of tables that come one after the other."""
    with store.landing(path) as temporary, open(temporary, "wb") as file:
        sink, writer = batches.Digesting(file), None
        for table in tables:
            writer = writer or pq.ParquetWriter(pa.PythonFile(sink, "w"), table.schema, **store.PARQUET)
            writer.write_table(table, row_group_size=group_rows)
        if writer is not None:
            writer.close()
        return sink.part()


def write_runs(out_dir: Path, rows: pa.Table, batch: Batch) -> None:
    """The last file of a batch: from here on it is seen."""
    path = store.table_dir(out_dir, "runs") / f"{batch.key}.parquet"
    write_table(path, rows, GROUP_ROWS, batches.footer(batch))


def _name(group: Group, batch: Batch, number: int) -> str:
    table, study, _ = group
    return f"{table}/{batches.study_dir(study)}/{batch.key}~{number}.parquet"


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """The tables one behind the other; a column may be a dictionary in some of them and plain in others."""
    if all(table.schema.equals(tables[0].schema) for table in tables):
        return pa.concat_tables(tables)
    return pa.concat_tables([table.cast(_plain(table.schema)) for table in tables])


def _plain(form: pa.Schema) -> pa.Schema:
    return pa.schema([
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type, f.nullable) for f in form
    ])  # fmt: skip


def _sorted(table: pa.Table) -> pa.Table:
    """By run; the order within a run stays."""
    import pyarrow.compute as pc  # here: only some commands need it, and it takes its time to load

    ids = table["run_id"]
    order = pc.sort_indices(ids.cast(pa.string()) if pa.types.is_dictionary(ids.type) else ids)
    return table.take(order)


# --- putting together what landed apart ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Compacted:
    """What became of a folder."""

    runs: int
    files_before: int
    files_after: int


def compact_if_many(out_dir: Path) -> Compacted | None:
    """Compacts the folder if it has many files and nobody else is at it."""
    if len(batches.sizes(place(out_dir) / "tables", "runs")) < MANY_FILES:
        return None
    with locks.held(store.lock_path(out_dir, "batches"), wait=False) as mine:
        return _compact(place(out_dir)) if mine else None


def compact(out_dir: Path) -> Compacted:
    """Puts the runs of a folder together in few files. May be killed at any moment, and run beside other commands."""
    with store.revising(out_dir):
        return _compact(place(out_dir))


def _compact(out: Path) -> Compacted:
    before = _count(out)
    store.forget_replaced(out)
    finished = store.finished_batches(out)
    small = sorted(key for key, batch in finished.items() if batch.told and not _is_large(batch))
    together = [small[at : at + _MOST_RUNS] for at in range(0, len(small), _MOST_RUNS)]
    for keys in together:
        if len(keys) > 1:
            _put_together(out, [finished[key] for key in keys])
    if len(together) > 1:  # what was put together in turns becomes one
        finished = store.finished_batches(out)
        rest = [batch for batch in finished.values() if batch.many and not _is_large(batch)]
        if len(rest) > 1:
            _put_together(out, rest)
    return Compacted(len(store.finished_runs(out)), before, _count(out))


def _count(out: Path) -> int:
    return sum(len(batches.sizes(out / "tables", name)) for name in schema.TABLES)


def _is_large(batch: Batch) -> bool:
    """Whether putting it together with others would only copy it."""
    return batch.many and sum(part.size for part in batch.files.values()) > 4 * _LARGE_BYTES


def forget_runs(out_dir: Path, run_ids: Iterable[str]) -> None:
    """Remove these runs from a folder, wherever they stand."""
    gone, out = frozenset(run_ids), place(out_dir)
    with store.revising(out):
        touched = [batch for batch in store.finished_batches(out).values() if batch.many and gone & set(batch.run_ids)]
        if touched:
            _put_together(out, touched, gone)
    for run_id in gone:
        store.forget_run(out, run_id)
    store.forget_what_is_known()


def _put_together(out: Path, some: list[Batch], but: frozenset[str] = frozenset()) -> None:
    """Make one batch of some, without the runs `but`."""
    again = store.doubled({batch.key: batch for batch in some})
    if but:
        every = [name for batch in some for name in (*batch.files, f"runs/{batch.key}.parquet")]
        again = {name: again.get(name, frozenset()) | but for name in every}
    rows = pa.concat_tables([_runs_of(out, batch, again) for batch in some])
    studies = dict(zip(rows["run_id"].to_pylist(), rows["study"].to_pylist(), strict=True))
    new = Batch(batches.new_key(), replaces=tuple(batch.key for batch in some))
    new.sources = {source: mark for batch in some for source, mark in batch.sources.items()}
    grouped: dict[Group, list[tuple[str, Part]]] = {}
    held: dict[Group, set[str]] = {}
    with locks.held(store.lock_path(out, new.key), wait=True):
        for batch in some:
            for name, part in batch.files.items():
                if part.size > _LARGE_BYTES and name not in again:
                    new.files[name], new.held[name] = part, batch.held.get(name, [])
                    continue
                group = _group(name, batch, studies)
                grouped.setdefault(group, []).append((name, part))
                held.setdefault(group, set()).update(batch.held.get(name, []))
        for number, (group, files) in enumerate(sorted(grouped.items(), key=lambda pair: pair[0])):
            name = _name(group, new, number)
            new.files[name] = _join(out, files, out / "tables" / name, again)
            new.held[name] = sorted(held[group])
        write_runs(out, _sorted(rows), new)
        for batch in some:
            store.forget_key(out, batch.key)


def _group(name: str, batch: Batch, studies: Mapping[str, str]) -> Group:
    table, *place = name.split("/")
    if batch.many:
        study = place[0].removeprefix("study=") if len(place) > 1 else ""
    else:
        study = store.quote(found) if (found := studies.get(store.run_of_key(batch.key), "")) else ""
    return table, "" if study == batches.NO_STUDY else study, bool(batch.held.get(name))


def _runs_of(out: Path, batch: Batch, again: _Again) -> pa.Table:
    name = f"runs/{batch.key}.parquet"
    rows = schema.conform("runs", batches.opened(out / "tables" / name).read())
    rows = store.without_runs(rows, again.get(name, ()))
    return rows.set_column(rows.column_names.index("parts"), "parts", pa.nulls(rows.num_rows, pa.string()))


_Again = Mapping[str, frozenset[str]]
"""See `store.doubled`."""


def _join(out: Path, files: Iterable[tuple[str, Part]], target: Path, again: _Again) -> Part:
    """One file of many: sorted by run where that fits into memory, else one behind the other."""
    files = sorted(files)
    if sum(part.size for _, part in files) <= _SORTED_BYTES:
        tables = [
            store.without_runs(batches.opened(out / "tables" / name).read(), again.get(name, ())) for name, _ in files
        ]
        whole = _sorted(pa.concat_tables(tables, promote_options="permissive"))
        return write_table(target, whole, GROUP_ROWS)
    return write_tables(target, _groups_of(out, [name for name, _ in files], again), GROUP_ROWS)


def _groups_of(out: Path, names: list[str], again: _Again) -> Iterator[pa.Table]:
    """The rows of some files, group by group, with the columns that any of them has."""
    table = names[0].partition("/")[0]
    with_source = any(SOURCE in batches.opened(out / "tables" / name).schema_arrow.names for name in names)
    for name in names:
        with batches.opened(out / "tables" / name) as file:
            for number in range(file.num_row_groups):
                rows = store.without_runs(file.read_row_group(number), again.get(name, ()))
                source = rows[SOURCE].cast(pa.string()) if SOURCE in rows.column_names else None
                rows = schema.conform(table, rows.select([c for c in rows.column_names if c != SOURCE]))
                if with_source:
                    rows = rows.append_column(SOURCE, source or pa.nulls(rows.num_rows, pa.string()))
                yield rows
