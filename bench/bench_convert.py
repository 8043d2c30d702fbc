"""Compare the converter with opp_scavetool, OMNeT++'s Python package and bare pyarrow.csv on vector files of 500 MB.

Each program is a separate process on one core. Rates are rows per CPU second, so that other work on the machine has
little effect; wall-clock times are listed, too. The time in which scavetool makes its index is not counted, and
pyarrow.csv neither reads exact times nor writes anything.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

SIZE_MB = int(os.environ.get("CAUSEWAY_BENCH_MB", "520"))
ROOT = Path(__file__).parent.parent

OURS = "from causeway.analysis.convert import convert; import sys; print(convert([sys.argv[1]], sys.argv[2]).rows)"
BARE = """
import sys, pyarrow as pa, pyarrow.csv as csv
pa.set_cpu_count(1)
file = open(sys.argv[1], "rb")
file.seek(int(sys.argv[2]))
names = ["id", "event", "time", "value"]
kinds = dict(zip(names, [pa.int64(), pa.int64(), pa.float64(), pa.float64()]))
print(sum(batch.num_rows for batch in csv.open_csv(
    file, csv.ReadOptions(use_threads=False, block_size=8 << 20, column_names=names),
    csv.ParseOptions(delimiter="\\t", quote_char=False), csv.ConvertOptions(column_types=kinds))))
"""
SCAVE = "import sys; from omnetpp.scave import results; print(len(results.read_result_files([sys.argv[1]])))"


@dataclass
class Took:
    """The resources that a process used."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run() -> dict[str, object]:
    """Measure all figures."""
    with tempfile.TemporaryDirectory(prefix="causeway-bench-") as name:
        folder = Path(name)
        path = folder / "big.vec"
        rows, data_at = generate(path, SIZE_MB << 20, vectors=200, block=1000)
        figures: dict[str, object] = {"file MB": path.stat().st_size / 2**20, "rows": rows}
        measured(python_process(OURS, path, folder / "warm-up"))  # compiles the readers, and loads the file into memory
        one = measured(python_process(OURS, path, folder / "one"))
        figures |= _reported("ours, one core", rows, one)
        two = measured(python_process(OURS, path, folder / "two"), cores=2)
        figures["ours, two cores: rows/s by the clock"] = rows / two.wall_s
        figures["two cores / one, by the clock"] = one.wall_s / two.wall_s
        bare = measured(python_process(BARE, path, str(data_at)))
        figures |= _reported("bare pyarrow.csv", rows, bare)
        figures["ours / bare pyarrow.csv"] = bare.cpu_s / one.cpu_s
        figures |= _without_start(folder, one, bare)
        figures |= _against_omnetpp(path, folder, rows, one)
        figures |= _many_vectors(folder)
    return figures


def _without_start(folder: Path, ours: Took, bare: Took) -> dict[str, object]:
    """Compare the times without those for a nearly empty file, which are for starting Python and loading libraries."""
    path = folder / "small.vec"
    _, data_at = generate(path, 1000, vectors=1, block=1, batch=10)
    mine = min(measured(python_process(OURS, path, folder / f"small-{i}")).cpu_s for i in range(3))
    theirs = min(measured(python_process(BARE, path, str(data_at))).cpu_s for _ in range(3))
    return {
        "ours: start of the process, CPU-s": mine,
        "ours / bare pyarrow.csv, without the start": (bare.cpu_s - theirs) / (ours.cpu_s - mine),
    }


def _against_omnetpp(path: Path, folder: Path, rows: int, ours: Took) -> dict[str, object]:
    home = omnetpp_home()
    if home is None:
        return {"opp_scavetool": "not run: no OMNeT++ (OMNETPP_ROOT, PATH)"}
    tool = [str(home / "bin" / "opp_scavetool")]
    measured([*tool, "index", str(path)])
    export = measured([*tool, "x", "-F", "CSV-R", "-o", str(folder / "out.csv"), str(path)])
    (folder / "out.csv").unlink()
    figures = _reported("opp_scavetool CSV-R", rows, export) | {"ours / opp_scavetool": export.cpu_s / ours.cpu_s}
    python, theirs = os.environ.get("OMNETPP_PYTHON", "python3"), {"PYTHONPATH": str(home / "python")}
    # warms up, and tests whether this Python has the packages that OMNeT++'s package needs (numpy below 2, pandas,
    # matplotlib)
    try:
        measured([python, "-c", "from omnetpp.scave import results"], theirs)
    except (OSError, subprocess.CalledProcessError):
        why = f"not run: {python} cannot import omnetpp.scave; name one that can in OMNETPP_PYTHON"
        return figures | {"read_result_files": why}
    scave = measured([python, "-c", SCAVE, str(path)], theirs)
    return (
        figures | _reported("read_result_files", rows, scave) | {"ours / read_result_files": scave.cpu_s / ours.cpu_s}
    )


def _many_vectors(folder: Path) -> dict[str, object]:
    """Compare the same rows in 8 and in 8,000 vectors, whose blocks are short because they share one buffer."""
    per_row = {}
    for vectors, block in ((8, 1000), (8000, 20)):
        path = folder / f"{vectors}.vec"
        rows, _ = generate(path, 260 << 20, vectors, block)
        took = [measured(python_process(OURS, path, folder / f"v{vectors}-{i}")) for i in range(3)]
        per_row[vectors] = min(one.cpu_s for one in took) / rows
    return {
        "ns of CPU a row, 8 vectors": per_row[8] * 1e9,
        "ns of CPU a row, 8,000 vectors": per_row[8000] * 1e9,
        "8,000 vectors / 8": per_row[8000] / per_row[8],
    }


def _reported(name: str, rows: int, took: Took) -> dict[str, object]:
    return {
        f"{name}: rows/CPU-s": rows / took.cpu_s,
        f"{name}: rows/s by the clock": rows / took.wall_s,
        f"{name}: peak MB": took.peak_mb,
    }


def python_process(code: str, path: Path, last: object) -> list[str]:
    return [sys.executable, "-c", code, str(path), str(last)]


def measured(
    command: list[str], extra: dict[str, str] | None = None, cores: int = 1, folder: Path | None = None
) -> Took:
    """Run a process on this number of cores, and return its resources."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | (extra or {})
    begun = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )  # fmt: skip
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=errors)
    return _took(time.monotonic() - begun, used)


def _took(wall_s: float, used: resource.struct_rusage) -> Took:
    return Took(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def omnetpp_home() -> Path | None:
    on_path = shutil.which("opp_run")
    candidates = [os.environ.get("OMNETPP_ROOT"), Path(on_path).resolve().parent.parent if on_path else None]
    candidates += [*sorted(Path.home().glob("omnetpp*")), *sorted(Path("/opt").glob("omnetpp*"))]
    return next((Path(c) for c in candidates if c and (Path(c) / "bin" / "opp_scavetool").exists()), None)


def generate(path: Path, size: int, vectors: int, block: int, batch: int = 1_000_000) -> tuple[int, int]:
    """Write a vector file as a simulation does, of at least `size` bytes. Return (rows, offset of the data)."""
    draw = np.random.default_rng(1)
    with open(path, "wb") as file:
        file.write(b"version 3\nrun Bench-0-20240101-00:00:00-1\nattr configname Bench\nattr repetition 0\n\n")
        for vector in range(vectors):
            file.write(f"vector {vector} Net.host[{vector}].app delay:vector ETV\nattr unit s\n".encode())
        data_at, rows = file.tell(), 0
        while file.tell() < size:
            pyarrow.csv.write_csv(
                _batch(draw, rows, batch, vectors, block), file,
                pyarrow.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none"),
            )  # fmt: skip
            rows += batch
    return rows, data_at


def _batch(draw: np.random.Generator, start: int, rows: int, vectors: int, block: int) -> pa.Table:
    """Return rows in blocks of one vector each, with times in picoseconds and values of 14 digits, as in OMNeT++."""
    number = np.arange(start, start + rows)
    time_ps = number * 10**7 + draw.integers(0, 10**7, rows)
    value = draw.exponential(1.0, rows)
    digits = 13 - np.floor(np.log10(value)).astype(int)
    value = np.round(value * 10.0**digits) / 10.0**digits
    return pa.table({"id": number // block % vectors, "event": number * 7, "time": _seconds(time_ps), "value": value})


def _seconds(time_ps: np.ndarray) -> pa.Array:
    """Format picoseconds as decimal seconds."""
    words = np.stack([time_ps, np.zeros_like(time_ps)], axis=1)
    return pa.Array.from_buffers(pa.decimal128(20, 12), len(time_ps), [None, pa.py_buffer(words.tobytes())])


def main() -> None:
    """Print the figures."""
    for name, figure in run().items():
        print(f"{name}: {figure:,.4g}" if isinstance(figure, float) else f"{name}: {figure}")


if __name__ == "__main__":
    main()
