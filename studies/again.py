"""Run a study's first run twice, and one in a while after it: a seed must give one digest, scalars and samples.

What a protocol takes from outside its seed (the order of a set of objects, `datetime.now()`, variables of a module or
a class that the run before has left) shows as a difference. The second run also looks for contents that are changed
after they were sent (`causeway.pycontrol.shared`). Only short runs on the engine in process are run twice: the first of
each study's code in each process, and those whose id says so. What is short is counted in events, so that a busy
machine checks the same runs as a quiet one. `twice.py` compares runs on any engine. Once a difference is found, every
later run of that code in the process is refused too: its numbers may be those of what the runs before it have left.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar
from zlib import crc32

from causeway.bridge.errors import RunError
from causeway.pycontrol.shared import watching_contents
from causeway.studies.runner import Job, RunResult, run_job

Name = TypeVar("Name", bound=Hashable)
SHORT_EVENTS = 200_000
"""Nodes with handlers take about a second for so many."""
ONE_IN = 50
"""One of so many later runs is run twice."""
_found: dict[tuple[str, str], str] = {}
"""Studies and codes that were checked in this process, with the difference; "" if there was none."""


def checked(job: Job, result: RunResult) -> RunResult:
    """Return the result, if running the job again gives the same."""
    key = (job.study.name, job.identity.code)
    first = key not in _found
    if (first or not _found[key]) and _is_short(job, result) and (first or is_drawn(job.run_id)):
        try:
            found = _difference(job, result)
        except RunError as error:  # a content that was changed, say: the same in every run
            found = str(error)
        doubt = "" if first or not found else "; runs of this code that landed before are in doubt, too"
        _found[key] = found + doubt
    if _found.get(key):
        raise RunError(_found[key])
    return result


def is_drawn(run_id: str) -> bool:
    """Return whether a run is run twice although it is not the first: always the same runs of a campaign."""
    return crc32(run_id.encode()) % ONE_IN == 0


def _is_short(job: Job, result: RunResult) -> bool:
    return job.engine == "inline" and result.outcome.events <= SHORT_EVENTS and not job.record_to


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
