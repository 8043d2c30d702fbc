"""OMNeT++'s result files (.sca, .vec, text or SQLite) -> the result tables. Start here: `convert`.

`records` reads what is not vector data, `kernel` (compiled) reads vector data, `text` runs both over a file, `sqlite`
reads databases, `job` converts one file, `stage` keeps half-done work out of sight. Nothing here is about our own runs:
any OMNeT++ project's results will do.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from causeway.analysis import schema, store
from causeway.analysis.convert import job
from causeway.analysis.convert.job import RangeResult, RangeTask, convert_file, run_range
from causeway.analysis.convert.report import FileReport, Report
from causeway.bridge.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FileReport", "Report", "convert", "pandas_tables", "spark_tables"]

_SUFFIXES = (".sca", ".vec")


def convert(
    paths: Sequence[str | Path], out: str | Path, keep_going: bool = False, spark: "SparkSession | str | None" = None
) -> Report:
    """Convert result files, and all .sca and .vec below folders, into the result folder `out`.

    Files converted before and not changed since are passed over; one that has grown is continued. With `spark` (a
    session or a master URL), small files are one task each and the ranges of huge files are tasks too; without, and for
    a single file that is not huge, all is done in this process. A bad line ends it with an error that names file and
    line; `keep_going` tells it in the report and converts the rest.
    """
    files, out = find(paths), Path(out).resolve()
    huge = {path for path in files if path.stat().st_size > 2 * job.RANGE_BYTES}
    if spark is None or (len(files) == 1 and not huge):
        return Report([_one(path, out, keep_going) for path in files])
    if isinstance(spark, str):
        from causeway.analysis.spark import session

        spark = session(spark)
    small = [path for path in files if path not in huge]
    done = {path: _one(path, out, keep_going, spark) for path in files if path in huge}
    if small:
        tasks = spark.sparkContext.parallelize([path.resolve() for path in small], len(small))
        done |= dict(zip(small, tasks.map(lambda path: _guarded(path, out, keep_going)).collect(), strict=True))
    for report in done.values():
        if report.status == "failed" and not keep_going:
            raise UserError(report.problems[0])
    return Report([done[path] for path in files])


def find(paths: Sequence[str | Path]) -> list[Path]:
    """The result files meant by `paths`, each once."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            below = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES and p.is_file())
            if not below:
                raise UserError(f"no result files (.sca, .vec) below {path}; name the folder a simulation wrote to")
            found |= dict.fromkeys(below)
        elif not path.exists():
            raise UserError(f"no such file or folder: {path}")
        elif path.suffix == ".vci":
            raise UserError(f"{path} is only an index; convert {path.with_suffix('.vec')}")
        else:
            found[path] = None
    return list({path.resolve(): path for path in found}.values())


def _one(path: Path, out: Path, keep_going: bool, spark: "SparkSession | None" = None) -> FileReport:
    if spark is None:
        return _guarded(path, out, keep_going) if keep_going else convert_file(path, out)
    session = spark

    def run_on_spark(tasks: list[RangeTask], declared: np.ndarray) -> list[RangeResult]:
        if not tasks:
            return []
        shared = session.sparkContext.broadcast(declared)
        spread = session.sparkContext.parallelize(tasks, len(tasks))
        return spread.map(lambda task: run_range(task, shared.value)).collect()

    return convert_file(path, out, keep_going, run_on_spark)


def _guarded(path: Path, out: Path, keep_going: bool) -> FileReport:
    """Convert one file; a file that cannot be read at all is told in its report."""
    try:
        return convert_file(path, out, keep_going)
    except UserError as error:
        return FileReport(path, status="failed", problem_count=1, problems=[str(error)])


def pandas_tables(paths: Sequence[str | Path], keep_going: bool = False) -> "dict[str, pd.DataFrame]":
    """The tables of some result files as pandas DataFrames, nothing left on the disk. For what fits in memory."""
    with tempfile.TemporaryDirectory(prefix="causeway-") as folder:
        convert(paths, folder, keep_going)
        return {name: store.read_pandas(Path(folder), name) for name in schema.TABLES}


def spark_tables(
    spark: "SparkSession", paths: Sequence[str | Path], out: str | Path, keep_going: bool = False
) -> dict[str, "DataFrame"]:
    """The tables of some result files as Spark DataFrames, converted into `out` first."""
    convert(paths, out, keep_going, spark)
    return {name: store.read_spark(spark, Path(out), name) for name in schema.TABLES}
