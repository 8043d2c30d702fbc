"""A worker process of a campaign: it takes jobs, simulates, and returns their tables."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

from causeway.analysis import store
from causeway.analysis.remote import place
from causeway.studies import second_run
from causeway.studies.campaign import error_message, summary
from causeway.studies.runner import Job, run_job

_PR_SET_PDEATHSIG = 1
_LARGE_BYTES = 32 << 20
"""The size from which on the worker itself commits a run, since returning its rows would copy them twice."""

Done = tuple[str, dict[str, Any], dict[str, Any] | None]
"""The result of a job: error message or "", summary, tables (None if they are committed)."""


def start(parent: int) -> None:
    """Initialize the process: it ends with its parent, and ignores interrupts, which the parent handles."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # the parent blocked interrupts while this process started
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    if os.getppid() != parent:
        os._exit(1)


def simulate(job: Job, out: str) -> Done:
    """Execute one run for the result folder `out`. An error is returned and not raised."""
    try:
        result = second_run.checked(job, run_job(job))
        tables = store.conformed(result.tables)
        if sum(table.nbytes for table in tables.values()) > _LARGE_BYTES:
            store.write_run(place(out), result.tables)  # processes.py has already written the description of the study
            return "", summary(result), None
    except MemoryError:
        return (
            "this machine has too little memory for the run; choose smaller parameters, or a smaller --jobs",
            {},
            None,
        )
    except Exception as error:
        return error_message(error), {}, None
    return "", summary(result), tables
