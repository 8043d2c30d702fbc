"""Run a study's first run twice: the same seed must give the same digest, scalars and samples.

What a protocol takes from outside its seed (the order of a set of objects, `datetime.now()`, variables of a module or
a class that the run before has left) shows as a difference. The second run also looks for contents that are changed
after they were sent (`causeway.pycontrol.shared`). Only runs that take less than a second, on the engine in process,
are run twice, and one of each study's code in each process; `twice.py` compares runs on any engine. Once a difference
is found, every later run of that code in the process is refused too: its numbers may be those of what the runs before
it have left.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from causeway.bridge.errors import RunError
from causeway.pycontrol.shared import watching_contents
from causeway.studies.runner import Job, RunResult, run_job

Name = TypeVar("Name", bound=Hashable)
SHORT_S = 1.0
_found: dict[tuple[str, str], str] = {}
"""Studies and codes that were checked in this process, with the difference; "" if there was none."""


def checked(job: Job, result: RunResult) -> RunResult:
    """Return the result, if running the job again gives the same."""
    key = (job.study.name, job.identity.code)
    if key not in _found:
        if job.engine != "inline" or result.outcome.wall_s > SHORT_S or job.record_to:
            return result
        try:
            _found[key] = _difference(job, result)
        except RunError as error:  # a content that was changed, say: the same in every run
            _found[key] = str(error)
    if _found[key]:
        raise RunError(_found[key])
    return result


def _difference(job: Job, result: RunResult) -> str:
    """Return what differs when the job is run again, in words; "" if nothing does."""
    with watching_contents():
        second = run_job(job)
    one, other = result.outcome, second.outcome
    if one.digest != other.digest:
        what = f"gave digest {one.digest}, and {other.digest}"
    elif names := _unlike(result.scalars, second.scalars):
        what = f"gave {names[0]}={result.scalars.get(names[0])}, and {second.scalars.get(names[0])}"
    elif series := _unlike(one.samples, other.samples):
        what = f"recorded {series[0][1]} of {series[0][0]}, and other samples of it"
    else:
        return ""
    return (
        f"study {job.study.name} is not deterministic: seed {job.seed} {what} when it was run again; look for the "
        "order of a set of objects, datetime.now(), and variables of a module or class that a run leaves changed (a "
        "node draws from self.rng); `causeway run --twice` looks for the first difference"
    )


def _unlike(one: Mapping[Name, object], other: Mapping[Name, object]) -> list[Name]:
    """Return the names whose values differ; two NaN are equal."""
    return [name for name in {**one, **other} if repr(one.get(name)) != repr(other.get(name))]
