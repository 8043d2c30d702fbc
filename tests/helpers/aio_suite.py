"""Other people's suites of tests on SoloLoop.

    python -m tests.helpers.aio_suite FOLDER tests.asyncio.test_client ...    unittest: modules in a folder of sources
    pytest -p tests.helpers.aio_suite -p no:asyncio ...                       pytest: as a plugin

The first prints for each module how many tests ran, how many failed, how many were skipped, and the errors by number.
"""

from __future__ import annotations

import asyncio
import collections
import importlib
import sys
import unittest

from causeway.aio import SoloLoop, solo_environment


class Policy(asyncio.DefaultEventLoopPolicy):
    """Every new loop is a simulated one."""

    def new_event_loop(self):
        return SoloLoop(calls_in_place=True)


def pytest_configure(config):
    """A plugin of pytest: for the whole session."""
    asyncio.set_event_loop_policy(Policy())
    world = solo_environment()
    world.__enter__()
    config.add_cleanup(lambda: world.__exit__(None, None, None))


def main(folder: str, names: list[str]) -> None:
    """In the folder's own packages: its `tests` is not ours."""
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    asyncio.set_event_loop_policy(Policy())
    for name in names:
        module, result = importlib.import_module(name), unittest.TestResult()
        with solo_environment():
            unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
        bad = result.failures + result.errors
        print(f"{name}: {result.testsRun} ran, {len(bad)} failed, {len(result.skipped)} skipped")
        for error, count in collections.Counter(text.strip().split("\n")[-1][:100] for _, text in bad).most_common():
            print(f"    {count} {error}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
