"""Each run has one writer: locks, and commands that share a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from causeway.analysis import health, locks, store
from causeway.studies import campaign

TOP = Path(__file__).parents[2]
TOY = str(TOP / "tests" / "helpers" / "toy_study.py")
HOLD = """
import sys, time
from pathlib import Path
from causeway.analysis import store
with store.writing(Path(sys.argv[1]), sys.argv[2]) as mine:
    path = Path(sys.argv[1]) / "tables" / "table=scalars" / "x.parquet"
    with store.replacing(path) as temporary:
        temporary.write_bytes(b"half")
        print(mine, flush=True)
        time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Start a process that holds the lock of run `r` and has half written a table."""
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


def test_only_one_writer_has_a_run_and_its_lock_dies_with_it(tmp_path, holder):
    with store.writing(tmp_path, "r", wait=False) as mine:
        assert not mine
    with store.writing(tmp_path, "s", wait=False) as mine:
        assert mine, "another run is free"
    kill(holder)
    with store.writing(tmp_path, "r", wait=False) as mine:
        assert mine
    assert list((tmp_path / ".locks").iterdir()) == []


def test_sweeping_removes_files_of_dead_writers_only(tmp_path, holder):
    (half,) = (tmp_path / "tables" / "table=scalars").iterdir()
    assert health.sweep(tmp_path) == [] and half.exists()
    kill(holder)
    swept = health.sweep(tmp_path)
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
    assert len(store.finished_runs(tmp_path)) == 12 and list(health.problems(tmp_path)) == []


def test_a_campaign_waits_for_the_run_of_another_command_and_takes_over_when_that_dies(tmp_path, holder):
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
