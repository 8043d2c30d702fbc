"""Campaigns: many runs, points x repetitions. `plan` makes the jobs.

`run_here` runs them one after the other in this process, `run_on_spark` as Spark tasks with one simulation each, and
`processes.py` in several processes of this machine.

A run is committed to the result folder as a whole or not at all, and a committed run is never repeated: an interrupted
campaign continues where it stopped. Commands that work on one folder at the same time share the work, since each run
has one writer, which holds its lock. On a cluster, every worker must be able to access the folder.
"""

from __future__ import annotations

import re
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway.analysis import compact, health, store
from causeway.analysis.remote import place
from causeway.errors import FULL, RunError, UserError
from causeway.studies import second_run
from causeway.studies.describe import describe, describe_in
from causeway.studies.external_project import Planned
from causeway.studies.registry import Resolved
from causeway.studies.runner import Job, RunResult, run_job
from causeway.toolchain.installation import cache_dir
from causeway.toolchain.user_file import describe_user_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.studies.shipped import Shipped


@dataclass
class Tally:
    """The progress of a campaign: numbers of runs by state, and the results and errors so far."""

    total: int
    done: int = 0
    running: int = 0
    skipped: int = 0
    """Runs that were already in the folder."""
    failed: dict[str, str] = field(default_factory=dict)
    """run id -> error message"""
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    """run id -> `summary` of the run, for runs of this command"""


Watch = Callable[[Tally], None]


def plan(
    name: str, engine: str, points: Sequence[Mapping[str, Any]], seed: int, repetitions: int, cap: int = 0
) -> list[Job]:
    """Return the jobs of a campaign: every point with seeds `seed`, `seed` + 1, ..., without duplicates.

    Raises:
        UserError: The study or a parameter is not valid.
    """
    return plan_seeds(name, engine, points, range(seed, seed + repetitions), cap)


def plan_seeds(
    source: str | Resolved, engine: str, points: Sequence[Mapping[str, Any]], seeds: Sequence[int], cap: int = 0
) -> list[Job]:
    """Return the jobs of a campaign: every point with every seed, without duplicates."""
    jobs = []
    for point in points:
        first = Job(source, point, seeds[0], engine, cap)
        jobs += [first.but(seed=seed) for seed in seeds]
    return list({(job.point, job.seed): job for job in jobs}.values())


def plan_for(
    name: str, engine: str, planned: Sequence[Planned], seed: int, repetitions: int, cap: int = 0
) -> list[Job]:
    """Return the jobs of a configuration of an INET project.

    A configuration with a single run is repeated with seeds `seed`, `seed` + 1, ...; one with several runs has its own
    seeds.
    """
    if len(planned) > 1 and repetitions > 1:
        raise UserError("the configuration sets the number of repetitions (repeat = ...); omit --reps")
    jobs = []
    for plan_ in planned:
        seeds = range(seed, seed + repetitions) if plan_.seed is None else (plan_.seed,)
        first = Job(name, plan_.settings, seeds[0], engine, cap, external=plan_.external)
        jobs += [first.but(seed=each) for each in seeds]
    return list({(job.point, job.seed): job for job in jobs}.values())


def summary(result: RunResult) -> dict[str, Any]:
    """Return the results of a run that a command prints."""
    run = {name: column[0] for name, column in result.tables["runs"].items()}
    shown = {name: run[name] for name in ("study", "engine_version", "digest", "wall_s")}
    nodes = list(result.outcome.finish.nodes.values())
    return shown | {"scalars": result.scalars, "nodes": nodes, "warnings": list(result.warnings)}


def run_here(
    jobs: Iterable[Job], out: Path, watch: Watch, each: Callable[[RunResult], None] | None = None, **kwargs: Any
) -> Tally:
    """Run jobs one after the other in this process. Runs that another command is working on come last.

    Args:
        jobs: The runs.
        out: The result folder.
        watch: Called with the tally after each change.
        each: Called with the results of every run of this command.
        kwargs: Passed to `run_job`.
    """
    todo = list(jobs)
    tally = Tally(len(todo))
    health.sweep(out)
    busy = [job for job in todo if not _run_one(job, out, tally, watch, each, wait=False, **kwargs)]
    for job in busy:
        _run_one(job, out, tally, watch, each, wait=True, **kwargs)
    compact.compact_if_many(out)
    return tally


def _run_one(
    job: Job, out: Path, tally: Tally, watch: Watch, each: Callable[[RunResult], None] | None, wait: bool, **kwargs: Any
) -> bool:
    """Run one job, unless its run is in the folder. Return False if another command is working on it."""
    with store.writing(out, job.run_id, wait) as locked:
        if not locked and not store.has_run(out, job.run_id):
            return False
        if store.has_run(out, job.run_id):
            tally.skipped += 1
            watch(tally)
            return True
        tally.running = 1
        watch(tally)
        try:
            describe(job.study)  # computed and cached before the run, since the study's files may change during it
            result = second_run.checked(job, run_job(job, **kwargs))
        except MemoryError:
            tally.failed[job.run_id] = "this machine has too little memory for the run; choose smaller parameters"
        except Exception as error:
            tally.failed[job.run_id] = error_message(error)
        else:
            commit_runs(out, result)
            tally.done += 1
            tally.found[job.run_id] = summary(result)
            if each is not None:
                each(result)
        tally.running = 0
        watch(tally)
    return True


def commit_runs(out: Path, result: RunResult) -> None:
    """Commit a run to a result folder, after the description of its study."""
    describe_in(out, result.job.study)
    store.write_run(out, result.tables)


def run_on_spark(jobs: Iterable[Job], out: Path, master: str | SparkSession, watch: Watch) -> Tally:
    """Run jobs as Spark tasks. Spark retries a task whose worker is lost; a run that fails is reported, not retried.

    Args:
        jobs: The runs.
        out: The result folder, which every worker must be able to access.
        master: The URL of a Spark master, or an existing session, whose settings are left as they are.
        watch: Called with the tally after each change.

    Raises:
        UserError: The Python of a worker lacks a module.
    """
    from causeway.analysis import spark
    from causeway.studies import shipped

    todo = list(jobs)
    tally = Tally(len(todo))
    health.sweep(out)
    left = [job for job in todo if not store.has_run(out, job.run_id)]
    tally.skipped = len(todo) - len(left)
    watch(tally)
    if not left:
        return tally
    session = spark.session(master, spark_task_maxFailures="8")
    finished = threading.Event()
    watcher = threading.Thread(target=_watch_folder, args=(session, left, out, tally, watch, finished), daemon=True)
    watcher.start()
    try:
        shipped_jobs = shipped.send(session, left)
        tasks = session.sparkContext.parallelize(shipped_jobs, len(left))
        outcomes = tasks.map(_Task(str(out.resolve()))).collect()
    except Exception as error:
        if found := re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", str(error)):
            raise UserError(
                f"the Python of a worker has no module {found[1]}: install Causeway's wheel there, or at least what "
                f"it depends on, or set PYSPARK_PYTHON to another Python"
            ) from None
        raise
    finally:
        finished.set()
        watcher.join()
    tally.failed = {run_id: error for run_id, error, _ in outcomes if error}
    tally.found = {run_id: found for run_id, _, found in outcomes if found}
    tally.done, tally.running = len(left) - len(tally.failed), 0
    watch(tally)
    compact.compact_if_many(out)
    return tally


@dataclass(frozen=True)
class _Task:
    """One simulation, on a worker. If a task is repeated after its run was committed, it does nothing."""

    out: str

    def __call__(self, sent: Shipped) -> tuple[str, str, dict[str, Any]]:
        from causeway.studies import shipped

        job, tally = shipped.receive(sent), Tally(1)
        _run_one(job, place(self.out), tally, lambda tally: None, None, wait=True)
        return job.run_id, tally.failed.get(job.run_id, ""), tally.found.get(job.run_id, {})


def error_message(error: Exception) -> str:
    """Return the error message of a failed run. The message of an unexpected exception contains the traceback."""
    if isinstance(error, RunError | UserError):
        return str(error)
    if isinstance(error, OSError) and error.errno in FULL:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}; free some space for the results and for the cache folder, {cache_dir()}"
    return describe_user_error(error) or "".join(traceback.format_exception(error)).rstrip()


def _watch_folder(
    session: Any, jobs: list[Job], out: Path, tally: Tally, watch: Watch, finished: threading.Event
) -> None:
    """Update the tally while Spark works: committed runs are done, Spark's active tasks are running."""
    ours = {job.run_id for job in jobs}
    tracker = session.sparkContext.statusTracker()
    while not finished.wait(0.5):
        tally.done = len(ours & store.finished_runs(out))  # reads the folder once for all of the remaining runs
        tally.running = sum(
            info.numActiveTasks
            for stage in tracker.getActiveStageIds()
            if (info := tracker.getStageInfo(stage)) is not None
        )
        watch(tally)


def time_left_s(tally: Tally, began: float) -> float | None:
    """Estimate the time for the rest of a campaign from the finished runs; None while there are none."""
    done = tally.done + len(tally.failed)
    if not done:
        return None
    return (time.monotonic() - began) / done * (tally.total - tally.skipped - done)
