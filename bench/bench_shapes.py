"""Compare the converter with opp_scavetool's CSV export on other OMNeT++ results, in processor time of one core.

The bench `convert` covers a large .vec; this one covers a million scalars in one file, thousands of small files, and
SQLite. The converter's figures include its start (Python, numba, pyarrow: half a second), which is also listed
separately.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path

from bench.bench_convert import Took, measured, omnetpp_home, python_process

SCALARS = int(os.environ.get("CAUSEWAY_BENCH_SCALARS", "1000000"))
FILES = int(os.environ.get("CAUSEWAY_BENCH_FILES", "3000"))
SQLITE_ROWS = int(os.environ.get("CAUSEWAY_BENCH_SQLITE_ROWS", "2000000"))
OURS = "from causeway.analysis.convert import convert; import sys; print(convert([sys.argv[1]], sys.argv[2]))"


def run() -> dict[str, object]:
    """Measure all figures."""
    with tempfile.TemporaryDirectory(prefix="causeway-bench-") as name:
        folder = Path(name)
        shapes = {"scalars": _scalars(folder), "small files": _small(folder), "SQLite": _sqlite(folder)}
        figures: dict[str, object] = {"scalars": SCALARS, "files": FILES, "SQLite rows": SQLITE_ROWS}
        nothing = folder / "nothing.sca"
        nothing.write_text(_head(0))
        for number in range(2):
            start = measured(python_process(OURS, nothing, folder / f"nothing-{number}"))
        figures["start, CPU-s"] = start.cpu_s
        for what, path in shapes.items():
            figures |= _compared(what, path, folder)
    return figures


def _compared(what: str, path: Path, folder: Path) -> dict[str, object]:
    """Measure our converter and theirs in two turns; the second turn counts."""
    home = omnetpp_home()
    for turn in range(2):
        ours = measured(python_process(OURS, path, folder / f"{what}-{turn}"))
        theirs = _exported(home, path, folder) if home else None
    found: dict[str, object] = {f"{what}: CPU-s": ours.cpu_s, f"{what}: s by the clock": ours.wall_s}
    found[f"{what}: peak MB"] = ours.peak_mb
    if theirs is not None:
        found |= {f"{what}, scavetool: CPU-s": theirs.cpu_s, f"{what}, scavetool: s by the clock": theirs.wall_s}
        found[f"{what}, scavetool: peak MB"] = theirs.peak_mb
        found[f"{what}: scavetool's CPU / ours"] = theirs.cpu_s / ours.cpu_s
    return found


def _exported(home: Path, path: Path, folder: Path) -> Took:
    # short names, since 30,000 long names are more than a command may have
    inside = path if path.is_dir() else path.parent
    files = sorted(one.name for one in path.iterdir()) if path.is_dir() else [path.name]
    tool = str(home / "bin" / "opp_scavetool")
    return measured([tool, "x", "-F", "CSV-R", "-o", str(folder / "out.csv"), *files], folder=inside)


def _head(number: int) -> str:
    attributes = "".join(f"attr name{i} value{i}\n" for i in range(20))
    config = "".join(f'config key{i}.**.foo "{i} s"\n' for i in range(20))
    run = f"General-{number}-20240101-10:00:00-{number}"
    return f"version 3\nrun {run}\n{attributes}attr configname General\nitervar n {number}\n{config}\n"


def _scalars(folder: Path) -> Path:
    path = folder / "many.sca"
    with path.open("w") as file:
        file.write(_head(0))
        file.writelines(
            f"scalar Net.host[{i % 1000}].app sent{i // 1000}:count {(i * 7919) % 100003 * 0.37:.14g}\n"
            'attr title "packets sent, count"\n'
            for i in range(SCALARS)
        )
    return path


def _small(folder: Path) -> Path:
    place = folder / "small"
    place.mkdir()
    for number in range(FILES):
        lines = (
            f"scalar Net.host[{i}].app sent:count {i * number * 1.37:.14g}\n"
            'attr title "packets sent, count"\nattr unit s\n'
            for i in range(25)
        )
        (place / f"General-{number}.sca").write_text(_head(number) + "".join(lines))
    return place


def _sqlite(folder: Path) -> Path:
    path = folder / "vectors.vec"
    with sqlite3.connect(path) as database:
        for table, columns in _LAYOUT.items():
            database.execute(f"CREATE TABLE {table} ({columns})")
        database.execute("INSERT INTO run VALUES (1, 'S-0', -12)")
        vectors = ((i, f"Net.n[{i}]", SQLITE_ROWS // 100) for i in range(100))
        database.executemany("INSERT INTO vector VALUES (?, 1, ?, 'v', ?, 0, 0, 0, 0, 0, 0, 0, 0)", vectors)
        rows = ((i % 100, i, i * 1_000_003, (i * 7919) % 100003 * 0.37) for i in range(SQLITE_ROWS))
        database.executemany("INSERT INTO vectorData VALUES (?, ?, ?, ?)", rows)
    database.close()
    return path


_LAYOUT = {
    "run": "runId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, runName TEXT NOT NULL, simtimeExp INTEGER NOT NULL",
    "runAttr": "runId INTEGER NOT NULL, attrName TEXT NOT NULL, attrValue TEXT NOT NULL",
    "runItervar": "runId INTEGER NOT NULL, itervarName TEXT NOT NULL, itervarValue TEXT NOT NULL",
    "runConfig": "runId INTEGER NOT NULL, configKey TEXT NOT NULL, configValue TEXT NOT NULL, "
    "configOrder INTEGER NOT NULL",
    "scalar": "scalarId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, runId INTEGER NOT NULL, moduleName TEXT NOT NULL, "
    "scalarName TEXT NOT NULL, scalarValue REAL",
    "scalarAttr": "scalarId INTEGER NOT NULL, attrName TEXT NOT NULL, attrValue TEXT NOT NULL",
    "parameter": "paramId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, runId INTEGER NOT NULL, "
    "moduleName TEXT NOT NULL, paramName TEXT NOT NULL, paramValue TEXT NOT NULL",
    "paramAttr": "paramId INTEGER NOT NULL, attrName TEXT NOT NULL, attrValue TEXT NOT NULL",
    "statistic": "statId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, runId INTEGER NOT NULL, moduleName TEXT NOT NULL, "
    "statName TEXT NOT NULL, isHistogram INTEGER NOT NULL, isWeighted INTEGER NOT NULL, statCount INTEGER NOT NULL, "
    "statMean REAL, statStddev REAL, statSum REAL, statSqrsum REAL, statMin REAL, statMax REAL, statWeights REAL, "
    "statWeightedSum REAL, statSqrSumWeights REAL, statWeightedSqrSum REAL",
    "statisticAttr": "statId INTEGER NOT NULL, attrName TEXT NOT NULL, attrValue TEXT NOT NULL",
    "histogramBin": "statId INTEGER NOT NULL, lowerEdge NUMERIC NOT NULL, binValue NUMERIC NOT NULL",
    "vector": "vectorId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, runId INTEGER NOT NULL, moduleName TEXT NOT NULL, "
    "vectorName TEXT NOT NULL, vectorCount INTEGER, vectorMin REAL, vectorMax REAL, vectorSum REAL, "
    "vectorSumSqr REAL, startEventNum INTEGER, endEventNum INTEGER, startSimtimeRaw INTEGER, endSimtimeRaw INTEGER",
    "vectorAttr": "vectorId INTEGER NOT NULL, attrName TEXT NOT NULL, attrValue TEXT NOT NULL",
    "vectorData": "vectorId INTEGER NOT NULL, eventNumber INTEGER NOT NULL, simtimeRaw INTEGER NOT NULL, value NUMERIC",
}  # fmt: skip
