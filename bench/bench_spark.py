"""Measure the time in which Spark reduces 1 to 100 million samples for a report, on two cores and within 4 GB.

The samples are in an ordinary result folder. The reductions are the mean of every vector, and a time series with
intervals over the repetitions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from causeway.analysis import delta, schema, store
from causeway.analysis.convert.samples import Batch, SampleWriter

MILLIONS = tuple(int(m) for m in os.environ.get("CAUSEWAY_BENCH_MILLIONS", "1,10,100").split(","))
RUNS, VECTORS = 20, 5
MEMORY = "1500m"  # memory of the JVM, as in `session`; the Python workers and the driver have the rest of the 4 GB
LIMIT_MB = 4096
ROOT = Path(__file__).parent.parent


def run() -> dict[str, object]:
    """Measure all figures."""
    figures: dict[str, object] = {}
    took = {}
    for millions in MILLIONS:
        with tempfile.TemporaryDirectory(prefix="causeway-bench-") as name:
            fill(Path(name), millions * 1_000_000)
            seconds, watched = _watched([sys.executable, "-m", "bench.bench_spark", name])
        took[millions] = sum(seconds.values())
        figures |= {f"{millions} M: {what} [s]": value for what, value in seconds.items()}
        figures[f"{millions} M: all [s]"] = took[millions]
        figures[f"{millions} M: CPU seconds, with Spark's start"] = sum(watched.cpu_s.values())
        figures[f"{millions} M: peak MB"] = watched.peak_mb
        figures[f"{millions} M: within 4 GB"] = watched.peak_mb < LIMIT_MB
    figures["time of the largest / the smallest"] = took[MILLIONS[-1]] / took[MILLIONS[0]]
    return figures


def fill(folder: Path, rows: int) -> None:
    """Make a result folder with this number of samples in 20 runs of 5 vectors: delays that settle after some time."""
    draw = np.random.default_rng(1)
    each = rows // RUNS
    state = store.to_write(folder)
    with store.files_for(state) as commit:
        for run in range(RUNS):
            run_id = f"bench-{run:02d}"
            with SampleWriter(folder / "part.parquet", run_id, "") as writer:
                for start in range(0, each, len(writer.batch.ids)):
                    _fill_batch(writer.batch, draw, start, min(each - start, len(writer.batch.ids)))
                    writer.swap()
            commit.take("samples", run_id, folder / "part.parquet")
            vectors = {"vector_id": list(range(VECTORS)), "module": ["net"] * VECTORS, "name": ["delay"] * VECTORS}
            commit.write("vectors", schema.conform("vectors", vectors, run_id))
            row = {
                "run_id": [run_id], "study": ["bench"], "point": [str(run % 2)], "engine": ["inline"], "seed": [run],
                "started_at": [""],
            }  # fmt: skip
            commit.write("runs", schema.conform("runs", row))
        delta.commit(state, commit)


def _fill_batch(batch: Batch, draw: np.random.Generator, start: int, rows: int) -> None:
    number = np.arange(start, start + rows)
    batch.ids[:rows], batch.events[:rows] = number % VECTORS, number
    batch.raws[:rows], batch.exponents[:rows] = number * 10**7, -12
    batch.values[:rows] = draw.exponential(1.0, rows) + 5 * np.exp(-number / 20_000)
    batch.rows = rows


@dataclass
class Watched:
    """The output of a process, and the resources that it and its descendants used."""

    peak_mb: float = 0.0
    cpu_s: dict[int, float] = field(default_factory=dict)


def _watched(command: list[str]) -> tuple[dict[str, float], Watched]:
    """Run a command; return its output and the resources that it used."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    watched = Watched()
    watcher = threading.Thread(target=_watch, args=(process, watched), daemon=True)
    watcher.start()
    out, _ = process.communicate()
    watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return json.loads(out.strip().splitlines()[-1]), watched


def _watch(process: subprocess.Popen[str], watched: Watched) -> None:
    while process.poll() is None:
        family = _family(process.pid)
        watched.peak_mb = max(watched.peak_mb, sum(map(_proportional_kb, family)) / 1024)
        watched.cpu_s |= {pid: used for pid in family if (used := _cpu_s(pid)) > 0}
        time.sleep(0.5)


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for parent in found:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def _proportional_kb(pid: int) -> int:
    """Return the resident memory. Pages shared with other processes count in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def reduce(folder: Path) -> dict[str, float]:
    """Return the time of each reduction of a folder in seconds."""
    from pyspark.sql import functions as F

    from causeway.analysis.reduce import means
    from causeway.analysis.spark import read_spark, session

    spark = session("local[2]", memory=MEMORY)
    runs = read_spark(spark, folder, "runs").select("run_id", "study", "point")
    samples = read_spark(spark, folder, "samples").join(F.broadcast(runs), "run_id")
    width_ps = 10**7 * samples.count() // RUNS // 60
    jobs = {
        "means": lambda: means.group_means(samples, ["point", "run_id", "vector_id"]),
        "time series": lambda: means.time_series(samples, ["study", "point"], width_ps),
    }
    seconds = {}
    for name, job in jobs.items():
        begun = time.monotonic()
        assert len(job().collect()) > 0
        seconds[name] = time.monotonic() - begun
    return seconds


def main() -> None:
    """Reduce a folder and print the times as JSON, or without a folder print all figures."""
    if len(sys.argv) > 1:
        print(json.dumps(reduce(Path(sys.argv[1]))))
        return
    for name, figure in run().items():
        print(f"{name}: {figure:,.4g}" if isinstance(figure, float) else f"{name}: {figure}")


if __name__ == "__main__":
    main()
