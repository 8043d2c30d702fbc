"""Four shapes of OMNeT++ results at three sizes: the converter, opp_scavetool, omnetpp.scave and bare pyarrow.csv.

Processor time of one core, time by the clock and peak memory of each, and how the processor time grows from the
smallest size to the largest, which is ten times as large. pyarrow.csv reads vector data only, and writes nothing.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from bench import bench_convert, bench_shapes
from bench.bench_convert import BARE, OURS, SCAVE, Took, measured, omnetpp_home, python_process

VEC_MB = int(os.environ.get("CAUSEWAY_BENCH_GROWTH_MB", "500"))
PARTS = (10, 3, 1)
"""The sizes: so many times smaller than the largest."""
SCAVE_ALL = SCAVE.replace("[sys.argv[1]]", "sys.argv[1:]")


def run() -> dict[str, object]:
    """The figures."""
    figures: dict[str, object] = {}
    first: dict[str, float] = {}
    for part in PARTS:
        with tempfile.TemporaryDirectory(prefix="causeway-bench-") as name:
            folder = Path(name)
            for shape, size, path, data_at in _inputs(folder, part):
                for who, took in _contenders(folder, path, data_at):
                    of = f"{shape}, {size:,}: {who}"
                    figures |= {f"{of}: CPU-s": took.cpu_s, f"{of}: s by the clock": took.wall_s}
                    figures[f"{of}: peak MB"] = took.peak_mb
                    if part == PARTS[0]:
                        first[f"{shape}: {who}"] = took.cpu_s
                    if part == PARTS[-1]:
                        figures[f"{shape}: {who}: CPU-s of the largest / the smallest"] = (
                            took.cpu_s / first[f"{shape}: {who}"]
                        )
    return figures


def _inputs(folder: Path, part: int) -> list[tuple[str, int, Path, int]]:
    """(shape, size, file or folder, where vector data begins or 0)."""
    bench_shapes.SCALARS, bench_shapes.FILES = 1_000_000 // part, 3000 // part
    bench_shapes.SQLITE_ROWS = 2_000_000 // part
    vec = folder / "large.vec"
    rows, data_at = bench_convert.generate(vec, (VEC_MB << 20) // part, vectors=200, block=1000, batch=200_000)
    return [
        (".vec, rows", rows, vec, data_at),
        ("scalars", bench_shapes.SCALARS, bench_shapes._scalars(folder), 0),
        ("small files", bench_shapes.FILES, bench_shapes._small(folder), 0),
        ("SQLite, rows", bench_shapes.SQLITE_ROWS, bench_shapes._sqlite(folder), 0),
    ]


def _contenders(folder: Path, path: Path, data_at: int) -> list[tuple[str, Took]]:
    """Who took what. The converter goes once before, so that nothing is compiled and the file is in memory."""
    measured(python_process(OURS, path, folder / f"warm-{path.name}"))
    found = [("ours", measured(python_process(OURS, path, folder / f"out-{path.name}")))]
    files = sorted(map(str, path.iterdir())) if path.is_dir() else [str(path)]
    if (home := omnetpp_home()) is not None:
        found.append(("opp_scavetool", bench_shapes._exported(home, path, folder)))
        python, theirs = os.environ.get("OMNETPP_PYTHON", "python3"), {"PYTHONPATH": str(home / "python")}
        with suppress(OSError, subprocess.CalledProcessError):  # a Python that lacks what the package needs
            found.append(("omnetpp.scave", measured([python, "-c", SCAVE_ALL, *files], theirs)))
    if data_at:
        found.append(("pyarrow.csv", measured(python_process(BARE, path, str(data_at)))))
    return found


if __name__ == "__main__":
    for name, figure in run().items():
        print(f"{name}: {figure:,.4g}" if isinstance(figure, float) else f"{name}: {figure}", flush=True)
