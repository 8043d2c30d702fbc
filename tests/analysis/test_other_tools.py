"""Other programs open a result folder as the guide shows: the guide's own lines are run."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from causeway.analysis import compact, store
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
