"""Shared by the tests of the bridge: small runs, and C++ programs linked with the client library."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.network import AbstractNetwork, constant_delay
from causeway.bridge.workload import Workload

TOP = Path(__file__).resolve().parents[2]
FAKE = [sys.executable, str(TOP / "tests" / "worlds" / "fake_simulator.py")]
FAKE_ENVIRONMENT = {"PYTHONPATH": str(TOP)}


def small_spec(**changes: Any) -> RunSpec:
    """A run of three nodes that nobody broadcasts in."""
    settings: dict[str, Any] = {
        "study": "test", "parameters": {"x": 1}, "seed": 1, "reaction_ps": 1_000_000, "deadline_s": 10.0,
        "network": AbstractNetwork(3, constant_delay(1.0), Workload(3)),
    }  # fmt: skip
    return RunSpec(**{**settings, **changes})


def build_cpp(name: str) -> Path:
    """tests/worlds/cpp/<name>.cc as a program; skips where there is nothing to build it with."""
    for tool in ("g++", "make", "protoc", "pkg-config"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here: C++ edges cannot be built")
    if subprocess.run(["pkg-config", "--exists", "libzmq", "protobuf"], check=False).returncode != 0:
        pytest.skip("no libzmq3-dev or libprotobuf-dev here: C++ edges cannot be built")
    (TOP / "build").mkdir(exist_ok=True)
    with open(TOP / "build" / ".programs.lock", "w") as lock:  # tests may run in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        make = ["make", "-s", "-C", str(TOP / "bridge" / "cpp"), "program", f"SOURCE=tests/worlds/cpp/{name}.cc"]
        subprocess.run(make, check=True)
    return TOP / "build" / "programs" / name
