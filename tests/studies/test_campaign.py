"""Campaigns on Spark: one simulation a task, resumable, the same tables whatever the cluster."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark
import pytest

from causeway.analysis import store
from causeway.studies import campaign
from tests.helpers.ports import free_ports

TOY = str(Path(__file__).parents[1] / "helpers" / "toy_study.py")
TOP = Path(__file__).parents[2]

WORK = """
import sys
from pathlib import Path
from causeway.studies import campaign
jobs = campaign.plan(sys.argv[1], "inline", [{"messages": int(sys.argv[4])}], 1, int(sys.argv[5]))
tally = campaign.run_on_spark(jobs, Path(sys.argv[2]), sys.argv[3], lambda tally: None)
print(tally.done, tally.skipped, len(tally.failed))
"""


def start_campaign(out: Path, master: str, runs: int, messages: int = 200) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK, TOY, str(out), master, str(messages), str(runs)]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    return subprocess.Popen(
        command, cwd=TOP, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def scalars_of(folder: Path) -> list[tuple]:
    rows = store.read_arrow(folder, "scalars").to_pylist()
    return sorted((r["run_id"], r["module"], r["name"], r["value"]) for r in rows)


def spark_class(logs: Path, environment: Mapping[str, str], cwd: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a Spark daemon in a process group of its own, so that it ends together with its executors."""
    home = Path(pyspark.__file__).parent
    log = (logs / f"{arguments[0].rsplit('.', 1)[-1]}-{time.monotonic_ns()}.log").open("wb")
    command = [str(home / "bin" / "spark-class"), *arguments]
    reported = {**environment, "SPARK_HOME": str(home)}
    return subprocess.Popen(command, env=reported, cwd=cwd, stdout=log, stderr=log, start_new_session=True)


@contextlib.contextmanager
def cluster_of(
    tmp_path: Path, environment: Mapping[str, str], cwd: Path
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a standalone cluster on loopback; yield (master URL, two workers)."""
    (port, page, *pages), daemons = free_ports(4), []
    package = "org.apache.spark.deploy"
    try:
        master_args = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        daemons.append(spark_class(tmp_path, environment, cwd, f"{package}.master.Master", *master_args))
        for i in range(2):
            worker_args = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(pages[i]))
            url = f"spark://127.0.0.1:{port}"
            dirs = ("--work-dir", str(tmp_path / f"worker{i}"))
            worker = f"{package}.worker.Worker"
            daemons.append(spark_class(tmp_path, environment, cwd, worker, *worker_args, *dirs, url))
        yield f"spark://127.0.0.1:{port}", daemons[1:]
    finally:
        for daemon in daemons:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()


@pytest.fixture
def cluster(tmp_path):
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(TOP)}
    with cluster_of(tmp_path, {**environment, "PYSPARK_PYTHON": sys.executable}, TOP) as made:
        yield made


def test_bad_parameters_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(Exception, match="bad value '0' for parameter messages"):
        campaign.plan(TOY, "inline", [{"messages": 5}, {"messages": 0}], 1, 2)


def test_an_interrupted_campaign_goes_on_where_it_stopped(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 20}], 1, 4)
    assert campaign.run_here(jobs[:2], tmp_path, lambda tally: None).done == 2
    tally = campaign.run_here(jobs, tmp_path, lambda tally: None)
    assert (tally.done, tally.skipped, tally.failed) == (2, 2, {})


def test_a_run_that_fails_is_reported_and_the_others_go_on(tmp_path):
    jobs = campaign.plan(TOY, "inline", [{"messages": 20}], 1, 2)
    jobs[0] = jobs[0].but(seed=99, engine="inlin")
    tally = campaign.run_here(jobs, tmp_path, lambda tally: None)
    assert tally.done == 1
    assert "did you mean 'inline'" in next(iter(tally.failed.values()))


@pytest.mark.spark
@pytest.mark.slow
def test_a_campaign_survives_the_death_of_a_worker(tmp_path, cluster):
    url, workers = cluster
    runs = 60
    process = start_campaign(tmp_path / "cluster", url, runs, messages=2000)
    deadline = time.monotonic() + 120
    while len(store.finished_runs(tmp_path / "cluster")) < 10:
        assert process.poll() is None, process.communicate()[1][-2000:]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert len(store.finished_runs(tmp_path / "cluster")) < runs - 5, "too fast: the worker died after the campaign"
    os.killpg(workers[0].pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[-2000:]
    assert output.split()[2] == "0"
    alone = start_campaign(tmp_path / "alone", "local[1]", runs, messages=2000)
    output, errors = alone.communicate(timeout=300)
    assert output.split() == [str(runs), "0", "0"], errors[-2000:]
    assert scalars_of(tmp_path / "cluster") == scalars_of(tmp_path / "alone")
    assert len(store.finished_runs(tmp_path / "cluster")) == runs
