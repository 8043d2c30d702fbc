"""Conversions of files that are still being written, of converted files, and after an interrupt."""

import errno
import os
from contextlib import nullcontext

import numpy as np
import pyarrow.parquet as pq
import pytest

from causeway.analysis import convert, delta, store
from causeway.analysis.convert import job, samples
from causeway.errors import UserError

HEAD = "version 3\nrun R-1\nattr configname Base\n\nvector 0 Net.a x ETV\nattr unit s\nvector 1 Net.b y TV\n"


def data(start: int, count: int) -> str:
    return "".join(f"0\t{i}\t{i}.5\t{i * 0.1:.14g}\n1\t{i}.25\t{-i}\n" for i in range(start, start + count))


@pytest.fixture
def small_ranges(monkeypatch):
    monkeypatch.setattr(job, "RANGE_BYTES", 5000)


def converted(path, out, **options):
    report = convert.convert([path], out, **options)
    return report.files[0], store.read_pandas(out, "samples")


def in_one_go(path, tmp_path):
    return converted(path, tmp_path / "afresh")[1]


def same_rows(one, other) -> bool:
    return one.sort_values(["vector_id", "time_raw"], ignore_index=True).equals(
        other.sort_values(["vector_id", "time_raw"], ignore_index=True)
    )


def test_a_file_cut_at_any_byte_and_continued_ends_as_if_read_once(tmp_path, small_ranges):
    whole = (HEAD + data(0, 60) + "vector 2 Net.c z TV\nattr unit J\n2\t9\t9\n" + data(60, 60)).encode()
    path, out = tmp_path / "r.vec", tmp_path / "out"
    draw = np.random.default_rng(3)
    for end in [*sorted(draw.integers(len(HEAD), len(whole), 12)), len(whole)]:
        path.write_bytes(whole[:end])
        file, so_far = converted(path, out)
        assert len(so_far) == whole[:end].count(b"\n") - HEAD.count("\n") - 2 * (b"attr unit J\n" in whole[:end]) - (
            b"vector 2 Net.c z TV\n" in whole[:end] and b"attr unit J\n" not in whole[:end]
        )
    assert file.status == "continued" and same_rows(so_far, in_one_go(path, tmp_path))
    vectors = store.read_pandas(out, "vectors")
    assert vectors.unit.tolist() == ["s", "", "J"], "also where the attribute came later than its vector"


def test_an_unchanged_file_is_skipped(tmp_path):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 10))
    converted(path, out)
    part = next((out / "tables" / "table=samples").iterdir())
    before = part.stat().st_mtime_ns
    file, rows = converted(path, out)
    assert file.status == "up to date" and len(rows) == 20 and part.stat().st_mtime_ns == before


def test_a_continued_file_is_not_read_again_from_the_start(tmp_path, small_ranges, monkeypatch):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 500))
    converted(path, out)
    starts = []
    real = job.run_range
    monkeypatch.setattr(job, "run_range", lambda task, declared: starts.append(task.start) or real(task, declared))
    end = path.stat().st_size
    with open(path, "a") as file:
        file.write(data(500, 10))
    converted(path, out)
    assert min(starts) == end


def test_another_simulation_under_the_same_name_replaces_the_first(tmp_path, small_ranges):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 300))
    converted(path, out)
    path.write_text(HEAD.replace("R-1", "R-2") + data(0, 400))
    _, rows = converted(path, out)
    assert store.finished_runs(out) == {"R-2"} and set(rows.run_id) == {"R-2"} and len(rows) == 800


def test_the_same_run_with_other_data_replaces_the_first(tmp_path, small_ranges):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 300))
    converted(path, out)
    path.write_text(HEAD + data(7, 200))
    file, rows = converted(path, out)
    assert file.status == "converted" and same_rows(rows, in_one_go(path, tmp_path))


def test_replacing_the_vec_keeps_the_rows_of_the_sca(tmp_path):
    vec, sca, out = tmp_path / "r.vec", tmp_path / "r.sca", tmp_path / "out"
    vec.write_text(HEAD + data(0, 5))
    sca.write_text("version 3\nrun R-1\nattr configname Base\n\nscalar a b 1\n")
    convert.convert([vec, sca], out)
    vec.write_text(HEAD.replace("R-1", "R-2") + data(0, 5))
    convert.convert([vec], out)
    assert store.finished_runs(out) == {"R-1", "R-2"} and len(store.read_pandas(out, "scalars")) == 1
    assert set(store.read_pandas(out, "samples").run_id) == {"R-2"}


def test_an_interrupted_conversion_shows_nothing_and_continues_where_it_stopped(tmp_path, small_ranges, monkeypatch):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 1000))
    real, done = job.run_range, []

    def killed_at_the_fourth(task, declared):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task.start)
        return real(task, declared)

    monkeypatch.setattr(job, "run_range", killed_at_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        converted(path, out)
    assert store.finished_runs(out) == set() and store.read_arrow(out, "samples").num_rows == 0
    written = []
    monkeypatch.setattr(job, "run_range", real)
    real_writer = job.SampleWriter
    monkeypatch.setattr(job, "SampleWriter", lambda part, *run: written.append(part) or real_writer(part, *run))
    _, rows = converted(path, out)
    assert same_rows(rows, in_one_go(path, tmp_path))
    ranges = -(-path.stat().st_size // 5000)
    assert len([part for part in written if "out" in str(part)]) == ranges - 3


def test_a_crash_while_committing_is_repaired_by_the_next_conversion(tmp_path, small_ranges, monkeypatch):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 300))
    real, moved = os.replace, []

    def killed(source, target):
        if "table=samples" in str(target) and ".convert" not in str(target):
            moved.append(target)
            if len(moved) == 2:
                raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        converted(path, out)
    assert store.finished_runs(out) == set(), "the runs row is the last to land"
    monkeypatch.setattr(os, "replace", real)
    with open(path, "a") as file:
        file.write(data(300, 50))
    _, rows = converted(path, out)
    assert same_rows(rows, in_one_go(path, tmp_path))


def test_a_full_disk_is_reported_in_one_line_and_leaves_no_half_file(tmp_path, monkeypatch):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 300))

    class Full(pq.ParquetWriter):
        def write_table(self, *args, **kwargs):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(samples.pq, "ParquetWriter", Full)
    with pytest.raises(UserError, match="No space left on device; make room"):
        converted(path, out)
    assert store.finished_runs(out) == set()
    assert not list(out.rglob("*.part"))


def test_problems_are_reported_again_when_nothing_changed(tmp_path):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 3) + "nonsense\n")
    assert convert.convert([path], out, keep_going=True).problem_count == 1
    assert convert.convert([path], out, keep_going=True).problem_count == 1
    with pytest.raises(UserError, match=r"r\.vec:14"):
        convert.convert([path], out)


def test_ranges_make_no_difference(tmp_path, monkeypatch):
    path = tmp_path / "r.vec"
    path.write_text(HEAD + data(0, 500))
    _, whole = converted(path, tmp_path / "one")
    for size in (101, 997, 4096):
        monkeypatch.setattr(job, "RANGE_BYTES", size)
        assert same_rows(converted(path, tmp_path / f"r{size}")[1], whole)


def test_batches_and_chunks_make_no_difference(tmp_path, monkeypatch):
    from causeway.analysis.convert import text

    path = tmp_path / "r.vec"
    path.write_text(HEAD + data(0, 500) + f'scalar m "{"x" * 3000}" 1\n')
    _, whole = converted(path, tmp_path / "one")
    monkeypatch.setattr(text, "chunks", lambda fd, start, end, size=64, real=text.chunks: real(fd, start, end, size))
    monkeypatch.setattr(samples.Batch.__init__, "__defaults__", (37,))
    assert same_rows(converted(path, tmp_path / "two")[1], whole) and len(whole) == 1000


@pytest.mark.spark
def test_spark_tasks_give_the_same_tables_as_this_process(tmp_path, small_ranges, spark):
    folder = tmp_path / "results"
    folder.mkdir()
    for number in range(5):
        (folder / f"r{number}.vec").write_text(HEAD.replace("R-1", f"R-{number}") + data(number, 40))
    (folder / "huge.vec").write_text(HEAD.replace("R-1", "R-huge") + data(0, 1500))
    convert.convert([folder], tmp_path / "here")
    report = convert.convert([folder], tmp_path / "there", spark=spark)
    assert len(report.files) == 6 and report.rows == 5 * 80 + 3000
    for name in ("runs", "vectors", "samples", "attributes"):
        here, there = (store.read_pandas(tmp_path / out, name) for out in ("here", "there"))
        assert here.equals(there), name


@pytest.mark.spark
def test_spark_reports_the_bad_line_of_a_file(tmp_path, spark):
    for number in range(2):
        (tmp_path / f"r{number}.vec").write_text(HEAD.replace("R-1", f"R-{number}") + data(0, 3))
    with open(tmp_path / "r1.vec", "a") as file:
        file.write("0\tx\t1\t1\n")
    with pytest.raises(UserError, match=r"r1\.vec:14: expected an event number"):
        convert.convert([tmp_path], tmp_path / "out", spark=spark)


def test_a_file_that_changed_in_its_middle_and_grew_is_converted_again(tmp_path):
    path, out = tmp_path / "r.vec", tmp_path / "out"
    text = HEAD + data(0, 5000)
    path.write_text(text)
    converted(path, out)
    path.write_text(text.replace("2500.5\t", "2500.6\t") + data(5000, 5))
    file, found = converted(path, out)
    assert file.status == "converted"
    assert same_rows(found, in_one_go(path, tmp_path))


def test_a_pipe_is_refused_before_anything_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "p.vec")
    with pytest.raises(UserError, match=r"p\.vec is not a regular file"):
        convert.convert([tmp_path / "p.vec"], tmp_path / "out")


def test_two_conversions_at_once_convert_each_file_once(tmp_path, monkeypatch):
    """There are no locks: the second conversion finds at its commit that the first has committed the file."""
    path, out = tmp_path / "r.vec", tmp_path / "out"
    path.write_text(HEAD + data(0, 10))
    (tmp_path / "other.sca").write_text("version 3\nrun O\nattr configname B\nscalar a b 1\n")
    real, first = delta.commit, []

    def overtaken(*args, **kwargs):
        if not first:
            first.append(1)
            convert.convert([path, tmp_path / "other.sca"], out)
        return real(*args, **kwargs)

    monkeypatch.setattr(delta, "commit", overtaken)
    monkeypatch.setattr(store, "revising", lambda folder, wait=True: nullcontext(True))
    report = convert.convert([path], out)
    assert same_rows(store.read_pandas(out, "samples"), converted(path, tmp_path / "alone")[1])
    assert store.finished_runs(out) == {"R-1", "O"} and any("meanwhile" in note for note in report.notes)
    assert sum(file.rows for file in delta.latest(out).files["sources"]) == 2
