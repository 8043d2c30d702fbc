"""The pairs of OMNeT++ and INET on this machine, for tests that run on each of them or on a certain one.

    python -m tests.helpers.omnet_pairs [ARGUMENTS]

runs the tests marked omnet on every pair other than the one that engine omnet uses by itself: `make test-pairs`.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from causeway.bridge.engines.omnet import inet_adapter_of
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import Found, find_omnetpp, pairs

ON_EACH_PAIR = ("tests/omnet/test_pairs.py", "tests/omnet/test_other_pair.py")
"""Files whose tests run on each pair, or on two, by themselves."""
NO_TESTS = 5
"""The status of pytest if the arguments select no test."""


def choose(pair: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let engine omnet use a pair, whose adapter is built."""
    monkeypatch.setenv("OMNETPP_ROOT", str(pair.root))
    monkeypatch.setenv("INET_ROOT", str(pair.inet_root))
    build(inet_adapter_of(pair))


def others() -> list[Found]:
    """Return the pairs that can be used, without the one that engine omnet uses by itself."""
    used = find_omnetpp()
    return [pair for pair in pairs() if used is None or pair.folders != used.folders]


def command(arguments: list[str]) -> list[str]:
    """Return the command line of the tests that depend on the pair."""
    ignored = [f"--ignore={file}" for file in ON_EACH_PAIR]
    return [sys.executable, "-m", "pytest", "-m", "omnet", *ignored, *(arguments or ["tests"])]


def main(arguments: list[str]) -> int:
    """Run the tests on each other pair, and return the worst exit status."""
    status = 0
    for pair in others():
        print(f"\n=== the tests marked omnet on {pair.text} ({pair.root}, {pair.inet_root})", flush=True)
        chosen = {"OMNETPP_ROOT": str(pair.root), "INET_ROOT": str(pair.inet_root)}
        done = subprocess.run(command(arguments), env={**os.environ, **chosen}, check=False).returncode
        status = max(status, 0 if done == NO_TESTS else done)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
