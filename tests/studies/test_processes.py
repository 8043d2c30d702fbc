"""Campaigns in processes have the same tables as in one process, whatever process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.analysis import health, locks, store
from causeway.errors import UserError
from causeway.studies import campaign, processes
from tests.helpers.kills import wait_for

TOP = Path(__file__).parents[2]
TOY = str(TOP / "tests" / "helpers" / "toy_study.py")
WORK = """
import sys
from pathlib import Path
from causeway.studies import campaign, processes
from tests.helpers.kills import wait_for
jobs = campaign.plan(sys.argv[1], "inline", [{"messages": int(sys.argv[3])}], 1, int(sys.argv[4]))
tally = processes.run_in_processes(jobs, Path(sys.argv[2]), 2, lambda tally: None)
print(tally.done, tally.skipped, len(tally.failed))
"""


def start(out: Path, messages: int, runs: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORK, TOY, str(out), str(messages), str(runs)], cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(TOP)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def rows(folder: Path) -> dict[str, list[str]]:
    left_out = {"runs": ["started_at", "wall_s"]}
    return {
        name: sorted(map(str, store.read_pandas(folder, name).drop(columns=left_out.get(name, [])).values.tolist()))
        for name in ("runs", "parameters", "scalars", "vectors", "samples")
    }


def workers_of(pid: int) -> list[int]:
    """Return the processes that a campaign simulates in, of all children that this process has."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.slow
def test_processes_give_the_same_tables_as_one_after_the_other(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 20}, {"messages": 30}], 1, 8)
    campaign.run_here(jobs, tmp_path / "one", lambda tally: None)
    seen = []
    tally = processes.run_in_processes(jobs, tmp_path / "two", 2, lambda tally: seen.append(tally.done))
    assert (tally.done, tally.skipped, tally.failed) == (16, 0, {}) and seen == sorted(seen)
    assert rows(tmp_path / "one") == rows(tmp_path / "two")
    assert set(tally.found) == {job.run_id for job in jobs}
    assert list(health.problems(tmp_path / "two")) == []
    again = processes.run_in_processes(jobs, tmp_path / "two", 2, lambda tally: None)
    assert (again.done, again.skipped) == (0, 16)
    assert len(list((tmp_path / "two" / "tables" / "table=runs").iterdir())) < 8, "many runs a file"


@pytest.mark.slow
def test_a_killed_command_loses_no_committed_run_and_leaves_no_process(tmp_path):
    process = start(tmp_path, 2000, 100)
    try:
        assert wait_for(lambda: store.finished_runs(tmp_path))
        workers = workers_of(process.pid)
        assert len(workers) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wait_for(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in workers), 10)
        landed = store.finished_runs(tmp_path)
        assert landed and len(landed) < 100
    finally:
        process.kill()
        process.communicate()
    done = start(tmp_path, 2000, 100).communicate(timeout=300)[0].split()
    assert int(done[0]) + int(done[1]) == 100 and int(done[1]) >= len(landed) and done[2] == "0"
    assert len(store.finished_runs(tmp_path)) == 100 and len(store.read_pandas(tmp_path, "runs")) == 100


@pytest.mark.slow
def test_a_run_whose_worker_was_killed_is_repeated(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 3000}], 1, 16)
    killed = []

    def watch(tally):
        if tally.done >= 2 and not killed:
            killed.append(workers_of(os.getpid())[-1])
            os.kill(killed[0], signal.SIGKILL)

    tally = processes.run_in_processes(jobs, tmp_path, 2, watch)
    assert killed and (tally.done, tally.failed) == (16, {})
    assert len(store.finished_runs(tmp_path)) == len(store.read_pandas(tmp_path, "runs")) == 16


LEAVES = """
import os, sys
sys.path.insert(0, {top!r})
from tests.helpers.toy_study import ToyStudy
class LeavesStudy(ToyStudy):
    name = "leaves"
    def network(self, params, seed):
        if seed == 2:
            {how}
        return super().network(params, seed)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("os._exit(0)", "OutsideError: os._exit in study leaves would leave the simulation"),
        ("os.kill(os.getpid(), 9)", "its process died 2 times (killed by SIGKILL); if memory is scarce"),
    ],
)
def test_a_run_that_ends_its_process_fails_by_name_and_the_others_go_on(tmp_path, how, why):
    study = tmp_path / "leaves.py"
    study.write_text(LEAVES.format(how=how, top=str(TOP)))
    jobs = campaign.plan(str(study), "inline", [{}], 1, 5)
    tally = processes.run_in_processes(jobs, tmp_path / "out", 2, lambda tally: None)
    assert tally.done == 4 and list(tally.failed) == [jobs[1].run_id]
    assert tally.failed[jobs[1].run_id].startswith(why)
    assert list(health.problems(tmp_path / "out")) == []


@pytest.mark.slow
def test_an_interrupt_keeps_the_finished_runs(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 500}], 1, 60)

    def watch(tally):
        if tally.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        processes.run_in_processes(jobs, tmp_path, 2, watch)
    assert 5 <= len(store.finished_runs(tmp_path)) < 60 and workers_of(os.getpid()) == []
    assert list(health.problems(tmp_path)) == []


@pytest.mark.slow
def test_runs_of_another_command_come_last(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 20}], 1, 4)
    held = locks.take(store.lock_path(tmp_path, store.quote(jobs[0].run_id)), wait=False)
    assert held is not None

    def watch(tally):
        if tally.done == 3 and len(store.finished_runs(tmp_path)) == 3:
            free.append(os.close(held)) if not free else None

    free: list[None] = []
    assert processes.run_in_processes(jobs, tmp_path, 2, watch).done == 4 and free


def test_the_number_of_processes_is_checked():
    jobs = campaign.plan(TOY, "inline", [{"messages": 20}], 1, 3)
    assert processes.processes_for(jobs, 8) == 3 and processes.processes_for(jobs[:1], None) == 1
    with pytest.raises(UserError, match="at least 1"):
        processes.processes_for(jobs, 0)
