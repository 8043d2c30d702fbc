"""A campaign in processes of this machine, without Java.

This process hands out runs and lands what comes back, many runs at once; the workers only simulate, and live for the
whole campaign. A run's lock is held from before it starts until it has landed, so that other commands on the same
folder leave it alone. A worker dies with this process, however that dies, and its simulator with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from causeway.analysis import compact, locks, remains, store
from causeway.bridge.errors import UserError
from causeway.studies.campaign import Tally, Watch
from causeway.studies.description import describe_in
from causeway.studies.runner import Job

LAND_AFTER_S = 1.0
"""What has come back lands at the latest so long after the first of it: a kill loses no more than that."""
LAND_RUNS = 500
_LAND_BYTES = 64 << 20
_PATIENCE_S = 5.0


@dataclass
class _Worker:
    """A process that runs one job after the other."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    job: Job | None = None
    known: set[tuple[str, ...]] = field(default_factory=set)
    """Points that it has been given: their next seeds need no more than the seed."""


@dataclass
class _Waiting:
    """Runs that came back and have not landed."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    locks: list[tuple[int, Path]] = field(default_factory=list)
    bytes: int = 0
    since: float = 0.0


def run_in_processes(jobs: Iterable[Job], out: Path, count: int, watch: Watch) -> Tally:
    """Runs jobs in `count` processes; what another command is just doing comes last."""
    return _Campaign(list(jobs), out, watch).work(count)


class _Campaign:
    def __init__(self, jobs: list[Job], out: Path, watch: Watch) -> None:
        self.out, self.watch, self.tally = out, watch, Tally(len(jobs))
        self.todo, self.busy = deque(jobs), deque[Job]()
        self.waiting = _Waiting()
        self.held: dict[str, int] = {}
        """run id -> its lock, of the runs that a worker is at"""
        self.workers: list[_Worker] = []
        self.described: set[str] = set()

    def work(self, count: int) -> Tally:
        remains.sweep(self.out)
        try:
            self._start(count)
            while any(worker.job for worker in self.workers) or self.todo or self.busy:
                self._step(count)
        finally:
            self._land()
            self._stop()
        compact.compact_if_many(self.out)
        self._tell()
        return self.tally

    def _start(self, count: int) -> None:
        """The first jobs are looked for before anything starts: a campaign that is done costs no process."""
        while len(self.workers) < count and (job := self._next()) is not None:
            self.workers.append(_start_worker())
            self._give(self.workers[-1], job)

    def _next(self) -> Job | None:
        """A job that is neither done nor another command's; its lock is ours."""
        while self.todo:
            job = self.todo.popleft()
            lock = locks.take(store.lock_path(self.out, store.quote(job.run_id)), wait=False)
            if lock is None:
                self.busy.append(job)
                continue
            if store.has_run(self.out, job.run_id):
                _release(lock, store.lock_path(self.out, store.quote(job.run_id)))
                self.tally.skipped += 1
                continue
            self.held[job.run_id] = lock
            return job
        return None

    def _give(self, worker: _Worker, job: Job) -> None:
        if job.study.name not in self.described:
            describe_in(self.out, job.study)
            self.described.add(job.study.name)
        worker.job = job
        point = (job.name, job.point, job.engine, str(job.cap))
        with contextlib.suppress(OSError):  # it is dead: seen when we listen
            worker.pipe.send((point, None if point in worker.known else job, job.seed, job.record_to, str(self.out)))
        worker.known.add(point)

    def _step(self, count: int) -> None:
        """Hears one round of workers, gives them more to do, and lands what is due."""
        at_work = [worker for worker in self.workers if worker.job]
        if not at_work and self.busy and not self.todo:  # only what another command is at
            time.sleep(0.2)
            self.todo, self.busy = self.busy, deque()
        left = LAND_AFTER_S - (time.monotonic() - self.waiting.since) if self.waiting.runs else LAND_AFTER_S
        ready = wait([worker.pipe for worker in at_work], timeout=max(0.0, left)) if at_work else []
        for worker in at_work:
            if worker.pipe in ready:
                self._hear(worker)
        for worker in [worker for worker in self.workers if not worker.job]:
            if (job := self._next()) is None:
                break
            self._give(worker, job)
        while len(self.workers) < count and (job := self._next()) is not None:
            self.workers.append(_start_worker())
            self._give(self.workers[-1], job)
        if self._is_due():
            self._land()
        self._tell()

    def _is_due(self) -> bool:
        waiting = self.waiting
        late = bool(waiting.runs) and time.monotonic() - waiting.since >= LAND_AFTER_S
        return late or len(waiting.runs) >= LAND_RUNS or waiting.bytes > _LAND_BYTES

    def _hear(self, worker: _Worker) -> None:
        job, worker.job = worker.job, None
        assert job is not None
        try:
            problem, found, tables = worker.pipe.recv()
        except (EOFError, OSError):
            self.workers.remove(worker)
            problem, found, tables = _how_it_died(worker), {}, None
        lock = self.held.pop(job.run_id)
        path = store.lock_path(self.out, store.quote(job.run_id))
        if problem:
            self.tally.failed[job.run_id] = problem
            _release(lock, path)
            return
        self.tally.done += 1
        self.tally.found[job.run_id] = found
        if tables is None:  # it was large, and has landed
            _release(lock, path)
            return
        if not self.waiting.runs:
            self.waiting.since = time.monotonic()
        self.waiting.runs.append(tables)
        self.waiting.locks.append((lock, path))
        self.waiting.bytes += sum(table.nbytes for table in tables.values())

    def _land(self) -> None:
        waiting, self.waiting = self.waiting, _Waiting()
        try:
            compact.land_runs(self.out, waiting.runs)
        finally:
            for lock, path in waiting.locks:
                _release(lock, path)

    def _tell(self) -> None:
        self.tally.running = sum(1 for worker in self.workers if worker.job)
        self.watch(self.tally)

    def _stop(self) -> None:
        """Ends the workers; those in the middle of a run at once."""
        for worker in self.workers:
            worker.pipe.close()
            if worker.job:
                worker.process.terminate()
        for worker in self.workers:
            try:
                worker.process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
        for run_id, lock in self.held.items():
            _release(lock, store.lock_path(self.out, store.quote(run_id)))
        self.held.clear()


def _release(lock: int, path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)  # while it is still ours
    os.close(lock)


def _start_worker() -> _Worker:
    """Start one."""
    ours, theirs = socket.socketpair()
    command = [
        sys.executable,
        "-c",
        f"from causeway.studies.worker import main; main({theirs.fileno()}, {os.getpid()})",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    with theirs:
        process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    return _Worker(process, Connection(ours.detach()))


def _how_it_died(worker: _Worker) -> str:
    try:
        status = worker.process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        worker.process.kill()
        status = worker.process.wait()
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"the process that ran it died ({how}); if memory is short, say a smaller --jobs"


def processes_for(jobs: Sequence[Job], wished: int | None) -> int:
    """How many processes a campaign gets: as many as wished, or as there are cores, but no more than runs."""
    if wished is not None and wished < 1:
        raise UserError(f"--jobs {wished}: at least one process is needed")
    return min(len(jobs), wished or len(os.sched_getaffinity(0)))
