"""OMNeT++'s result files (.sca, .vec, text or SQLite) -> the result tables. Start here: `convert`.

`records` reads what is not vector data, `kernel` (compiled) reads vector data, `text` runs both over a file, `sqlite`
reads databases, `job` reads one file whole, `landing` puts many files into the result folder at once, `stage` keeps
half-done work out of sight. Nothing here is about our own runs: any OMNeT++ project's
results will do.
"""

import gc
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from causeway.analysis import compact, schema, store
from causeway.analysis.convert import job
from causeway.analysis.convert.job import RangeResult, RangeTask, run_range
from causeway.analysis.convert.landing import CLASH, Lander
from causeway.analysis.convert.piece import Mark, Piece
from causeway.analysis.convert.report import FileReport, Report
from causeway.analysis.convert.stage import fingerprint, is_sqlite, source_id
from causeway.analysis.remote import is_remote, place
from causeway.bridge.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FileReport", "Report", "convert", "pandas_tables", "spark_tables"]

_SUFFIXES = (".sca", ".vec")
_CHUNK_FILES = 200
"""Small files of one Spark task."""


def convert(
    paths: Sequence[str | Path], out: str | Path, keep_going: bool = False,
    spark: "SparkSession | str | None" = None, clash: str = "refuse",
) -> Report:  # fmt: skip
    """Convert result files, and all .sca and .vec below folders, into the result folder `out`.

    Files converted before and not changed since are passed over; one that has grown is continued. With `spark` (a
    session or a master URL), small files are read by tasks, some hundred each, and the ranges of huge files are tasks
    too; without, and for a single file that is not huge, all is done in this process. A bad line ends it with an error
    that names file and line; `keep_going` tells it in the report and converts the rest.

    Two files of different places that hold a run of the same name and differ are a clash: `refuse` it, keep both runs
    `apart`, or `merge` them into one.
    """
    if clash not in CLASH:
        raise UserError(f"a clash of runs can be told to {', '.join(CLASH)}, not {clash}")
    report, folder = Report(), place(out).resolve()
    files = find(paths, report.passed_over)
    with _without_collection(), store.revising(folder):
        lander = Lander(folder, clash)
        if lander.knows_any:
            marks = ((resolved, path, lander.mark(resolved)) for resolved, path in files.items())
            lander.changed = {source_id(resolved) for resolved, path, mark in marks if _has_changed(path, mark)}
        try:
            for piece in _pieces(files, folder, lander, keep_going, spark):
                report.files.append(piece.report)
                if piece.report.status != "failed":
                    _add(lander, piece, keep_going)
        except UserError:
            _land(lander)  # the files before the bad one
            raise
        _land(lander)
    compact.compact_if_many(folder)
    order = {path: number for number, path in enumerate(files.values())}
    report.files.sort(key=lambda file: order[file.source])
    return report


@contextmanager
def _without_collection() -> Iterator[None]:
    """Looking for cycles among the rows of thousands of files takes longer than reading them, and there are none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _land(lander: Lander, piece: Piece | None = None) -> None:
    """Hand a piece over, or land what waits."""
    try:
        lander.flush() if piece is None else lander.add(piece)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot convert into {lander.out}: {reason}; make room or choose another --out") from error


def _add(lander: Lander, piece: Piece, keep_going: bool) -> None:
    try:
        _land(lander, piece)
    except UserError as error:
        if not keep_going:
            raise
        piece.report.status, piece.report.problem_count, piece.report.problems = "failed", 1, [str(error)]


def _has_changed(path: Path, mark: Mark | None) -> bool:
    """Whether the file is no longer what was converted, nor what that has grown to."""
    if mark is None:
        return False
    status = path.stat()
    if (mark.size, mark.mtime_ns) == (status.st_size, status.st_mtime_ns):
        return False
    return is_sqlite(path) or status.st_size < mark.end or fingerprint(path, mark.end) != mark.fingerprint


def find(paths: Sequence[str | Path], passed_over: list[str] | None = None) -> dict[str, Path]:
    """The result files meant by `paths`, each once, by where they really are; `passed_over` is told what looks like one
    and is not taken."""
    found: dict[str, Path] = {}
    told = [] if passed_over is None else passed_over
    for path in map(Path, paths):
        if path.is_dir():
            below = _below(path, told)
            if not below:
                raise UserError(f"no result files (.sca, .vec) below {path}; name the folder a simulation wrote to")
            for resolved, one in below:
                found.setdefault(resolved, one)
        elif not path.exists():
            raise UserError(f"no such file or folder: {path}")
        elif not path.is_file():
            raise UserError(f"{path} is no regular file (a pipe, a device?); convert the file that a simulation wrote")
        elif path.suffix == ".vci":
            raise UserError(f"{path} is only an index; convert {path.with_suffix('.vec')}")
        else:
            found.setdefault(str(path.resolve()), path)
    return found


def _below(folder: Path, told: list[str]) -> list[tuple[str, Path]]:
    """(resolved path, path) of the result files below a folder, sorted; empty ones are only told."""
    found, odd, empty = [], [], []
    for where, _, names in os.walk(folder):
        real = os.path.realpath(where)
        for name in names:
            lower = name.lower()
            if ".sca" not in lower and ".vec" not in lower:
                continue
            path = Path(where, name)
            if not _is_result(name):
                if {".sca", ".vec"} & set(map(str.lower, path.suffixes)) and path.is_file():
                    odd.append(path)
            elif (regular := _regular(os.path.join(real, name))) is not None:
                whole, size = regular
                if size:
                    found.append((whole, path))
                else:
                    empty.append(path)
    told += [f"{path}: empty, nothing to convert" for path in sorted(empty)]
    told += [f"{path}: passed over, only .sca and .vec, plain or .gz, are read" for path in sorted(odd)]
    return sorted(found, key=lambda pair: pair[1].parts)


def _regular(path: str) -> tuple[str, int] | None:
    """Where a file really is, and its size; None if it is none (any more)."""
    with suppress(FileNotFoundError):
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            path = os.path.realpath(path)
            status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            return path, status.st_size
    return None


def _is_result(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(_SUFFIXES)


def _pieces(
    files: dict[str, Path], out: Path, lander: Lander, keep_going: bool, spark: "SparkSession | str | None"
) -> Iterator[Piece]:
    """What each file gives, as it is read."""
    if spark is None:
        yield from (_read(path, out, lander.mark(resolved), keep_going) for resolved, path in files.items())
        return
    huge = {path for path in files.values() if path.stat().st_size > 2 * job.RANGE_BYTES}
    if len(files) == 1 and not huge:
        yield from (_read(path, out, lander.mark(resolved), keep_going) for resolved, path in files.items())
        return
    from causeway.analysis.spark import session

    spark = session(spark)
    # ranges wait in the result folder until all are there; behind a URL in one of this machine, which others do not see
    alone = is_remote(out) and not str(spark.sparkContext.master).startswith("local")
    for path in sorted(huge):
        yield _read(path, out, lander.mark(path.resolve()), keep_going, None if alone else _on_spark(spark))
    small = [(path, lander.mark(resolved)) for resolved, path in files.items() if path not in huge]
    tasks = max(1, min(len(small), max(spark.sparkContext.defaultParallelism, len(small) // _CHUNK_FILES)))

    def read(task: tuple[Path, Mark | None]) -> Piece:
        return _read(task[0].resolve(), out, task[1], True)

    if small:
        for piece in spark.sparkContext.parallelize(small, tasks).map(read).toLocalIterator():
            piece.source = piece.report.source = files[str(piece.source)]
            if piece.report.problem_count and not keep_going:
                raise UserError(piece.report.problems[0])
            yield piece


def _on_spark(session: "SparkSession") -> job.RunRanges:
    def run(tasks: list[RangeTask], declared: np.ndarray) -> list[RangeResult]:
        if not tasks:
            return []
        shared = session.sparkContext.broadcast(declared)
        spread = session.sparkContext.parallelize(tasks, len(tasks))
        return spread.map(lambda task: run_range(task, shared.value)).collect()

    return run


def _read(path: Path, out: Path, before: Mark | None, keep_going: bool, ranges: job.RunRanges | None = None) -> Piece:
    """Read one file; with `keep_going` a file that cannot be read at all is told in its report."""
    try:
        return job.read_file(path, out, before, keep_going, ranges or job.run_here)
    except UserError as error:
        if not keep_going:
            raise
        return Piece(path, out, FileReport(path, status="failed", problem_count=1, problems=[str(error)]))


def pandas_tables(paths: Sequence[str | Path], keep_going: bool = False) -> "dict[str, pd.DataFrame]":
    """The tables of some result files as pandas DataFrames, nothing left on the disk. For what fits in memory."""
    with tempfile.TemporaryDirectory(prefix="causeway-") as folder:
        convert(paths, folder, keep_going)
        return {name: store.read_pandas(Path(folder), name) for name in schema.TABLES}


def spark_tables(
    spark: "SparkSession", paths: Sequence[str | Path], out: str | Path, keep_going: bool = False
) -> dict[str, "DataFrame"]:
    """The tables of some result files as Spark DataFrames, converted into `out` first."""
    from causeway.analysis.spark import read_spark

    convert(paths, out, keep_going, spark)
    return {name: read_spark(spark, place(out), name) for name in schema.TABLES}
