"""Execute a campaign in several processes of this machine, without Java (`run_in_processes`).

This process distributes runs and commits their results, many runs at once; the workers (worker.py) only simulate, and
live for the whole campaign. Each worker is a pool of one process, so if it dies, its run is known and is tried once
more. A run's lock is held from before its start until it is committed, so that other commands on the same folder skip
it. A worker and its simulator end with this process, even if this process is killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from causeway.analysis import compact, health, locks, store
from causeway.errors import UserError
from causeway.studies import worker
from causeway.studies.campaign import Tally, Watch, error_message
from causeway.studies.describe import describe_in
from causeway.studies.runner import Job

COMMIT_AFTER_S = 1.0
"""The longest time from the arrival of a result to its commit. If the command is killed, little is lost."""
COMMIT_RUNS = 500
"""The number of waiting runs at which results are committed earlier."""
_COMMIT_BYTES = 64 << 20
"""The size in memory of waiting runs at which results are committed earlier."""
_REAP_S = 5.0
"""The maximum time to wait for the exit status of a dead worker. After it, the status counts as unknown."""
_TRIES = 2
"""The number of attempts. A run whose process dies is tried again, since memory may have been short for a moment."""


@dataclass
class _Worker:
    """A process that executes runs one after the other."""

    pool: ProcessPoolExecutor
    process: BaseProcess | None = None


@dataclass
class _Dispatched:
    """A run that a worker is executing, and its lock."""

    job: Job
    worker: _Worker
    lock: int
    tries: int


@dataclass
class _Waiting:
    """Runs that are finished but not yet committed."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    locks: list[tuple[int, Path]] = field(default_factory=list)
    bytes: int = 0
    since: float = 0.0


def run_in_processes(jobs: Iterable[Job], out: Path, count: int, watch: Watch) -> Tally:
    """Run jobs in `count` processes. Runs that another command is working on come last."""
    return _Campaign(list(jobs), out, watch).work(count)


class _Campaign:
    """The state of a campaign: jobs to do, running and finished ones, and the workers."""

    def __init__(self, jobs: list[Job], out: Path, watch: Watch) -> None:
        self.out, self.watch, self.tally = out, watch, Tally(len(jobs))
        self.todo, self.busy = deque(jobs), deque[Job]()
        self.waiting = _Waiting()
        self.running: dict[Future[worker.Done], _Dispatched] = {}
        self.idle: list[_Worker] = []
        self.described: set[str] = set()

    def work(self, count: int) -> Tally:
        """Run all jobs. Commit the finished runs and end the workers, also after an error."""
        health.sweep(self.out)
        try:
            self._dispatch_all(count)
            while self.running or self.todo or self.busy:
                self._step(count)
        finally:
            self._commit()
            self._stop()
        compact.compact_if_many(self.out)
        self._report()
        return self.tally

    def _dispatch_all(self, count: int) -> None:
        """Give every free worker a run. A process is started only for a run that is not done yet."""
        while len(self.running) < count and (found := self._next()) is not None:
            job, lock = found
            if job.study.name not in self.described:
                describe_in(self.out, job.study)
                self.described.add(job.study.name)
            self._dispatch(job, lock, 1)

    def _next(self) -> tuple[Job, int] | None:
        """Take the lock of the next job that is neither done nor locked by another command. Return both."""
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

    def _dispatch(self, job: Job, lock: int, tries: int) -> None:
        at = self.idle.pop() if self.idle else _Worker(_pool())
        before = set(multiprocessing.active_children())
        try:
            with _interrupts_wait():
                future = at.pool.submit(worker.simulate, job, str(self.out))
        except BrokenProcessPool:  # the process died while it was idle
            self._dispatch(job, lock, tries)
            return
        at.process = at.process or next(iter(set(multiprocessing.active_children()) - before), None)
        self.running[future] = _Dispatched(job, at, lock, tries)

    def _step(self, count: int) -> None:
        """Wait for a worker, collect finished runs, start more, and commit if it is time."""
        if not self.running and self.busy and not self.todo:  # the remaining runs belong to another command
            time.sleep(0.2)
            self.todo, self.busy = self.busy, deque()
        left = COMMIT_AFTER_S - (time.monotonic() - self.waiting.since) if self.waiting.runs else COMMIT_AFTER_S
        for future in wait(self.running, max(0.0, left), FIRST_COMPLETED).done:
            self._collect(future)
        self._dispatch_all(count)
        if self._is_due():
            self._commit()
        self._report()

    def _is_due(self) -> bool:
        waiting = self.waiting
        late = bool(waiting.runs) and time.monotonic() - waiting.since >= COMMIT_AFTER_S
        return late or len(waiting.runs) >= COMMIT_RUNS or waiting.bytes > _COMMIT_BYTES

    def _collect(self, future: Future[worker.Done]) -> None:
        """Collect a finished run, or try it again if its worker has died."""
        given = self.running.pop(future)
        job, error = given.job, future.exception()
        if not isinstance(error, BrokenProcessPool):
            self.idle.append(given.worker)
        elif given.tries < _TRIES and not store.has_run(self.out, job.run_id):
            self._dispatch(job, given.lock, given.tries + 1)
            return
        problem, found, tables = _answer(future, given.worker)
        if problem and not store.has_run(self.out, job.run_id):
            self.tally.failed[job.run_id] = problem
            _release(given.lock, self._lock_path(job))
            return
        self.tally.done += 1
        if found:
            self.tally.found[job.run_id] = found
        if tables is None:  # the worker itself has committed the run, because it was large
            _release(given.lock, self._lock_path(job))
            return
        if not self.waiting.runs:
            self.waiting.since = time.monotonic()
        self.waiting.runs.append(tables)
        self.waiting.locks.append((given.lock, self._lock_path(job)))
        self.waiting.bytes += sum(table.nbytes for table in tables.values())

    def _commit(self) -> None:
        waiting, self.waiting = self.waiting, _Waiting()
        try:
            store.write_runs(self.out, waiting.runs)
        finally:
            for lock, path in waiting.locks:
                _release(lock, path)

    def _lock_path(self, job: Job) -> Path:
        return store.lock_path(self.out, store.quote(job.run_id))

    def _report(self) -> None:
        self.tally.running = len(self.running)
        self.watch(self.tally)

    def _stop(self) -> None:
        """End the workers. Kill those that are in the middle of a run."""
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
        # while this process still has the lock, which may belong to another command afterwards
        path.unlink(missing_ok=True)
    os.close(lock)


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold interrupts back, so that a new process gets none before it ignores them (`worker.start`)."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pool() -> ProcessPoolExecutor:
    """Return a pool of one new process. It is not forked, since a fork would copy threads and open connections."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, spawn, initializer=worker.start, initargs=(os.getpid(),))


def _answer(future: Future[worker.Done], at: _Worker) -> worker.Done:
    """Return a worker's result; if it died, an error message with its exit status."""
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, BrokenProcessPool):
        return (error_message(error) if isinstance(error, Exception) else repr(error)), {}, None
    how = "exit status unknown"
    if at.process is not None:
        at.process.join(_REAP_S)
        status = at.process.exitcode
        if status is not None:
            how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"its process died {_TRIES} times ({how}); if memory is scarce, choose a smaller --jobs", {}, None


def processes_for(jobs: Sequence[Job], wished: int | None) -> int:
    """Return the number of processes for a campaign: `wished`, or the number of cores, but at most one for each run."""
    if wished is not None and (isinstance(wished, bool) or not isinstance(wished, int) or wished < 1):
        raise UserError(f"--jobs is {wished!r}; allowed: a whole number, at least 1")
    return min(len(jobs), wished or len(os.sched_getaffinity(0)))
