"""What a process of a campaign does: takes a job, simulates, gives the tables back."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

from causeway.analysis import store
from causeway.analysis.remote import place
from causeway.studies import again
from causeway.studies.campaign import summary, told
from causeway.studies.runner import Job, run_job

_PR_SET_PDEATHSIG = 1
_LARGE_BYTES = 32 << 20
"""A run of more than this lands from here: its rows would be copied twice on their way."""

Done = tuple[str, dict[str, Any], dict[str, Any] | None]
"""(what went wrong, summary, tables; None if they have landed)"""


def start(parent: int) -> None:
    """Let this process die with its parent, and leave interrupts to it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() != parent:
        os._exit(1)


def simulate(job: Job, out: str) -> Done:
    """Do one run."""
    try:
        result = again.checked(job, run_job(job))
        tables = store.conformed(result.tables)
        if sum(table.nbytes for table in tables.values()) > _LARGE_BYTES:
            store.write_run(place(out), result.tables)  # its study is described already: see processes.py
            return "", summary(result), None
    except MemoryError:
        return "this machine has not the memory for it; choose smaller parameters, or a smaller --jobs", {}, None
    except Exception as error:
        return told(error), {}, None
    return "", summary(result), tables
