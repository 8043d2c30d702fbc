"""One writer a run, and a run counts as finished only with all that its row names: the interleavings that lost runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from causeway.analysis import health, locks, remains, store
from causeway.cli.doctor import look_over
from causeway.studies import campaign
from tests.analysis.test_store import tables

TOP = Path(__file__).parents[2]
TOY = str(TOP / "tests" / "worlds" / "toy_study.py")
HOLD = """
import sys, time
from pathlib import Path
from causeway.analysis import store
with store.writing(Path(sys.argv[1]), sys.argv[2]) as mine:
    path = Path(sys.argv[1]) / "tables" / "scalars" / "x.parquet"
    with store.landing(path) as temporary:
        temporary.write_bytes(b"half")
        print(mine, flush=True)
        time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that holds the lock of run `r` and has a table half written."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), "r"], cwd=TOP, env={**os.environ, "PYTHONPATH": str(TOP)},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "True\n"
    yield process
    process.kill()
    process.communicate()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_command_killed_between_anothers_tables_and_its_row_does_not_lose_the_run(tmp_path, monkeypatch):
    """Even where a file system has no locks: B begins the run anew, removes A's tables and dies; A lands its row."""
    write_table = store.write_table

    def interleaved(path, table):
        if path.parent.name == "runs":
            store.forget_run(tmp_path, "r")
        return write_table(path, table)

    monkeypatch.setattr(store, "write_table", interleaved)
    store.write_run(tmp_path, tables("r"))
    monkeypatch.undo()
    assert store.table_path(tmp_path, "runs", "r").exists()
    assert not store.has_run(tmp_path, "r") and store.finished_runs(tmp_path) == set()
    assert store.read_arrow(tmp_path, "runs").num_rows == 0
    store.write_run(tmp_path, tables("r"))
    assert store.has_run(tmp_path, "r")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_a_runs_file_that_holds_nothing_is_not_a_finished_run(tmp_path, content):
    store.write_run(tmp_path, tables("whole"))
    store.write_run(tmp_path, tables("r"))
    store.table_path(tmp_path, "runs", "r").write_bytes(content)
    assert not store.has_run(tmp_path, "r")
    assert store.finished_runs(tmp_path) == {"whole"}
    assert store.read_arrow(tmp_path, "scalars")["run_id"].to_pylist() == ["whole"]
    assert set(remains.unfinished(tmp_path)) == {"r"}


@pytest.mark.parametrize("change", ["unlink", "cut"])
def test_a_run_whose_table_is_gone_or_cut_is_not_finished(tmp_path, change):
    store.write_run(tmp_path, tables("r"))
    path = store.table_path(tmp_path, "samples", "r")
    if change == "unlink":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    assert not store.has_run(tmp_path, "r") and store.finished_runs(tmp_path) == set()


def test_a_run_from_before_rows_named_their_parts_is_finished(tmp_path):
    import pyarrow.parquet as pq

    store.write_run(tmp_path, tables("r"))
    path = store.table_path(tmp_path, "runs", "r")
    pq.write_table(pq.read_table(path).drop_columns(["parts"]), path)
    assert store.has_run(tmp_path, "r") and store.finished_runs(tmp_path) == {"r"}
    assert store.read_arrow(tmp_path, "runs").to_pylist()[0]["parts"] is None


def test_only_one_writer_has_a_run_and_its_lock_dies_with_it(tmp_path, holder):
    with store.writing(tmp_path, "r", wait=False) as mine:
        assert not mine
    with store.writing(tmp_path, "s", wait=False) as mine:
        assert mine, "another run is free"
    kill(holder)
    with store.writing(tmp_path, "r", wait=False) as mine:
        assert mine
    assert list((tmp_path / ".locks").iterdir()) == []


def test_sweeping_takes_what_a_dead_writer_left_and_nothing_of_a_living_one(tmp_path, holder):
    (half,) = (tmp_path / "tables" / "scalars").iterdir()
    assert remains.sweep(tmp_path) == [] and half.exists()
    kill(holder)
    swept = remains.sweep(tmp_path)
    assert {path.suffix for path in swept} == {".part", ".lock"} and not half.exists()


def test_a_lock_that_is_removed_while_somebody_waits_for_it_still_excludes(tmp_path):
    path, inside, most = tmp_path / "l.lock", [], []

    def work() -> None:
        for _ in range(100):
            with locks.held(path, wait=True) as mine:
                assert mine
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 400 and max(most) == 1


def test_two_commands_share_the_runs_of_a_folder_and_each_is_done_once(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 20}], 1, 12)
    tallies = []
    threads = [
        threading.Thread(target=lambda: tallies.append(campaign.run_here(jobs, tmp_path, lambda tally: None)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sum(tally.done for tally in tallies) == 12
    assert [tally.done + tally.skipped for tally in tallies] == [12, 12]
    assert len(store.finished_runs(tmp_path)) == 12 and health.problems(tmp_path) == []


def test_a_campaign_waits_for_the_run_of_another_command_and_does_it_when_that_one_dies(tmp_path, holder):
    job = campaign.plan(TOY, "inline", [{"messages": 20}], 1, 2)
    held = locks.take(store.lock_path(tmp_path, store.quote(job[0].run_id)), wait=False)
    assert held is not None
    tallies = []
    thread = threading.Thread(target=lambda: tallies.append(campaign.run_here(job, tmp_path, lambda tally: None)))
    thread.start()
    deadline = time.monotonic() + 60
    while not store.has_run(tmp_path, job[1].run_id) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert store.finished_runs(tmp_path) == {job[1].run_id}, "the free one is done meanwhile"
    os.close(held)  # as if its owner died
    thread.join(60)
    assert tallies[0].done == 2 and store.has_run(tmp_path, job[0].run_id)


def broken_folder(folder: Path) -> None:
    for run_id in ("whole", "no row", "empty row", "lost table", "flipped"):
        store.write_run(folder, tables(run_id))
    store.table_path(folder, "runs", "no row").unlink()
    store.table_path(folder, "runs", "empty row").write_bytes(b"")
    store.table_path(folder, "scalars", "lost table").unlink()
    flipped = store.table_path(folder, "scalars", "flipped")
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 1
    flipped.write_bytes(data)
    (folder / "tables" / "samples" / ".0123.part").write_bytes(b"half")
    (folder / ".locks").mkdir(exist_ok=True)
    (folder / ".locks" / "gone.lock").touch()
    (folder / "studies").mkdir()
    (folder / "studies" / "s.json").write_text("{")


def test_the_doctor_finds_every_damage_and_mends_it(tmp_path):
    broken_folder(tmp_path)
    console = Console(quiet=True)
    told = "\n".join(problem.what for problem in health.problems(tmp_path))
    for words in (
        "run no row: stopped before its row", "run empty row: its row in `runs` is damaged",
        "run lost table: scalars missing or cut short", "run flipped: scalars changed since", ".0123.part",
        "gone.lock", "s.json does not describe a study",
    ):  # fmt: skip
        assert words in told, words
    assert len(told.splitlines()) == 7, "and nothing that is whole"
    assert look_over(tmp_path, False, console) == 1
    assert len(health.problems(tmp_path)) == 7, "looking changes nothing"
    assert look_over(tmp_path, True, console) == 0
    assert health.problems(tmp_path) == [] and store.finished_runs(tmp_path) == {"whole"}
    assert look_over(tmp_path, False, console) == 0


def test_the_doctor_leaves_alone_what_is_being_written(tmp_path, holder):
    store.write_table(store.table_path(tmp_path, "scalars", "r"), store.read_arrow(tmp_path, "scalars"))
    assert health.problems(tmp_path) == []
    kill(holder)
    assert [problem.what for problem in health.problems(tmp_path)][-1] == "run r: stopped before its row in `runs`"


def test_a_converted_run_that_is_damaged_is_converted_again_after_the_doctor(tmp_path):
    from causeway.analysis.convert import convert

    source, out = tmp_path / "r.sca", tmp_path / "out"
    source.write_text("version 3\nrun R-1\nattr configname Base\n\nscalar a b 1\n")
    convert([source], out)
    next((out / "tables" / "scalars").rglob("*.parquet")).write_bytes(b"")
    assert store.finished_runs(out) == set() and len(health.problems(out)) == 1
    look_over(out, True, Console(quiet=True))
    assert not list((out / "tables").rglob("*.parquet"))
    assert convert([source], out).files[0].status == "converted"
    assert store.finished_runs(out) == {"R-1"} and health.problems(out) == []
