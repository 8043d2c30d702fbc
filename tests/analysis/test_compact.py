"""Many runs in few files: nothing is lost, doubled or seen half, and a reader passes over what it need not read."""

from __future__ import annotations

import itertools
import os
import shutil

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from causeway.analysis import compact, convert, health, store
from tests.analysis.convert.test_nothing_vanishes import samples, sca, values, vec
from tests.analysis.test_store import tables
from tests.worlds.kills import Steps


def fill(folder, single=6, together=5):
    """Runs that landed alone, together, and converted."""
    for number in range(single):
        store.write_run(folder, tables(f"one{number}", number))
    compact.land_runs(folder, [compact.conformed(tables(f"many{number}", 100 + number)) for number in range(together)])
    for number in range(3):
        sca(f"R{number}", number, folder=folder / "in", name=f"r{number}.sca")
        vec(f"R{number}", number + 1, folder / "in", f"r{number}.vec")
    convert.convert([folder / "in"], folder)


def everything(folder):
    return {
        name: sorted(map(str, store.read_pandas(folder, name).drop(columns="parts", errors="ignore").values.tolist()))
        for name in ("runs", "parameters", "scalars", "vectors", "samples", "attributes", "config")
    }


def test_compacting_changes_no_row_and_leaves_few_files(tmp_path):
    fill(tmp_path)
    before = everything(tmp_path)
    done = compact.compact(tmp_path)
    assert everything(tmp_path) == before and done.runs == 14 and done.files_after < done.files_before
    assert len(list((tmp_path / "tables" / "runs").iterdir())) == 1 and health.problems(tmp_path) == []
    again = compact.compact(tmp_path)
    assert again.files_before == again.files_after and everything(tmp_path) == before


def test_a_run_is_found_and_read_after_it_was_compacted(tmp_path):
    fill(tmp_path)
    compact.compact(tmp_path)
    assert store.has_run(tmp_path, "one3") and store.has_run(tmp_path, "R1") and not store.has_run(tmp_path, "one9")
    assert store.read_table_of(tmp_path, "scalars", "one3")["value"].to_pylist() == [3.0]
    store.write_run(tmp_path, tables("one9"))
    assert store.has_run(tmp_path, "one9")


def test_what_was_converted_is_continued_after_compacting(tmp_path):
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
def test_a_kill_at_any_moment_loses_and_doubles_nothing(tmp_path, monkeypatch):
    before = tmp_path / "before"
    fill(before)
    rows = everything(before)

    for step in range(1, 60):
        out = tmp_path / f"out{step}"
        shutil.copytree(before, out)
        steps = Steps(step)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", steps.counted(os.replace))
            patch.setattr(store, "forget_key", steps.counted(store.forget_key))
            try:
                compact.compact(out)
            except KeyboardInterrupt:
                assert everything(out) == rows, step
            else:
                break
        compact.compact(out)
        assert (everything(out) == rows and health.problems(out) == []) or step < 12, step
        shutil.rmtree(out)
    assert step > 10, "it was killed at many places"


def test_streamed_files_hold_the_same_rows(tmp_path, monkeypatch):
    fill(tmp_path)
    before = everything(tmp_path)
    monkeypatch.setattr(compact, "_SORTED_BYTES", 0)
    compact.compact(tmp_path)
    assert everything(tmp_path) == before


def test_a_filter_on_a_run_passes_over_the_other_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "GROUP_ROWS", 10)
    compact.land_runs(tmp_path, [compact.conformed(tables(f"r{number:03}", number)) for number in range(100)])
    (path,) = store.files_of(tmp_path, "scalars")
    metadata = pq.ParquetFile(path).metadata
    bounds = [metadata.row_group(i).column(0).statistics for i in range(metadata.num_row_groups)]
    assert len(bounds) == 10
    assert all(one.max < two.min for one, two in itertools.pairwise(bounds))
    fragment = next(store.datasets(tmp_path, "scalars")[0][0].get_fragments())
    assert len(fragment.split_by_row_group(pc.field("run_id") == "r042")) == 1


def test_a_command_compacts_a_folder_that_has_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "MANY_FILES", 5)
    fill(tmp_path)
    assert len(list((tmp_path / "tables" / "runs").iterdir())) == 1 and len(store.finished_runs(tmp_path)) == 14


@pytest.mark.parametrize("what", ["cut", "gone"])
def test_a_batch_that_is_damaged_does_not_count_and_the_doctor_removes_it(tmp_path, what):
    compact.land_runs(tmp_path, [compact.conformed(tables(f"r{number}", number)) for number in range(3)])
    store.write_run(tmp_path, tables("whole"))
    (path,) = (path for path in store.files_of(tmp_path, "scalars") if "@" in path.name)
    path.write_bytes(path.read_bytes()[:-1]) if what == "cut" else path.unlink()
    assert store.finished_runs(tmp_path) == {"whole"}
    (problem,) = health.problems(tmp_path)
    assert "scalars missing or cut short" in problem.what
    problem.mend()
    assert health.problems(tmp_path) == [] and store.finished_runs(tmp_path) == {"whole"}


def test_a_reader_that_is_overtaken_by_a_compaction_reads_again(tmp_path, monkeypatch):
    fill(tmp_path)
    before, real = everything(tmp_path)["scalars"], store.datasets
    overtaken = []

    def slow(folder, table):
        found = real(folder, table)
        if not overtaken:
            overtaken.append(compact.compact(tmp_path))
        return found

    monkeypatch.setattr(store, "datasets", slow)
    assert everything(tmp_path)["scalars"] == before and overtaken
