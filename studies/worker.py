"""One process of a campaign: takes a job, simulates, gives the tables back; until nobody listens."""

from __future__ import annotations

import ctypes
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from causeway.analysis import store
from causeway.analysis.compact import conformed
from causeway.analysis.remote import place
from causeway.studies.campaign import summary, told
from causeway.studies.runner import Job, run_job

_PR_SET_PDEATHSIG = 1
_LARGE_BYTES = 32 << 20
"""A run of more than this lands from here: its rows would be copied twice on their way."""


def main(descriptor: int, parent: int) -> None:
    """Serves the process `parent` on a socket until that closes it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other end is interrupted too, and ends us
    if os.getppid() != parent:
        return
    known: dict[tuple[str, ...], Job] = {}
    with Connection(descriptor) as pipe:
        while True:
            try:
                point, job, seed, record_to, out = pipe.recv()
                known[point] = job or known[point]  # a point is resolved once, not once a seed
                pipe.send(_done(known[point].but(seed=seed, record_to=record_to), place(out)))
            except (EOFError, OSError):
                return


def _done(job: Job, out: Path) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
    """(what went wrong, summary, tables; none if they have landed)."""
    try:
        result = run_job(job)
        tables = conformed(result.tables)
        if sum(table.nbytes for table in tables.values()) > _LARGE_BYTES:
            store.write_run(out, result.tables)  # its study is described already: see processes.py
            return "", summary(result), None
    except MemoryError:
        return "this machine has not the memory for it; choose smaller parameters, or a smaller --jobs", {}, None
    except Exception as error:
        return told(error), {}, None
    return "", summary(result), tables
