"""Spark sessions with settings that suit one machine; a cluster is only another master URL, and gets this package."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from causeway.analysis import batches, schema, store
from causeway.analysis.remote import is_remote, place
from causeway.analysis.ship import package_zip

_QUIET = (Path(__file__).parent / "spark-log4j2.properties").as_uri()

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OURS: list["SparkSession"] = []
"""The sessions that were made here, the running one last."""
_SENT: set[str] = set()
"""The applications that have this package."""


def session(master: "str | SparkSession" = "local[*]", memory: str = "1500m", **settings: str) -> "SparkSession":
    """A Spark session with our settings: the one that was made here before, or a new one on `master`, or beside a
    session of yours (`master`, or the one that runs), which keeps its own settings: only the context is shared.

    `settings` are further Spark options of a new context, dots as underscores. Loopback only unless the master is
    elsewhere: nothing listens on an outer address by default. The workers run the Python that runs this, or
    PYSPARK_PYTHON; what is not here gets this package from us.
    """
    made = _beside(master) or _new(str(master), memory, settings)
    context = made.sparkContext
    if not is_local(made) and context.applicationId not in _SENT:
        context.addPyFile(str(package_zip()))
        _SENT.add(context.applicationId)
    return made


def is_local(session: "SparkSession") -> bool:
    """Whether its workers are processes of this machine that see what we see."""
    return str(session.sparkContext.master).startswith("local[") or session.sparkContext.master == "local"


def _ours(local: bool) -> dict[str, str]:
    """What only our own session's queries see."""
    return {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(max(2, 2 * (os.cpu_count() or 1))) if local else "200",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.enableVectorizedReader": "true",
    }


def _beside(master: "str | SparkSession") -> "SparkSession | None":
    """Our session on the context that runs."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    given = master if isinstance(master, SparkSession) else SparkSession.getActiveSession()
    running = SparkContext._active_spark_context
    if given is None or running is None or given.sparkContext._jsc is None:
        return None
    for one in _OURS:
        if one.sparkContext is given.sparkContext:
            return one
    made = given.newSession()
    for name, value in _ours(is_local(given)).items():
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
    """All finished runs' rows of a table as a Spark DataFrame. What stands behind a URL is read by pyarrow in Spark's
    Python workers: no jar for it is needed."""
    from pyspark.sql.pandas.types import from_arrow_schema

    spark_schema = from_arrow_schema(schema.TABLES[table])
    there, again = store.files_of(folder, table), store.doubled(store.finished_batches(folder))
    files = [str(path) for path in there]
    if not files:
        return spark.createDataFrame([], spark_schema)
    top = place(folder).resolve()
    cut = {str(path): sorted(ids) for path in there if again and (ids := again.get(store.below(top, path)))}
    if is_remote(place(folder)) or cut:
        listed = spark.createDataFrame([(file,) for file in files], "file string")
        spread = listed.repartition(min(len(files), _MOST_TASKS))
        return spread.mapInArrow(_Reader(table, cut), spark_schema)
    plain = spark.read.schema(spark_schema).option("recursiveFileLookup", "true")
    plain = plain.option("__globPaths__", "false")  # brackets and stars in a path are only names
    if len(files) == len(store.all_files(folder, table)):  # most often: one folder instead of names
        return plain.parquet(str(store.table_dir(folder, table).resolve()))
    return plain.parquet(*files)


_MOST_TASKS = 1000


class _Reader:
    """The rows of files, read by pyarrow where a task of Spark runs; but for the runs of a file that are left out."""

    def __init__(self, table: str, cut: Mapping[str, list[str]]) -> None:
        self.table, self.cut = table, cut

    def __call__(self, lists: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        form = schema.TABLES[self.table]
        for files in lists:
            for name in files["file"].to_pylist():
                with batches.opened(place(name)) as file:
                    held = [column for column in form.names if column in file.schema_arrow.names]
                    for rows in file.iter_batches(batch_size=_BATCH_ROWS, columns=held):
                        conformed = schema.conform(self.table, pa.Table.from_batches([rows]))
                        yield from store.without_runs(conformed, self.cut.get(name, ())).to_batches()


_BATCH_ROWS = 1 << 16
