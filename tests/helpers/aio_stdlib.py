"""Runs modules of the standard library's own asyncio tests on SoloLoop: `python -m tests.helpers.aio_stdlib
test_locks`.

Prints how many ran and how many failed, then the names of those that failed.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
import sys
import unittest

from causeway.aio.solo import SoloLoop


class Policy(asyncio.DefaultEventLoopPolicy):
    """Every new loop is a simulated one."""

    def new_event_loop(self):
        loop = SoloLoop()
        loop._default_executor = None  # the tests' own tear-down looks for it
        return loop


def main(names: list[str]) -> None:
    asyncio.set_event_loop_policy(Policy())
    # test_runners interrupts itself. A process in the background of a script inherits that this is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in names:
        module = importlib.import_module(f"test.test_asyncio.{name}")
        module.tearDownModule = lambda: None  # it takes the policy away
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
        bad = sorted({str(test) for test, _ in result.failures + result.errors})
        print(name, result.testsRun, len(bad), *bad, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
