"""Shared by the tests of the bridge: small runs, and C++ programs linked with the client library."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.engine import RunSpec
from bridge.network import AbstractNetwork, constant_delay
from bridge.workload import Workload

TOP = Path(__file__).resolve().parent.parent
FAKE = [sys.executable, str(TOP / "tests" / "fake_simulator.py")]
FAKE_ENVIRONMENT = {"PYTHONPATH": str(TOP)}


def small_spec(**changes: Any) -> RunSpec:
    """A run of three nodes that nobody broadcasts in."""
    settings: dict[str, Any] = {
        "study": "test", "parameters": {"x": 1}, "seed": 1, "reaction_ps": 1_000_000, "deadline_s": 10.0,
        "network": AbstractNetwork(3, constant_delay(1.0), Workload(3)),
    }  # fmt: skip
    return RunSpec(**{**settings, **changes})


def build_cpp(name: str) -> Path:
    """tests/cpp/<name>.cc as a program; skips where there is nothing to build it with."""
    for tool in ("g++", "make", "protoc", "pkg-config"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here: C++ edges cannot be built")
    if subprocess.run(["pkg-config", "--exists", "libzmq", "protobuf"], check=False).returncode != 0:
        pytest.skip("no libzmq3-dev or libprotobuf-dev here: C++ edges cannot be built")
    subprocess.run(["make", "-s", "-C", str(TOP / "bridge" / "cpp")], check=True)
    built = TOP / "build" / "tests" / name
    library, source = TOP / "build" / "cpp" / "libcauseway.a", TOP / "tests" / "cpp" / f"{name}.cc"
    if not built.exists() or built.stat().st_mtime < max(library.stat().st_mtime, source.stat().st_mtime):
        built.parent.mkdir(parents=True, exist_ok=True)
        flags = ["-std=c++17", "-O1", "-ffp-contract=off", f"-I{TOP}", f"-I{TOP / 'build' / 'cpp'}"]
        libraries = [str(library), "-lprotobuf", "-lzmq", "-lpthread"]
        subprocess.run(["g++", *flags, str(source), "-o", str(built), *libraries], check=True)
    return built
