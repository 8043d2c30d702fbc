"""One Spark session with settings that suit one machine; a cluster is only another master URL."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

_QUIET = (Path(__file__).parent / "spark-log4j2.properties").as_uri()

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session(master: str = "local[*]", memory: str = "2g", **settings: str) -> "SparkSession":
    """The running Spark session, or a new one on `master`. `settings` are further Spark options, dots as underscores.

    Loopback only unless the master is elsewhere: nothing listens on an outer address by default. The workers run the
    Python that runs this, so that they have the same packages.
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    local = master.startswith("local") or "127.0.0.1" in master or "localhost" in master
    options = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(max(2, 2 * (os.cpu_count() or 1))),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.enableVectorizedReader": "true",
        "spark.driver.extraJavaOptions": f"-Djava.net.preferIPv4Stack=true -Dlog4j2.configurationFile={_QUIET}",
    }
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    options |= {name.replace("_", "."): value for name, value in settings.items()}
    builder = SparkSession.builder.master(master).appName("causeway")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
