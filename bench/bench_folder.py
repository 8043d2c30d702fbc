"""Measure a result folder of 100,000 runs: its size, the time to read it, and the cost that a campaign adds to each
run.

The folder is synthetic: runs of one study with 20 scalars and 6 parameters each, in batches of 500, as campaigns commit
them.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from causeway.analysis import compact, delta, schema, store
from causeway.studies import campaign, processes

RUNS = int(os.environ.get("CAUSEWAY_BENCH_RUNS", "100000"))
SHORT_RUNS = int(os.environ.get("CAUSEWAY_BENCH_SHORT_RUNS", "2000"))
_BATCH_RUNS = 500
_SCALARS, _PARAMETERS = 20, 6
_TOY = Path(__file__).parent.parent / "tests" / "helpers" / "toy_study.py"


def run() -> dict[str, object]:
    """Measure all figures."""
    with tempfile.TemporaryDirectory(prefix="causeway-bench-") as name:
        figures = _reads(Path(name))
    with tempfile.TemporaryDirectory(prefix="causeway-bench-") as name:
        return figures | _campaign(Path(name))


def _reads(folder: Path) -> dict[str, object]:
    draw = np.random.default_rng(1)
    for first in range(0, RUNS, _BATCH_RUNS):
        _commit_runs(folder, [f"sweep-{first + i:06d}-inline-1" for i in range(_BATCH_RUNS)], draw)
    files_before = len(delta.latest(folder).all_files())
    figures: dict[str, object] = {"runs": RUNS, "files as landed": files_before}
    figures |= _times(folder, "as landed")
    began, cpu = time.monotonic(), time.process_time()
    compact.compact(folder)
    figures["compact, s by the clock"] = time.monotonic() - began
    figures["compact, CPU-s"] = time.process_time() - cpu
    files = delta.latest(folder).all_files()
    figures["files compacted"] = len(files)
    figures["MB on disk"] = sum(file.size for file in files) / 2**20
    return figures | _times(folder, "compacted")


def _times(folder: Path, what: str) -> dict[str, object]:
    """Return CPU times and wall-clock times of the usual queries. The folder is opened again for each."""
    one = f"sweep-{RUNS // 2:06d}-inline-1"
    reads = {
        "which runs are there": lambda: store.finished_runs(folder),
        "one run": lambda: store.read_table_of(folder, "scalars", one),
        "one scalar of all runs": lambda: store.read_arrow(
            folder, "scalars", ["run_id", "value"], pc.field("name") == "scalar_7"
        ),
    }
    found: dict[str, object] = {}
    for name, read in reads.items():
        store.forget_versions()
        began, cpu = time.monotonic(), time.process_time()
        read()
        found[f"{name}, {what}: CPU-s"] = time.process_time() - cpu
        found[f"{name}, {what}: s by the clock"] = time.monotonic() - began
    return found


def _commit_runs(folder: Path, ids: list[str], draw: np.random.Generator) -> None:
    count = len(ids)
    names = [f"scalar_{i}" for i in range(_SCALARS)]
    tables = {
        "runs": {
            "run_id": ids, "study": ["sweep"] * count, "point": [one[:12] for one in ids], "engine": ["inline"] * count,
            "seed": [1] * count, "started_at": ["2024-01-01T00:00:00Z"] * count, "wall_s": [0.1] * count,
        },
        "scalars": {
            "run_id": np.repeat(ids, _SCALARS).tolist(), "module": ["run"] * count * _SCALARS, "name": names * count,
            "value": draw.normal(0, 1, count * _SCALARS),
        },
        "parameters": {
            "run_id": np.repeat(ids, _PARAMETERS).tolist(), "name": [f"p{i}" for i in range(_PARAMETERS)] * count,
            "value": ["10"] * count * _PARAMETERS, "number": [10.0] * count * _PARAMETERS,
        },
    }  # fmt: skip
    state = store.to_write(folder)
    with store.files_for(state) as writer:
        for name, columns in tables.items():
            writer.write(name, schema.conform(name, columns))
        delta.commit(state, writer)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _campaign(folder: Path) -> dict[str, object]:
    """Return the processor time per run outside `run_job`: the cost of a run in addition to its simulation."""
    jobs = campaign.plan(str(_TOY), "inline", [{"messages": 1}], 1, SHORT_RUNS)
    began, cpu = time.monotonic(), time.process_time()
    tally = processes.run_in_processes(jobs, folder, 2, lambda tally: None)
    assert tally.done == SHORT_RUNS
    return {
        "short runs": SHORT_RUNS,
        "campaign: CPU-ms a run beside the simulations": 1e3 * (time.process_time() - cpu) / SHORT_RUNS,
        "campaign: ms a run by the clock, with the start": 1e3 * (time.monotonic() - began) / SHORT_RUNS,
        "campaign: files": len(_files(folder)),
    }  # fmt: skip
