"""Committing and reading a run's tables."""

import errno
from concurrent.futures import ThreadPoolExecutor

import pyarrow.parquet as pq
import pytest

from causeway.analysis import delta, schema, store
from causeway.analysis.spark import read_spark


def run_row(run_id: str) -> dict:
    return {
        "run_id": [run_id], "study": ["s"], "point": ["p"], "engine": ["inline"], "seed": [7],
        "started_at": ["2024-01-01T00:00:00Z"], "wall_s": [0.5],
    }  # fmt: skip


def tables(run_id: str, value: float = 1.5) -> dict:
    return {
        "runs": run_row(run_id),
        "scalars": {"module": ["net"], "name": ["sent"], "value": [value]},
        "samples": {"vector_id": [1], "time_raw": [5], "time_exp": [-12], "value": [2.0]},
    }


ODD_IDS = ["Fifo1-0-20240101-08:25:11-12", "a/b", "#0 ~x", "%41", ".hidden", "_hidden", "é" * 200, "x" * 400]


@pytest.mark.parametrize("run_id", ODD_IDS)
def test_a_run_with_any_id_reads_back_as_written(tmp_path, run_id):
    store.write_run(tmp_path, tables(run_id))
    assert store.has_run(tmp_path, run_id)
    assert store.finished_runs(tmp_path) == {run_id}
    scalars = store.read_pandas(tmp_path, "scalars", ["run_id", "module", "name", "value"])
    assert scalars.to_dict("records") == [{"run_id": run_id, "module": "net", "name": "sent", "value": 1.5}]


def test_odd_ids_do_not_collide(tmp_path):
    for run_id in ODD_IDS:
        store.write_run(tmp_path, tables(run_id))
    assert store.finished_runs(tmp_path) == set(ODD_IDS)


def test_a_missing_event_number_is_null_and_not_a_float(tmp_path):
    store.write_run(tmp_path, tables("r"))
    samples = store.read_pandas(tmp_path, "samples")
    assert str(samples["event"].dtype) == "Int64" and samples["event"].isna().all()


def test_a_run_that_is_there_is_not_written_twice(tmp_path):
    store.write_run(tmp_path, tables("r", 1.0))
    store.write_run(tmp_path, tables("r", 2.0))
    assert store.read_arrow(tmp_path, "scalars")["value"].to_pylist() == [1.0]


def test_a_full_disk_leaves_neither_a_run_nor_a_half_file(tmp_path, monkeypatch):
    class Full(pq.ParquetWriter):
        def write_table(self, table, **options):
            if "time_raw" in table.column_names:
                raise OSError(errno.ENOSPC, "No space left on device")
            super().write_table(table, **options)

    monkeypatch.setattr(pq, "ParquetWriter", Full)
    with pytest.raises(OSError, match="No space"):
        store.write_run(tmp_path, tables("r"))
    assert store.finished_runs(tmp_path) == set()
    assert not list(tmp_path.rglob("*.part"))
    assert store.read_arrow(tmp_path, "scalars").num_rows == 0, "a run without its row must not be read"


def test_a_misspelt_column_is_refused():
    with pytest.raises(ValueError, match="no such column: modul"):
        schema.conform("scalars", {"modul": ["a"], "name": ["b"], "value": [1.0]}, "r")


def test_a_missing_value_in_a_required_column_is_refused():
    with pytest.raises(ValueError, match="missing"):
        schema.conform("scalars", {"module": ["a"], "name": ["b"]}, "r")


def test_a_table_with_another_runs_rows_is_refused(tmp_path):
    bad = tables("r")
    bad["scalars"]["run_id"] = ["other"]
    with pytest.raises(ValueError, match="other than r"):
        store.write_run(tmp_path, bad)


@pytest.mark.spark
def test_spark_reads_committed_rows_and_no_orphans(tmp_path, spark):
    for run_id in ODD_IDS:
        store.write_run(tmp_path, tables(run_id))
    with store.files_for(store.to_write(tmp_path)) as writer:
        writer.write("scalars", store.conformed(tables("orphan"))["scalars"])
    assert read_spark(spark, tmp_path, "samples").count() == len(ODD_IDS)
    rows = read_spark(spark, tmp_path, "scalars").collect()
    assert {row.run_id for row in rows} == set(ODD_IDS)
    values = read_spark(spark, tmp_path, "runs").toPandas()
    assert sorted(values["run_id"]) == sorted(ODD_IDS) and set(values["engine"]) == {"inline"}


def test_a_folder_with_a_relative_path_is_read(tmp_path, monkeypatch):
    store.write_run(tmp_path / "out", tables("one"))
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    assert store.read_arrow(Path("out"), "scalars")["value"].to_pylist() == [1.5]
    assert store.count_rows(Path("out"), "runs") == 1


def test_threads_that_land_the_same_runs_land_each_once(tmp_path):
    """The threads share one handle of the table, which moves to later versions than their states."""

    def land(order: int) -> None:
        for number in range(12):
            store.write_run(tmp_path, tables(f"r{(number * order) % 12}"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(land, (1, 5, 7, 11)))
    rows = store.read_arrow(tmp_path, "scalars")["run_id"].to_pylist()
    assert sorted(rows) == sorted(f"r{number}" for number in range(12))
    store.forget_versions()
    assert sorted(store.read_arrow(tmp_path, "scalars")["run_id"].to_pylist()) == sorted(rows), "and so the log says"


def test_a_commit_does_not_read_the_log_again(tmp_path, monkeypatch):
    opened, real = [], delta._open
    monkeypatch.setattr(delta, "_open", lambda folder: opened.append(folder) or real(folder))
    for number in range(30):
        store.write_run(tmp_path, tables(f"r{number}"))
    known = delta.latest(tmp_path)
    assert len(opened) <= 4, "at the start, and after each checkpoint"
    store.forget_versions()
    assert (known.version, known.files) == (29, delta.latest(tmp_path).files), "what was reckoned is what the log says"
