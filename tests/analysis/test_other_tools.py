"""Other programs open a result folder as the guide shows: the guide's own lines are run."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from causeway.analysis import compact, delta, store
from tests.analysis.test_store import tables

CHAPTER = Path(__file__).parents[2] / "docs" / "guide" / "05-results.md"
VALUES = {"alone": 1.0, "a": 2.0, "b": 2.0, "late": 7.0}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Make `results` where the test runs: runs that landed alone, together and behind a compaction; one is gone."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    store.write_run(folder, tables("alone", 1.0))
    store.write_runs(folder, [store.conformed(tables(name, 2.0)) for name in ("a", "b", "gone")])
    compact.compact(folder)
    store.write_run(folder, tables("late", 7.0))
    compact.forget_runs(folder, ["gone"])
    return folder


def said(word: str) -> Any:
    """Run the example of the chapter's section on other tools that has this word; return its last expression."""
    section = CHAPTER.read_text().partition("### In other tools")[2].partition("\n## ")[0]
    (example,) = (one for one in re.findall("```python\n(.*?)```", section, re.DOTALL) if word in one)
    *lines, last = ast.parse(example).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(lines, []), str(CHAPTER), "exec"), names)
    return eval(compile(ast.Expression(last.value), str(CHAPTER), "eval"), names)


def test_pandas_opens_it_by_deltalake(results):
    frame = said("to_pandas")
    assert dict(zip(frame["run_id"], frame["value"], strict=True)) == VALUES and len(frame) == 4


def test_polars_opens_it(results):
    pytest.importorskip("polars")
    frame = said("polars").collect()
    assert dict(zip(frame["run_id"], frame["value"], strict=True)) == VALUES and len(frame) == 4


def test_duckdb_opens_it_without_its_extension(results):
    pytest.importorskip("duckdb")
    assert said("duckdb").fetchall() == [("sent", 3.0)]


@pytest.mark.spark
def test_spark_opens_it_without_a_jar(results, spark):
    rows = said("read_spark").collect()
    assert {row["run_id"]: row["value"] for row in rows} == VALUES and len(rows) == 4


FILTERS = {"name = 'sent'": ("name", "==", "sent"), "value > 6": ("value", ">", 6.0), "seed >= 0": ("seed", ">=", 0)}
"""Filters on columns without statistics in the log: as SQL, and as pyarrow and deltalake take them."""


def numbers(folder: Path) -> tuple[list[int], list[int]]:
    """Return the numbers of rows for each filter: those that the dataset of the log finds, and all there are."""
    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    dataset = DeltaTable(str(folder / "tables")).to_pyarrow_dataset()
    everything = dataset.to_table()
    masks = [pq.filters_to_expression([one]) for one in FILTERS.values()]
    return [dataset.count_rows(filter=mask) for mask in masks], [everything.filter(mask).num_rows for mask in masks]


def test_a_filter_on_any_column_finds_its_rows(results):
    from deltalake import DeltaTable

    found, there = numbers(results)
    assert found == there and all(there)
    table = DeltaTable(str(results / "tables"))
    assert [len(table.to_pandas(filters=[one])) for one in FILTERS.values()] == there


def test_filters_of_polars_and_duckdb_find_their_rows(results):
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    from deltalake import DeltaTable

    _, there = numbers(results)
    lazy = polars.scan_delta(str(results / "tables"))
    assert [lazy.filter(polars.sql_expr(one)).collect().height for one in FILTERS] == there
    with duckdb.connect() as database:
        database.register("rows_", DeltaTable(str(results / "tables")).to_pyarrow_dataset())
        counts = [database.sql(f"SELECT count(*) FROM rows_ WHERE {one}").fetchall()[0][0] for one in FILTERS]
    assert counts == there


def test_the_next_commit_mends_the_log_of_an_older_version(tmp_path, monkeypatch):
    """Its log did not say that only one column has statistics, so that filters on others found nothing."""
    with monkeypatch.context() as older:
        name = "delta.dataSkippingStatsColumns"
        older.setattr(delta, "_SETTINGS", {one: value for one, value in delta._SETTINGS.items() if one != name})
        store.write_run(tmp_path, tables("a", 7.0))
    found, there = numbers(tmp_path)
    assert found == [0, 0, 0] != there
    for number in range(25):  # a checkpoint is among them
        store.write_run(tmp_path, tables(f"b{number}", 2.0))
        found, there = numbers(tmp_path)
        assert found == there and all(there)
    assert store.finished_runs(tmp_path) == {"a", *(f"b{number}" for number in range(25))}
