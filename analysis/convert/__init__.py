"""Convert OMNeT++'s result files (.sca, .vec, text or SQLite) to the result tables. Start here: `convert`.

`job` reads one file from its beginning to its end: `text` a text file (`records` its records, `kernel`, which is
compiled, its vector data), `sqlite` a database. `replacing` commits many files at once, and `stage` keeps unfinished
work invisible to readers. The files may come from any OMNeT++ project; nothing here depends on Causeway's runs.
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
from causeway.analysis.convert.commit import CLASH, Committer
from causeway.analysis.convert.conversion_report import FileReport, Report
from causeway.analysis.convert.job import RangeResult, RangeTask, run_range
from causeway.analysis.convert.piece import Mark, Piece
from causeway.analysis.convert.stage import fingerprint, is_sqlite, source_id
from causeway.analysis.remote import is_remote, place
from causeway.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FileReport", "Report", "convert", "pandas_tables", "spark_tables"]

_SUFFIXES = (".sca", ".vec")
_CHUNK_FILES = 200
"""The number of small files of one Spark task, so large that starting the task is worth its cost."""


def convert(
    paths: Sequence[str | Path], out: str | Path, keep_going: bool = False,
    spark: "SparkSession | str | None" = None, clash: str = "refuse",
) -> Report:  # fmt: skip
    """Convert result files into the tables of a result folder.

    A file that was converted before and has not changed is skipped. If a file has grown, its new part is read.

    Args:
        paths: Result files, and folders that are searched for .sca and .vec files.
        out: The result folder.
        keep_going: List bad lines in the report and convert the rest, instead of stopping at the first one.
        spark: A session or a master URL. Its tasks read some hundred small files each, or one range of a huge file.
            Without it, and for a single file that is not huge, this process reads everything.
        clash: The treatment of two different files in different folders that contain a run of the same name: `refuse`
            the second one, keep both runs `apart`, or `merge` them into one.

    Raises:
        UserError: A line is bad (unless `keep_going`), a path is not a result file, or the disk is full.
    """
    if clash not in CLASH:
        raise UserError(f"clash={clash!r} is not known; choose one of {', '.join(CLASH)}")
    report, folder = Report(), place(out).resolve()
    files = find(paths, report.passed_over)
    with _without_collection(), store.revising(folder):
        committer = Committer(folder, clash)
        if committer.knows_any:
            marks = ((resolved, path, committer.mark(resolved)) for resolved, path in files.items())
            committer.changed = {source_id(resolved) for resolved, path, mark in marks if _has_changed(path, mark)}
        try:
            for piece in _pieces(files, folder, committer, keep_going, spark):
                report.files.append(piece.report)
                if piece.report.status != "failed":
                    _add(committer, piece, keep_going)
        except UserError:
            _commit(committer)  # the files before the bad one are committed
            raise
        _commit(committer)
    compact.compact_if_many(folder)
    order = {path: number for number, path in enumerate(files.values())}
    report.files.sort(key=lambda file: order[file.source])
    return report


@contextmanager
def _without_collection() -> Iterator[None]:
    """Turn off garbage collection, which takes longer than reading files: their rows contain no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _commit(committer: Committer, piece: Piece | None = None) -> None:
    """Pass a piece to `committer`. Without a piece, commit all pieces that wait."""
    try:
        committer.flush() if piece is None else committer.add(piece)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot convert into {committer.out}: {reason}; make room or choose another --out") from error


def _add(committer: Committer, piece: Piece, keep_going: bool) -> None:
    try:
        _commit(committer, piece)
    except UserError as error:
        if not keep_going:
            raise
        piece.report.status, piece.report.problem_count, piece.report.problems = "failed", 1, [str(error)]


def _has_changed(path: Path, mark: Mark | None) -> bool:
    """Return whether a file was changed since it was converted, other than by growing."""
    if mark is None:
        return False
    status = path.stat()
    if (mark.size, mark.mtime_ns) == (status.st_size, status.st_mtime_ns):
        return False
    return is_sqlite(path) or status.st_size < mark.end or fingerprint(path, mark.end) != mark.fingerprint


def find(paths: Sequence[str | Path], passed_over: list[str] | None = None) -> dict[str, Path]:
    """Return the result files that `paths` name or contain, each once, by their resolved paths.

    Messages about skipped files that look like result files are appended to `passed_over`.
    """
    found: dict[str, Path] = {}
    notes = [] if passed_over is None else passed_over
    for path in map(Path, paths):
        if path.is_dir():
            before, below = len(notes), _below(path, notes)
            if not below and len(notes) == before:
                raise UserError(f"no result files (.sca, .vec) below {path}; name the folder a simulation wrote to")
            for resolved, one in below:
                found.setdefault(resolved, one)
        elif not path.exists():
            raise UserError(f"no such file or folder: {path}")
        elif not path.is_file():
            raise UserError(f"{path} is not a regular file (a pipe, a device?); name the file that a simulation wrote")
        elif path.suffix == ".vci":
            raise UserError(f"{path} is only an index; convert {path.with_suffix('.vec')}")
        elif not path.stat().st_size:
            notes.append(EMPTY.format(path))
        else:
            found.setdefault(str(path.resolve()), path)
    if not found and notes:
        more = f"; and {len(notes) - 1} more" if len(notes) > 1 else ""
        raise UserError(f"there is no file to convert: {notes[0]}{more}; name files that a simulation has written")
    return found


EMPTY = "{}: empty, nothing to convert"


def _below(folder: Path, notes: list[str]) -> list[tuple[str, Path]]:
    """Return (resolved path, path) of the result files below a folder, sorted; append a note for each skipped file."""
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
    notes += [EMPTY.format(path) for path in sorted(empty)]
    notes += [f"{path}: skipped, since only .sca and .vec files, plain or .gz, are read" for path in sorted(odd)]
    return sorted(found, key=lambda pair: pair[1].parts)


def _regular(path: str) -> tuple[str, int] | None:
    """Return the resolved path of a regular file and its size; None if there is no such file (any more)."""
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
    files: dict[str, Path], out: Path, committer: Committer, keep_going: bool, spark: "SparkSession | str | None"
) -> Iterator[Piece]:
    """Yield the content of each file as it is read."""
    if spark is None:
        yield from (_read(path, out, committer.mark(resolved), keep_going) for resolved, path in files.items())
        return
    huge = {path for path in files.values() if path.stat().st_size > 2 * job.RANGE_BYTES}
    if len(files) == 1 and not huge:
        yield from (_read(path, out, committer.mark(resolved), keep_going) for resolved, path in files.items())
        return
    from causeway.analysis.spark import session

    spark = session(spark)
    # Ranges are staged in the result folder. If that is a URL, they are staged on this machine, where workers on other
    # machines cannot write.
    only_here = is_remote(out) and not str(spark.sparkContext.master).startswith("local")
    for path in sorted(huge):
        yield _read(path, out, committer.mark(path.resolve()), keep_going, None if only_here else _on_spark(spark))
    small = [(path, committer.mark(resolved)) for resolved, path in files.items() if path not in huge]
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
    """Read one file; with `keep_going`, record the error in its report if it cannot be read."""
    try:
        return job.read_file(path, out, before, keep_going, ranges or job.run_here)
    except UserError as error:
        if not keep_going:
            raise
        return Piece(path, out, FileReport(path, status="failed", problem_count=1, problems=[str(error)]))


def pandas_tables(paths: Sequence[str | Path], keep_going: bool = False) -> "dict[str, pd.DataFrame]":
    """Return the tables of some result files as pandas DataFrames, without a result folder. They must fit in memory."""
    with tempfile.TemporaryDirectory(prefix="causeway-") as folder:
        convert(paths, folder, keep_going)
        return {name: store.read_pandas(Path(folder), name) for name in schema.TABLES}


def spark_tables(
    spark: "SparkSession", paths: Sequence[str | Path], out: str | Path, keep_going: bool = False
) -> dict[str, "DataFrame"]:
    """Convert result files into the folder `out`, and return its tables as Spark DataFrames."""
    from causeway.analysis.spark import read_spark

    convert(paths, out, keep_going, spark)
    return {name: read_spark(spark, place(out), name) for name in schema.TABLES}
