"""Spark sessions with settings that suit one machine; a cluster is only another master URL, and gets this package."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.analysis.ship import package_zip

_QUIET = (Path(__file__).parent / "spark-log4j2.properties").as_uri()

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OURS: list["SparkSession"] = []
"""The sessions that were made here, the running one last."""
_SENT: set[str] = set()
"""The applications that have this package."""


def session(master: "str | SparkSession" = "local[*]", memory: str = "2g", **settings: str) -> "SparkSession":
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
