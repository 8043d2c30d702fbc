"""The standard library's own tests of asyncio's tools, run on this loop."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

MODULES = (
    "test_queues",
    "test_locks",
    "test_timeouts",
    "test_taskgroups",
    "test_waitfor",
    "test_runners",
    pytest.param("test_futures", marks=pytest.mark.slow),
)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_the_standard_librarys_own_tests_pass(module):
    if importlib.util.find_spec("test") is None or importlib.util.find_spec(f"test.test_asyncio.{module}") is None:
        pytest.skip(f"this Python comes without test.test_asyncio.{module}")
    command = [sys.executable, "-m", "tests.helpers.aio_stdlib", module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    name, ran, failed, *which = done.stdout.split("\n")
    assert (name, failed) == (module, "0"), which
    assert int(ran) > 10
