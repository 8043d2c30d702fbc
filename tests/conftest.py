"""Fixtures shared by test files."""

import logging
from collections.abc import Iterator

import pytest

from causeway.bridge.engines.inline import InlineSession
from tests.helpers import drawn
from tests.helpers.command import causeway_here  # noqa: F401 (a fixture)

drawn.register()


@pytest.fixture(scope="session", autouse=True)
def windows_of_inline_are_checked() -> Iterator[None]:
    """Runs of users trust the events of `inline`; in tests every window is validated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InlineSession, "makes_its_events", False)
        yield


@pytest.fixture(scope="session")
def spark():
    """One real local Spark session for all tests that need one."""
    pytest.importorskip("pyspark")
    from causeway.analysis.spark import session

    logging.getLogger("py4j").setLevel(logging.WARNING)  # else it says good-bye to a stream that pytest has closed
    running = session("local[2]", memory="1g", spark_sql_shuffle_partitions="4")
    yield running
    running.stop()
