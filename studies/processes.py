"""A campaign in processes of this machine, without Java.

This process hands out runs and lands what comes back, many runs at once; the workers only simulate, and live for the
whole campaign. Each is a pool of one process: where it dies, it is known which run it was at, and that run is tried
once more. A run's lock is held from before it starts until it has landed, so that other commands on the same folder
leave it alone. A worker dies with this process, however that dies, and its simulator with it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from causeway.analysis import compact, health, locks, store
from causeway.bridge.errors import UserError
from causeway.studies import worker
from causeway.studies.campaign import Tally, Watch, told
from causeway.studies.description import describe_in
from causeway.studies.runner import Job

LAND_AFTER_S = 1.0
"""What has come back lands at the latest so long after the first of it: a kill loses no more than that."""
LAND_RUNS = 500
_LAND_BYTES = 64 << 20
_PATIENCE_S = 5.0
_TRIES = 2
"""A run whose process dies is tried again: the machine may have been short of memory for a moment."""


@dataclass
class _Worker:
    """A process that does one run after the other."""

    pool: ProcessPoolExecutor
    process: BaseProcess | None = None


@dataclass
class _Given:
    """A run that a worker is at."""

    job: Job
    worker: _Worker
    lock: int
    tries: int


@dataclass
class _Waiting:
    """Runs that came back and have not landed."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    locks: list[tuple[int, Path]] = field(default_factory=list)
    bytes: int = 0
    since: float = 0.0


def run_in_processes(jobs: Iterable[Job], out: Path, count: int, watch: Watch) -> Tally:
    """Run jobs in `count` processes; what another command is just doing comes last."""
    return _Campaign(list(jobs), out, watch).work(count)


class _Campaign:
    def __init__(self, jobs: list[Job], out: Path, watch: Watch) -> None:
        self.out, self.watch, self.tally = out, watch, Tally(len(jobs))
        self.todo, self.busy = deque(jobs), deque[Job]()
        self.waiting = _Waiting()
        self.running: dict[Future[worker.Done], _Given] = {}
        self.idle: list[_Worker] = []
        self.described: set[str] = set()

    def work(self, count: int) -> Tally:
        health.sweep(self.out)
        try:
            self._give_out(count)
            while self.running or self.todo or self.busy:
                self._step(count)
        finally:
            self._land()
            self._stop()
        compact.compact_if_many(self.out)
        self._tell()
        return self.tally

    def _give_out(self, count: int) -> None:
        """Give every free worker a run. A job is looked for before a process starts: what is done costs none."""
        while len(self.running) < count and (found := self._next()) is not None:
            job, lock = found
            if job.study.name not in self.described:
                describe_in(self.out, job.study)
                self.described.add(job.study.name)
            self._give(job, lock, 1)

    def _next(self) -> tuple[Job, int] | None:
        """Return a job that is neither done nor another command's, and its lock, which is ours."""
        while self.todo:
            job = self.todo.popleft()
            lock = locks.take(self._lock_path(job), wait=False)
            if lock is None:
                self.busy.append(job)
            elif store.has_run(self.out, job.run_id):
                _release(lock, self._lock_path(job))
                self.tally.skipped += 1
            else:
                return job, lock
        return None

    def _give(self, job: Job, lock: int, tries: int) -> None:
        at = self.idle.pop() if self.idle else _Worker(_pool())
        before = set(multiprocessing.active_children())
        try:
            future = at.pool.submit(worker.simulate, job, str(self.out))
        except BrokenProcessPool:  # it died while it was idle
            self._give(job, lock, tries)
            return
        at.process = at.process or next(iter(set(multiprocessing.active_children()) - before), None)
        self.running[future] = _Given(job, at, lock, tries)

    def _step(self, count: int) -> None:
        """Hear what is done, give out more, and land what is due."""
        if not self.running and self.busy and not self.todo:  # only what another command is at
            time.sleep(0.2)
            self.todo, self.busy = self.busy, deque()
        left = LAND_AFTER_S - (time.monotonic() - self.waiting.since) if self.waiting.runs else LAND_AFTER_S
        for future in wait(self.running, max(0.0, left), FIRST_COMPLETED).done:
            self._hear(future)
        self._give_out(count)
        if self._is_due():
            self._land()
        self._tell()

    def _is_due(self) -> bool:
        waiting = self.waiting
        late = bool(waiting.runs) and time.monotonic() - waiting.since >= LAND_AFTER_S
        return late or len(waiting.runs) >= LAND_RUNS or waiting.bytes > _LAND_BYTES

    def _hear(self, future: Future[worker.Done]) -> None:
        given = self.running.pop(future)
        job, error = given.job, future.exception()
        if not isinstance(error, BrokenProcessPool):
            self.idle.append(given.worker)
        elif given.tries < _TRIES and not store.has_run(self.out, job.run_id):
            self._give(job, given.lock, given.tries + 1)
            return
        problem, found, tables = _answer(future, given.worker)
        if problem and not store.has_run(self.out, job.run_id):
            self.tally.failed[job.run_id] = problem
            _release(given.lock, self._lock_path(job))
            return
        self.tally.done += 1
        if found:
            self.tally.found[job.run_id] = found
        if tables is None:  # it was large, and has landed
            _release(given.lock, self._lock_path(job))
            return
        if not self.waiting.runs:
            self.waiting.since = time.monotonic()
        self.waiting.runs.append(tables)
        self.waiting.locks.append((given.lock, self._lock_path(job)))
        self.waiting.bytes += sum(table.nbytes for table in tables.values())

    def _land(self) -> None:
        waiting, self.waiting = self.waiting, _Waiting()
        try:
            store.land_runs(self.out, waiting.runs)
        finally:
            for lock, path in waiting.locks:
                _release(lock, path)

    def _lock_path(self, job: Job) -> Path:
        return store.lock_path(self.out, store.quote(job.run_id))

    def _tell(self) -> None:
        self.tally.running = len(self.running)
        self.watch(self.tally)

    def _stop(self) -> None:
        """End the workers; those in the middle of a run at once."""
        for given in self.running.values():
            if given.worker.process is not None:
                given.worker.process.kill()
        for one in [*self.idle, *(given.worker for given in self.running.values())]:
            one.pool.shutdown(cancel_futures=True)
        for given in self.running.values():
            _release(given.lock, self._lock_path(given.job))
        self.running.clear()


def _release(lock: int, path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)  # while it is still ours
    os.close(lock)


def _pool() -> ProcessPoolExecutor:
    """A process of its own, not a copy of this one: that may have threads and open connections."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, spawn, initializer=worker.start, initargs=(os.getpid(),))


def _answer(future: Future[worker.Done], at: _Worker) -> worker.Done:
    """Return what a worker answered, or why it could not."""
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, BrokenProcessPool):
        return (told(error) if isinstance(error, Exception) else repr(error)), {}, None
    how = f"it died {_TRIES} times"
    if at.process is not None:
        at.process.join(_PATIENCE_S)
        status = at.process.exitcode
        if status is not None:
            how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"the process that ran it died, {_TRIES} times ({how}); if memory is short, say a smaller --jobs", {}, None


def processes_for(jobs: Sequence[Job], wished: int | None) -> int:
    """Return how many processes a campaign gets: as many as wished, or as there are cores, but no more than runs."""
    if wished is not None and wished < 1:
        raise UserError(f"--jobs {wished}: at least one process is needed")
    return min(len(jobs), wished or len(os.sched_getaffinity(0)))
