"""Fixtures shared by test files."""

import pytest


@pytest.fixture(scope="session")
def spark():
    """One real local Spark session for all tests that need one."""
    pytest.importorskip("pyspark")
    from causeway.analysis.spark import session

    running = session("local[2]", memory="1g", spark_sql_shuffle_partitions="4")
    yield running
    running.stop()
