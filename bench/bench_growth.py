"""Compare the converter with opp_scavetool, omnetpp.scave and bare pyarrow.csv: four kinds of OMNeT++ results, three
sizes.

The figures are processor time of one core, wall-clock time and peak memory, and the growth of the processor time from
the smallest size to the largest, which is ten times as large. pyarrow.csv reads vector data only, and writes nothing.

    python -m bench.run growth               measures
    python -m bench.bench_growth             writes what was measured last into the lab book
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from bench import bench_convert, bench_shapes
from bench.bench_convert import BARE, OURS, Took, measured, omnetpp_home, python_process
from bench.run import OUT

VEC_MB = int(os.environ.get("CAUSEWAY_BENCH_GROWTH_MB", "500"))
FILES = int(os.environ.get("CAUSEWAY_BENCH_GROWTH_FILES", "30000"))
PARTS = (10, 3, 1)
"""The sizes, as divisors of the largest one."""
SCAVE = (
    "import sys, os; from omnetpp.scave import results; where = sys.argv[1]; "
    "files = [os.path.join(where, name) for name in sorted(os.listdir(where))] if os.path.isdir(where) else [where]; "
    "print(len(results.read_result_files(files)))"
)
PAGE = Path(__file__).parent.parent / "docs" / "lab" / "converter.md"
_BEGIN, _END = "<!-- growth: python -m bench.bench_growth writes it -->\n", "<!-- /growth -->\n"
_FIGURE = re.compile(r"(.+), ([\d,]+): ([^:]+): (CPU-s|s by the clock|peak MB)")
WHO = ("ours", "opp_scavetool", "omnetpp.scave", "pyarrow.csv")
SHAPES = {".vec, rows": "rows in one .vec", "scalars": "scalars in one .sca, an attribute each",
          "small files": ".sca files of 7 KB", "SQLite, rows": "rows in SQLite"}  # fmt: skip


def run() -> dict[str, object]:
    """Measure all figures."""
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
    """Yield (kind, size, file or folder, offset of the vector data or 0)."""
    bench_shapes.SCALARS, bench_shapes.FILES = 1_000_000 // part, FILES // part
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
    """Return the cost of each program.

    The converter runs once before, to compile its code and to load the file into the cache.
    """
    measured(python_process(OURS, path, folder / f"warm-{path.name}"))
    found = [("ours", measured(python_process(OURS, path, folder / f"out-{path.name}")))]
    if (home := omnetpp_home()) is not None:
        found.append(("opp_scavetool", bench_shapes._exported(home, path, folder)))
        python, theirs = os.environ.get("OMNETPP_PYTHON", "python3"), {"PYTHONPATH": scave_path(home)}
        with suppress(OSError, subprocess.CalledProcessError):  # a Python without the packages that the package needs
            found.append(("omnetpp.scave", measured([python, "-c", SCAVE, str(path)], theirs)))
    if data_at:
        found.append(("pyarrow.csv", measured(python_process(BARE, path, str(data_at)))))
    return found


def scave_path(home: Path) -> str:
    """Return the folder of omnetpp.scave: in OMNeT++ if it was built with Python bindings, or OMNETPP_SCAVE."""
    return os.environ.get("OMNETPP_SCAVE", str(home / "python"))


def table(figures: dict[str, object]) -> str:
    """Return the measurements in the form of the page: CPU seconds / MB, with the least CPU time in bold."""
    cells: dict[tuple[str, int], dict[str, dict[str, float]]] = {}
    for name, value in figures.items():
        if (found := _FIGURE.fullmatch(name)) and isinstance(value, float | int):
            shape, size, who, what = found.groups()
            cells.setdefault((shape, int(size.replace(",", ""))), {}).setdefault(who, {})[what] = float(value)
    there = [who for who in WHO if any(who in row for row in cells.values())]
    lines = ["| | " + " | ".join(there) + " |", "|---" * (len(there) + 1) + "|"]
    for (shape, size), row in sorted(cells.items(), key=lambda one: (list(SHAPES).index(one[0][0]), one[0][1])):
        least = min(took["CPU-s"] for who, took in row.items() if who != "pyarrow.csv")
        reported = [_cell(row[who], row[who]["CPU-s"] == least) if who in row else "" for who in there]
        lines.append(f"| {size:,} {SHAPES[shape]} | " + " | ".join(reported) + " |")
    for shape, what in SHAPES.items():
        grown = [figures.get(f"{shape}: {who}: CPU-s of the largest / the smallest") for who in there]
        reported = [f"{value:.1f} times" if isinstance(value, float) else "" for value in grown]
        lines.append(f"| CPU time for ten times as many {what.split(',')[0]} | " + " | ".join(reported) + " |")
    return "\n".join(lines) + "\n"


def _cell(took: dict[str, float], least: bool) -> str:
    cpu = f"{took['CPU-s']:.2f}"
    return f"{f'**{cpu}**' if least else cpu} / {took['peak MB']:.0f}"


def main() -> None:
    """Write the table of the last measurement into the page."""
    text = PAGE.read_text()
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    PAGE.write_text(before + _BEGIN + table(json.loads(OUT.read_text())["growth"]) + _END + after)


if __name__ == "__main__":
    main()
