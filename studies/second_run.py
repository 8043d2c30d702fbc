"""Repeat a study's first run and a few later ones, since equal seeds must give equal digests, scalars and samples.

A protocol that depends on more than its seed (the order of a set of objects, `datetime.now()`, variables of a module or
class that an earlier run has changed) gives other results the second time. The second run also detects contents that
are changed after they were sent (`causeway.pycontrol.shared`). Only short runs on the inline engine are repeated: the
first run of each study's code in each process, and runs chosen by their id. A run is short if it has few events, so a
slow machine checks the same runs as a fast one. After a difference, the process refuses every later run of that code,
since variables that earlier runs changed may affect its results. `twice.py` compares runs on any engine.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar
from zlib import crc32

from causeway.errors import RunError
from causeway.pycontrol import debugging
from causeway.pycontrol.node_log import silent
from causeway.pycontrol.shared import watching_contents
from causeway.studies.runner import Job, RunResult, run_job

Name = TypeVar("Name", bound=Hashable)
SHORT_EVENTS = 200_000
"""The maximum number of events of a short run. A protocol of nodes with handlers takes about a second for it."""
ONE_IN = 50
"""The share of later runs that is repeated: one in this number. It takes 2 % of the time and finds a rare difference
within a few hundred runs."""
_found: dict[tuple[str, str], str] = {}
"""Maps (study, code) to the difference that was found in this process; "" if there was none."""


def checked(job: Job, result: RunResult) -> RunResult:
    """Return the result. Before, run the job again if its turn has come.

    Raises:
        RunError: The second run gave another result, or an earlier run of the same code did.
    """
    if debugging.is_on():  # the debugger would stop a second time
        return result
    key = (job.study.name, job.identity.code)
    first = key not in _found
    if (first or not _found[key]) and _is_short(job, result) and (first or is_drawn(job.run_id)):
        found = difference(job, result)
        doubt = "" if first or not found else "; earlier runs of this code in the result folder may be wrong, too"
        _found[key] = found + doubt
    if _found.get(key):
        raise RunError(_found[key])
    return result


def is_drawn(run_id: str) -> bool:
    """Return whether a run that is not the first is repeated. This depends only on its id, so it is reproducible."""
    return crc32(run_id.encode()) % ONE_IN == 0


def _is_short(job: Job, result: RunResult) -> bool:
    return job.engine == "inline" and result.outcome.events <= SHORT_EVENTS and not job.record_to


def difference(job: Job, result: RunResult) -> str:
    """Run the job again and return an error message about the first difference; "" if there is none."""
    try:
        with watching_contents(), silent():
            second = run_job(job)
    except RunError as error:  # an error that the first run did not check for, such as a changed content
        return str(error)
    one, other = result.outcome, second.outcome
    if one.digest != other.digest:
        differs = f"gave digest {one.digest}, and then {other.digest}"
    elif names := _differing_names(result.scalars, second.scalars):
        differs = f"gave {names[0]}={result.scalars.get(names[0])}, and {second.scalars.get(names[0])}"
    elif series := _differing_names(one.samples, other.samples):
        differs = f"recorded different samples of {series[0][1]} of {series[0][0]}"
    else:
        return ""
    return (
        f"study {job.study.name} is not deterministic: seed {job.seed} {differs} when it was run again; look for "
        "the order of a set of objects, datetime.now(), and variables of a module or class that a run leaves changed "
        "(a node draws from self.rng); `causeway run --twice` finds the first difference"
    )


def _differing_names(one: Mapping[Name, object], other: Mapping[Name, object]) -> list[Name]:
    """Return the names whose values differ. NaN is equal to NaN."""
    return [name for name in {**one, **other} if repr(one.get(name)) != repr(other.get(name))]
