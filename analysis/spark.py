"""Make Spark sessions with settings for one machine, or for a cluster, whose workers are sent this package."""

import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from causeway.analysis import physical, schema, store
from causeway.analysis.remote import is_remote, place
from causeway.analysis.ship import package_zip
from causeway.errors import UserError

_QUIET = (Path(__file__).parent / "spark-log4j2.properties").as_uri()

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OURS: list["SparkSession"] = []
"""The sessions that were made here; the running one is the last."""
_SENT: set[str] = set()
"""The ids of the applications that were sent this package."""


def session(master: "str | SparkSession" = "local[*]", memory: str = "1500m", **settings: str) -> "SparkSession":
    """Return a Spark session with our settings: the one that was made here before, or a new one on `master`.

    If you have a session (as `master`, or running), only its context is shared, and your session keeps its settings.
    `settings` are further Spark options of a new context, with underscores for dots. Unless the master is on another
    machine, Spark listens on loopback only. The workers run this process's Python, or PYSPARK_PYTHON; workers on other
    machines are sent this package.
    """
    if isinstance(master, str):
        _check_master(master)
    made = _running_session(master) or _new(str(master), memory, settings)
    context = made.sparkContext
    if not is_local(made) and context.applicationId not in _SENT:
        context.addPyFile(str(package_zip()))
        _SENT.add(context.applicationId)
    return made


def _check_master(master: str) -> None:
    if not master.startswith(("local", "yarn", *(f"{scheme}://" for scheme in ("spark", "k8s", "mesos", "sc")))):
        raise UserError(f"{master!r} is not a Spark master; allowed: local[*], spark://HOST:7077, k8s://..., yarn")


def is_local(session: "SparkSession") -> bool:
    """Return whether the workers are processes of this machine."""
    return str(session.sparkContext.master).startswith("local[") or session.sparkContext.master == "local"


def _ours(local: bool) -> dict[str, str]:
    """Return the settings that apply only to queries of our own session."""
    return {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(max(2, 2 * (os.cpu_count() or 1))) if local else "200",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.enableVectorizedReader": "true",
    }


def _running_session(master: "str | SparkSession") -> "SparkSession | None":
    """Return our session on the running context; None if there is no running context."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session = master if isinstance(master, SparkSession) else SparkSession.getActiveSession()
    running = SparkContext._active_spark_context
    if session is None or running is None or session.sparkContext._jsc is None:
        return None
    for one in _OURS:
        if one.sparkContext is session.sparkContext:
            return one
    made = session.newSession()
    for name, value in _ours(is_local(session)).items():
        made.conf.set(name, value)
    _OURS[:] = [made]
    return made


def _new(master: str, memory: str, settings: dict[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    here = master.startswith("local") or "127.0.0.1" in master or "localhost" in master
    options = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f"-Djava.net.preferIPv4Stack=true -Dlog4j2.configurationFile={_QUIET}",
        **_ours(here),
    }
    if here:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    options |= {name.replace("_", "."): value for name, value in settings.items()}
    builder = SparkSession.builder.master(master).appName("causeway")
    for name, value in options.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    _OURS[:] = [made]
    return made


def read_spark(spark: "SparkSession", folder: Path, table: str) -> "DataFrame":
    """Return all runs' rows of a table as a Spark DataFrame.

    Files behind a URL are read by pyarrow in Spark's Python workers, so no jar is needed.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    form = schema.TABLES[table]
    spark_schema = from_arrow_schema(form)
    state = store.state_of(folder)
    if state.version < 0:
        rows = store.read_arrow(folder, table)
        return spark.createDataFrame(rows.to_pandas() if len(rows) else [], spark_schema)
    files = state.files.get(table, [])
    if not files:
        return spark.createDataFrame([], spark_schema)
    if is_remote(state.folder):
        listed = spark.createDataFrame(
            [(str(state.folder), pickle.dumps(file)) for file in files], "folder string, file binary"
        )
        spread = listed.repartition(min(len(files), _MOST_TASKS))
        return spread.mapInArrow(_Reader(table), spark_schema)
    for file in files:
        if what := physical.wrong(state.folder, file):
            raise physical.damage(state.folder, file, what)
    names = physical.renamed(table, form.names)
    in_files = from_arrow_schema(pa.schema([field.with_name(name) for field, name in zip(form, names, strict=True)]))
    plain = spark.read.schema(in_files).option("recursiveFileLookup", "true")
    plain = plain.option("__globPaths__", "false")  # Spark takes a path with brackets or stars for a pattern
    frame = plain.parquet(*(str(path.absolute()) for path in store.files_of(folder, table)))
    return frame.toDF(*form.names)


_MOST_TASKS = 1000


class _Reader:
    """Reads the rows of files by pyarrow in a task of Spark."""

    def __init__(self, table: str) -> None:
        self.table = table

    def __call__(self, lists: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = schema.TABLES[self.table].names
        for some in lists:
            for folder, file in zip(some["folder"].to_pylist(), some["file"].to_pylist(), strict=True):
                rows = physical.read(place(folder), [pickle.loads(file)], physical.renamed(self.table, names))
                yield from physical.as_table(self.table, rows, names).to_batches(_BATCH_ROWS)


_BATCH_ROWS = 1 << 16
