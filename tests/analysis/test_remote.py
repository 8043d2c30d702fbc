"""Result folders behind URLs: everything that works in a folder of this machine works there, with the same rows.

`s3` is a real server on loopback. `hdfs` stands for file systems that show a file while it is written: pyarrow's own
local one, below a folder, under that name.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from causeway.analysis import compact, convert, delta, health, remote, report, schema, store
from causeway.analysis.diff import diff
from causeway.errors import UserError
from causeway.results import open as open_results
from tests.analysis.test_store import tables
from tests.helpers.s3 import needs_s3, s3  # noqa: F401

TOP = Path(__file__).parents[2]
VEC = """version 3
run General-0
attr configname General
vector 0 net delay ETV
0\t1\t0.5\t2.25
0\t2\t0.75\t2.5
"""
SCA = "version 3\nrun General-0\nattr configname General\nscalar net sent 7\n"


@pytest.fixture(params=["hdfs", pytest.param("s3", marks=needs_s3)])
def url(request, tmp_path, monkeypatch) -> str:
    """Return a URL with %s in place of the folder."""
    store.forget_versions()
    monkeypatch.setenv("CAUSEWAY_CACHE", str(tmp_path / "cache"))
    if request.param == "s3":
        return request.getfixturevalue("s3")
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

    (tmp_path / "far").mkdir()
    far = SubTreeFileSystem(str(tmp_path / "far"), LocalFileSystem())
    monkeypatch.setattr(remote, "_filesystem", lambda *where: far)
    monkeypatch.setattr(remote.Remote, "location", property(lambda self: (tmp_path / "far" / self.inner[1:]).as_uri()))
    return "hdfs://host:9000/%s"


def values(folder: Path) -> list[tuple]:
    return sorted((row["run_id"], row["value"]) for row in store.read_arrow(folder, "scalars").to_pylist())


def test_a_url_survives_a_command_line_and_a_pickle():
    there = remote.place(Path("s3a://bucket/a b/c%2Fd?endpoint_override=127.0.0.1:9&scheme=http"))
    assert str(there) == "s3://bucket/a%20b/c/d?endpoint_override=127.0.0.1:9&scheme=http"
    assert remote.place(str(there)) == there == pickle.loads(pickle.dumps(there))
    odd = there / "runs" / f"{store.quote('a/b é')}.parquet"
    assert remote.place(str(odd)) == odd


def test_a_folder_of_this_machine_may_look_like_a_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s3:/x").mkdir(parents=True)
    assert remote.place("s3:/x") == Path("s3:/x")
    assert remote.place("run:1") == Path("run:1")
    assert remote.place("file:///tmp/a%20b") == Path("/tmp/a b")


@pytest.mark.parametrize("url", ["ftp://host/folder", "s3://", "s3a:///"])
def test_a_url_that_cannot_be_a_folder_is_refused_in_one_line(url):
    with pytest.raises(UserError) as reported:
        remote.place(url)
    assert "\n" not in str(reported.value)


def test_runs_are_committed_singly_and_in_batches_and_are_compacted(url):
    folder = remote.place(url % "a/b")
    assert store.finished_runs(folder) == set() and not store.has_run(folder, "one")
    store.write_run(folder, tables("one", 1.0))
    store.write_runs(folder, [store.conformed(tables(name, 2.0)) for name in ("two", "three/é")])
    assert store.finished_runs(folder) == {"one", "two", "three/é"} and store.has_run(folder, "two")
    before = values(folder)
    assert before == [("one", 1.0), ("three/é", 2.0), ("two", 2.0)]
    done = compact.compact(folder)
    assert (done.runs, done.files_after) == (3, 3)
    assert values(folder) == before and list(health.problems(folder)) == []
    assert store.read_table_of(folder, "samples", "two").num_rows == 1


def test_files_that_no_commit_names_are_not_read(url):
    folder = remote.place(url % "half")
    store.write_run(folder, tables("whole"))
    with store.files_for(store.to_write(folder)) as writer:
        writer.write("scalars", store.conformed(tables("half"))["scalars"])
    assert store.finished_runs(folder) == {"whole"} and [run for run, _ in values(folder)] == ["whole"]
    assert list(health.problems(folder)) == [], "another machine may be writing it just now"


def test_a_file_that_was_truncated_in_transfer_is_detected(url, tmp_path):
    """A broken connection leaves such a file on a store that completes the upload instead of dropping it."""
    folder = remote.place(url % "cut")
    for name in ("a", "b"):
        store.write_run(folder, tables(name))
    (file,) = (file for file in delta.latest(folder).files["scalars"] if file.holds("b"))
    path = folder / "tables" / file.path
    (tmp_path / "cut").write_bytes(path.read_bytes()[:-9])
    path.send(tmp_path / "cut")
    (problem,) = health.problems(folder)
    assert "run b" in problem.what
    problem.repair()
    assert store.finished_runs(folder) == {"a"} and [run for run, _ in values(folder)] == ["a"]


def test_a_writer_that_fails_leaves_nothing_behind(url):
    folder = remote.place(url % "fails")
    path = folder / "tables" / "table=scalars" / "x"
    with pytest.raises(RuntimeError), store.replacing(path) as here:
        here.write_bytes(b"half of it")
        raise RuntimeError
    assert not path.exists() and not list(path.parent.glob("*"))


@pytest.mark.slow
def test_a_run_that_two_machines_made_is_stored_once(url, monkeypatch):
    """Without locks between machines both may make the run: one of two commits for a version is refused and retried."""
    folder = remote.place(url % "twice")
    store.write_runs(folder, [store.conformed(tables(name)) for name in ("a", "b")])
    stale = delta.latest(folder)
    store.write_runs(folder, [store.conformed(tables(name)) for name in ("c", "d")])
    with monkeypatch.context() as patch:
        patch.setattr(store, "to_write", lambda folder: stale)
        store.write_runs(folder, [store.conformed(tables(name, 9.0)) for name in ("b", "c", "e")])
    assert values(folder) == [("a", 1.5), ("b", 1.5), ("c", 1.5), ("d", 1.5), ("e", 9.0)]
    assert store.count_rows(folder, "scalars") == 5 and store.count_rows(folder, "runs") == 5
    compact.compact(folder)
    assert [run for run, _ in values(folder)] == ["a", "b", "c", "d", "e"]


@pytest.mark.slow
def test_files_of_omnetpp_are_converted_into_it_continued_and_found_unchanged(url, tmp_path, monkeypatch):
    monkeypatch.setattr(convert.job, "SMALL_BYTES", 10)  # so that a part waits on the disk and is sent
    (tmp_path / "x.vec").write_text(VEC)
    (tmp_path / "x.sca").write_text(SCA)
    out, here = url % "converted", tmp_path / "here"
    for folder in (out, here):
        convert.convert([tmp_path / "x.vec", tmp_path / "x.sca"], folder)
    with (tmp_path / "x.vec").open("a") as file:
        file.write("0\t3\t1.5\t9\n")
    for folder in (out, here):
        reported = convert.convert([tmp_path / "x.vec", tmp_path / "x.sca"], folder)
        assert [file.status for file in reported.files] == ["continued", "up to date"]
    for table in schema.TABLES:
        assert store.read_arrow(remote.place(out), table) == store.read_arrow(here, table), table


def test_a_report_a_comparison_and_a_notebook_read_it(url, tmp_path):
    folder = remote.place(url % "read")
    store.write_run(folder, tables("one"))
    store.write_run(tmp_path / "here", tables("one"))
    page = report.write(folder)
    assert page.is_file() and "sent" in page.read_text() and (folder / "report" / "scalars.csv").is_file()
    assert diff(folder, tmp_path / "here").passed
    assert open_results(str(folder)).scalars()["value"].tolist() == [1.5]


READ = """
import sys
from causeway.analysis.remote import place
from causeway.analysis.spark import read_spark, session
frame = read_spark(session("local[1]"), place(sys.argv[1]), "samples").toPandas()
print(sorted(zip(frame["run_id"], frame["time_raw"])))
"""


@pytest.mark.spark
@needs_s3
def test_spark_reads_the_same_rows_without_a_jar(s3):  # noqa: F811
    """In a process of its own: Spark's workers have the credentials of the command that starts them."""
    folder = remote.place(s3 % "spark")
    store.write_runs(folder, [store.conformed(tables(name)) for name in ("a", "b")])
    store.write_run(folder, tables("c"))
    command = [sys.executable, "-c", READ, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(TOP)})
    assert done.stdout.strip() == "[('a', 5), ('b', 5), ('c', 5)]", done.stderr[-2000:]


def test_a_parquet_file_is_read_by_others(url):
    folder = remote.place(url % "others")
    store.write_run(folder, tables("one"))
    (path,) = store.files_of(folder, "scalars")
    assert pq.read_table(path.inner, filesystem=path.filesystem)["value"].to_pylist() == [1.5]
