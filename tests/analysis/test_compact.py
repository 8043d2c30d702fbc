"""Many runs in few files: no row is lost, duplicated or partly visible, and a reader skips files without its run."""

from __future__ import annotations

import itertools
import os
import shutil
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from causeway.analysis import compact, convert, delta, health, physical, store
from tests.analysis.convert.test_nothing_vanishes import samples, sca, values, vec
from tests.analysis.test_store import tables
from tests.helpers.kills import killed_in_commit


def fill(folder, single=6, together=5):
    """Runs that landed alone, together, and converted."""
    for number in range(single):
        store.write_run(folder, tables(f"one{number}", number))
    store.write_runs(folder, [store.conformed(tables(f"many{number}", 100 + number)) for number in range(together)])
    for number in range(3):
        sca(f"R{number}", number, folder=folder / "in", name=f"r{number}.sca")
        vec(f"R{number}", number + 1, folder / "in", f"r{number}.vec")
    convert.convert([folder / "in"], folder)


def everything(folder):
    return {
        name: sorted(map(str, store.read_pandas(folder, name).values.tolist()))
        for name in ("runs", "parameters", "scalars", "vectors", "samples", "attributes", "config")
    }


def test_compacting_changes_no_row_and_leaves_few_files(tmp_path):
    fill(tmp_path)
    before = everything(tmp_path)
    done = compact.compact(tmp_path)
    assert everything(tmp_path) == before and done.runs == 14 and done.files_after < done.files_before
    assert len(store.files_of(tmp_path, "runs")) == 1 and list(health.problems(tmp_path)) == []
    again = compact.compact(tmp_path)
    assert again.files_before == again.files_after and everything(tmp_path) == before


def test_a_compacted_run_is_found_and_read(tmp_path):
    fill(tmp_path)
    compact.compact(tmp_path)
    assert store.has_run(tmp_path, "one3") and store.has_run(tmp_path, "R1") and not store.has_run(tmp_path, "one9")
    assert store.read_table_of(tmp_path, "scalars", "one3")["value"].to_pylist() == [3.0]
    store.write_run(tmp_path, tables("one9"))
    assert store.has_run(tmp_path, "one9")


def test_a_conversion_continues_after_compacting(tmp_path):
    fill(tmp_path)
    compact.compact(tmp_path)
    assert {file.status for file in convert.convert([tmp_path / "in"], tmp_path).files} == {"up to date"}
    sca("N", 9, folder=tmp_path / "in", name="r1.sca")
    with open(tmp_path / "in" / "r2.vec", "a") as file:
        file.write("0\t99\t99\n")
    report = convert.convert([tmp_path / "in"], tmp_path)
    assert sorted({file.status for file in report.files}) == ["continued", "converted", "up to date"]
    found = values(tmp_path)
    assert found["N"] == 9.0 and "R1" not in found and found["one2"] == 2.0 and found["many4"] == 104.0
    assert samples(tmp_path)["R2"] == 4 and samples(tmp_path)["R1"] == 2


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_and_duplicates_no_run(tmp_path, monkeypatch):
    before = tmp_path / "before"
    fill(before)
    rows = everything(before)
    for step in range(1, 60):
        out = tmp_path / f"out{step}"
        shutil.copytree(before, out)
        if not killed_in_commit(monkeypatch, step, partial(compact.compact, out)):
            break
        assert everything(out) == rows, step
        compact.compact(out)
        assert everything(out) == rows, step
        repaired(out)
        shutil.rmtree(out)
    assert step > 10, "it was killed at many places"


def repaired(folder):
    """Repair the files that a killed process left, and check the folder."""
    for problem in health.problems(folder):
        problem.repair()
    assert [problem.what for problem in health.problems(folder)] == []


def test_many_files_are_merged_in_groups(tmp_path, monkeypatch):
    fill(tmp_path)
    before = everything(tmp_path)
    monkeypatch.setattr(compact, "_MERGED_BYTES", 5000)
    compact.compact(tmp_path)
    assert everything(tmp_path) == before and len(store.files_of(tmp_path, "runs")) > 1


def test_a_filter_on_a_run_passes_over_the_other_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(physical, "GROUP_ROWS", 10)
    store.write_runs(tmp_path, [store.conformed(tables(f"r{number:03}", number)) for number in range(100)])
    (path,) = store.files_of(tmp_path, "scalars")
    metadata = pq.ParquetFile(path).metadata
    bounds = [metadata.row_group(i).column(0).statistics for i in range(metadata.num_row_groups)]
    assert len(bounds) == 10
    assert all(one.max < two.min for one, two in itertools.pairwise(bounds))
    state = delta.latest(tmp_path)
    fragment = next(physical.dataset(tmp_path, state.files["scalars"]).get_fragments())
    assert len(fragment.split_by_row_group(pc.field("run_id") == "r042")) == 1


def test_a_command_compacts_a_folder_that_has_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "MANY_FILES", 5)
    fill(tmp_path)
    assert len(store.files_of(tmp_path, "runs")) == 1 and len(store.finished_runs(tmp_path)) == 14


def test_a_reader_during_a_compaction_sees_one_state(tmp_path, monkeypatch):
    fill(tmp_path)
    before = everything(tmp_path)
    with store.one_state(tmp_path):
        compact.compact(tmp_path)
        store.write_run(tmp_path, tables("later"))
        assert everything(tmp_path) == before
    assert store.has_run(tmp_path, "later") and len(store.read_arrow(tmp_path, "runs")) == 15


def test_compacted_files_are_deleted_when_no_reader_can_need_them(tmp_path, monkeypatch):
    fill(tmp_path)
    compact.compact(tmp_path)
    there = len(list(tmp_path.rglob("*.parquet")))
    assert there > len(delta.latest(tmp_path).all_files())
    for path in tmp_path.rglob("*.parquet"):  # as if a day had gone by since they were written
        os.utime(path, (0, 0))
    monkeypatch.setattr(delta, "KEPT_HOURS", 0)
    rows = everything(tmp_path)
    compact.compact(tmp_path)
    delta.forget_versions()
    assert len(list(tmp_path.rglob("*.parquet"))) == len(delta.latest(tmp_path).all_files())
    assert everything(tmp_path) == rows


@pytest.mark.parametrize("compacted", [False, True])
def test_removed_runs_leave_all_tables_at_once_and_others_stay(tmp_path, compacted):
    fill(tmp_path)
    if compacted:
        compact.compact(tmp_path)
    gone = {"one3", "many0", "R1"}
    left = {name: [row for row in rows if not any(f"'{run}'" in row for run in gone)]
            for name, rows in everything(tmp_path).items()}  # fmt: skip
    before = delta.latest(tmp_path)
    compact.forget_runs(tmp_path, [*gone, "nobody"])
    assert everything(tmp_path) == left and delta.latest(tmp_path).version == before.version + 1
    with store.one_state(at=[before]):
        assert gone < store.finished_runs(tmp_path), "a reader that began before still has them"
    assert list(health.problems(tmp_path)) == []
    compact.forget_runs(tmp_path, gone)
    assert delta.latest(tmp_path).version == before.version + 1, "nothing to forget is no commit"
    store.write_run(tmp_path, tables("one3", 33.0))
    again = {Path(file.source).name: file.status for file in convert.convert([tmp_path / "in"], tmp_path).files}
    assert again["r1.sca"] == "converted" and again["r0.sca"] == "up to date"
    assert values(tmp_path)["one3"] == 33.0 and values(tmp_path)["R1"] == 1.0


def test_runs_are_removed_after_a_compaction_by_another_process(tmp_path, monkeypatch):
    fill(tmp_path)
    real, times = compact.without_runs, []

    def overtaken(*args):
        times.append(1)
        if len(times) == 1:
            compact.compact(tmp_path)
        return real(*args)

    monkeypatch.setattr(compact, "without_runs", overtaken)
    compact.forget_runs(tmp_path, ["one3", "R1"])
    assert len(times) == 2 and len(store.finished_runs(tmp_path)) == 12
    assert "one3" not in values(tmp_path) and list(health.problems(tmp_path)) == []
