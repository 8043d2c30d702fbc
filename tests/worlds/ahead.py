"""The same run with the simulator in lockstep with the controller, and running ahead of it."""

from __future__ import annotations

import dataclasses

from causeway.bridge import engines
from causeway.bridge.engine import Engine, RunSpec, Session
from causeway.studies.runner import Job, RunResult, run_job


class Either:
    """An engine whose simulator runs ahead, or does not, whatever cores there are."""

    def __init__(self, name: str, ahead: bool) -> None:
        self._engine, self._ahead = engines.get(name), ahead
        self.name, self.networks = self._engine.name, self._engine.networks
        self.missing, self.edges = self._engine.missing, self._engine.edges

    def open(self, spec: RunSpec) -> Session:
        return self._engine.open(dataclasses.replace(spec, ahead=self._ahead))


def both(job: Job) -> tuple[RunResult, RunResult]:
    """In lockstep, and ahead."""
    engine: type[Engine] = Either
    return run_job(job, engine=engine(job.engine, False)), run_job(job, engine=engine(job.engine, True))
