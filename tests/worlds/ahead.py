"""The same run with the simulator in lockstep with the controller, and running ahead of it."""

from __future__ import annotations

import dataclasses
from typing import Any

from causeway.bridge import engines
from causeway.bridge.engine import Finish, RunSpec, Session
from causeway.bridge.events import Window
from causeway.pycontrol.loop import Outcome
from causeway.studies.runner import Job, run_job


class Either:
    """An engine whose simulator runs ahead, or does not, whatever cores there are."""

    def __init__(self, name: str, ahead: bool) -> None:
        self._engine, self._ahead = engines.get(name), ahead
        self.name, self.networks = self._engine.name, self._engine.networks
        self.missing, self.edges = self._engine.missing, self._engine.edges
        self.went_on = 0
        """Windows behind whose end the simulator went on before it was answered."""

    def open(self, spec: RunSpec) -> Session:
        session: Any = self._engine.open(dataclasses.replace(spec, ahead=self._ahead))
        following = session.next

        def told() -> Window | Finish:
            found = following()
            self.went_on += isinstance(found, Window) and found.effect_ps > found.end_ps
            return found

        session.next = told
        return session


def both(job: Job) -> tuple[Outcome, Outcome]:
    """In lockstep, and ahead."""
    lockstep, ahead = Either(job.engine, False), Either(job.engine, True)
    found = run_job(job, engine=lockstep).outcome, run_job(job, engine=ahead).outcome
    assert ahead.went_on > 0 == lockstep.went_on
    return found
