"""Periodic jobs of a study during a run (`PerNode.every`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from causeway.errors import UserError
from causeway.network.field_shapes import WHOLE
from causeway.network.units import check_time

if TYPE_CHECKING:
    from causeway.pycontrol.node import PerNode


NEVER_AGAIN = -1
"""A job returns this value to end itself."""


@dataclass(frozen=True, eq=False)
class Repeated:
    """A periodic job. It is the key of its own timer."""

    period_ps: int
    handler: Callable[[Any], int | None]
    first_ps: int
    node: int
    always: bool = False
    """True if the job also runs while the node is down (on packet-level engines)."""

    def __post_init__(self) -> None:
        for name, least in (("period_ps", 1), ("first_ps", 0), ("node", 0)):
            value = getattr(self, name)
            if not WHOLE.fits(value) or value < least:
                raise UserError(f"every was given {name}={value!r}; allowed: a whole number, {least} and up")
            object.__setattr__(self, name, int(value))
        if not callable(self.handler):
            raise UserError(f"every was given handler={self.handler!r}; allowed: a function of a node")
        check_time("the period_ps of every", self.period_ps)
        check_time("the first_ps of every", self.first_ps)


def repeat(runtime: PerNode, job: Repeated) -> None:
    """Call a job that is due, and set the timer of its next call."""
    runtime.runs_job = True
    delay_ps = job.handler(runtime.nodes[job.node])
    runtime.runs_job = False
    if delay_ps != NEVER_AGAIN:
        next_ps = job.period_ps if delay_ps is None else delay_ps
        runtime.plan_job(job, next_ps)
