"""Run a study's first run twice: the same seed must give the same digest.

What a protocol takes from outside its seed (the order of a set of objects, `datetime.now()`, variables of a module or
a class that the run before has left) shows as a difference. The second run also looks for contents that are changed
after they were sent (`causeway.pycontrol.shared`). Only runs that take less than a second, on the engine in process,
are run twice, and one of each study's code in each process; `twice.py` compares runs on any engine. Once a difference
is found, every later run of that code in the process is refused too: its numbers may be those of what the runs before
it have left.
"""

from __future__ import annotations

from causeway.bridge.errors import RunError
from causeway.pycontrol.shared import watching_contents
from causeway.studies.runner import Job, RunResult, run_job

SHORT_S = 1.0
_found: dict[tuple[str, str], str] = {}
"""Studies and codes that were checked in this process, with the difference; "" if there was none."""


def checked(job: Job, result: RunResult) -> RunResult:
    """Return the result, if running the job again gives its digest."""
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
        digest = run_job(job).outcome.digest
    if digest == result.outcome.digest:
        return ""
    return (
        f"study {job.study.name} is not deterministic: seed {job.seed} gave digest {result.outcome.digest}, and "
        f"{digest} when it was run again; look for the order of a set of objects, datetime.now(), and variables of "
        "a module or class that a run leaves changed (a node draws from self.rng); `causeway run --twice` names "
        "the first difference"
    )
