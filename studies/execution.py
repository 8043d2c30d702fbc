"""Execute planned runs into a result folder: in this process, in several, or on Spark."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from causeway.analysis import store
from causeway.analysis.remote import place
from causeway.errors import UserError
from causeway.pycontrol.loop import Progress
from causeway.studies import campaign
from causeway.studies.processes import run_in_processes
from causeway.studies.run_warnings import KEPT
from causeway.studies.runner import Job, RunResult


def result_folder(out: str | Path) -> Path:
    """Return a result folder, and make it if it does not exist; raise UserError if that is impossible."""
    if not isinstance(out, str | os.PathLike) or not str(out):
        raise UserError(f"out is {out!r}; name a folder, as in out='results', or omit it")
    folder = place(str(out))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out} cannot be a result folder: {error.strerror}; choose another out=...") from None
    return folder


def execute(
    jobs: list[Job], out: Path, watch: campaign.Watch, *, spark: str | None = None, processes: int = 1,
    report: Callable[[Progress], None] | None = None, each: Callable[[RunResult], None] | None = None,
) -> campaign.Tally:  # fmt: skip
    """Execute the runs that are not in the result folder yet, and return their outcomes.

    Args:
        jobs: The runs.
        out: The result folder.
        watch: Called with the tally after each change.
        spark: The URL of a Spark master; None: on this machine.
        processes: The number of processes on this machine; 1: this process executes the runs itself.
        report: Called with the progress of a run in this process.
        each: Called with the results of each run in this process.
    """
    if spark is not None:
        return campaign.run_on_spark(jobs, out, spark, watch)
    if processes > 1:
        return run_in_processes(jobs, out, processes, watch)
    return campaign.run_here(jobs, out, watch, each, report=report)


def read_back(out_dir: Path, run_ids: list[str]) -> dict[str, dict[str, Any]]:
    """Read the results of runs that were already in the folder, all at once."""
    import pyarrow.compute as pc

    if not run_ids:
        return {}
    ours = pc.field("run_id").isin(run_ids)
    found = {
        run["run_id"]: {**run, "scalars": {}, "nodes": [], "warnings": []}
        for run in store.read_arrow(out_dir, "runs", where=ours).to_pylist()
    }
    for row in store.read_arrow(out_dir, "scalars", where=ours & (pc.field("module") == "run")).to_pylist():
        if row["run_id"] in found:
            found[row["run_id"]]["scalars"][row["name"]] = row["value"]
    for row in store.read_arrow(out_dir, "nodes", where=ours).sort_by("node").to_pylist():
        if row["run_id"] in found:
            found[row["run_id"]]["nodes"].append(row["module"])
    for row in store.read_arrow(out_dir, "attributes", where=ours & KEPT).sort_by("position").to_pylist():
        if row["run_id"] in found:
            found[row["run_id"]]["warnings"].append(row["value"])
    return found
