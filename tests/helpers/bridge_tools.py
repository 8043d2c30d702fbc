"""Shared by the tests of the bridge: small runs, and C++ programs linked with the client library."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from causeway.bridge.engine import RunSpec
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload

TOP = Path(__file__).resolve().parents[2]
FAKE = [sys.executable, str(TOP / "tests" / "helpers" / "fake_simulator.py")]
FAKE_ENVIRONMENT = {"PYTHONPATH": str(TOP)}


def small_spec(**changes: Any) -> RunSpec:
    """Return a run of three nodes without a workload."""
    settings: dict[str, Any] = {
        "study": "test", "parameters": {"x": 1}, "seed": 1, "reaction_ps": 1_000_000, "deadline_s": 10.0,
        "network": AbstractNetwork(3, delay=constant_delay(1.0), workload=Workload(3)),
    }  # fmt: skip
    return RunSpec(**{**settings, **changes})


@contextlib.contextmanager
def zmq_pair() -> Iterator[zmq.Socket]:
    """Return ZeroMQ's own end of a bridge, to be bound or connected."""
    context = zmq.Context()
    with context, context.socket(zmq.PAIR) as found:
        found.setsockopt(zmq.RCVTIMEO, 10_000)
        found.setsockopt(zmq.LINGER, 0)
        yield found


def wait_until(condition: Callable[[], bool], within_s: float) -> bool:
    """Return whether the condition holds within this time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


SANITIZERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")


def build_sanitized(name: str, alone: bool = False) -> Path:
    """The same under AddressSanitizer and UBSan, the client library with it (`alone`: the source includes it)."""
    build_cpp("ticker")  # the generated code
    program = TOP / "build" / "programs" / f"{name}-sanitized"
    library = sorted((TOP / "bridge" / "cpp").glob("*.cc"))
    source = TOP / "tests" / "helpers" / "cpp" / f"{name}.cc"
    read = [source, *library, *source.parent.glob("*.h"), *(TOP / "bridge" / "cpp").glob("*.h")]
    read.append(TOP / "proto" / "causeway.proto")
    with _alone():
        if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in read):
            return program
        flags = ["-std=c++17", "-g", "-O1", "-ffp-contract=off", *SANITIZERS, f"-I{TOP}", f"-I{TOP / 'build' / 'cpp'}"]
        sources = [str(path) for path in ([source] if alone else [source, *library])]
        linked = [str(TOP / "build" / "cpp" / "causeway.pb.o"), "-lprotobuf", "-lzmq", "-o", str(program)]
        done = subprocess.run(["g++", *flags, *sources, *linked], capture_output=True, text=True, check=False)
        if "cannot find" in done.stderr and "san" in done.stderr:
            pytest.skip("no sanitizer libraries here (libasan, libubsan)")
        assert done.returncode == 0, done.stderr[-3000:]
    return program


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Tests may run in several processes; one builds at a time."""
    (TOP / "build").mkdir(exist_ok=True)
    with open(TOP / "build" / ".programs.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_cpp(name: str) -> Path:
    """Build tests/helpers/cpp/<name>.cc; skip the test if there is no compiler."""
    for tool in ("g++", "make", "protoc", "pkg-config"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here: C++ adapters cannot be built")
    if subprocess.run(["pkg-config", "--exists", "libzmq", "protobuf"], check=False).returncode != 0:
        pytest.skip("no libzmq3-dev or libprotobuf-dev here: C++ adapters cannot be built")
    with _alone():
        make = ["make", "-s", "-C", str(TOP / "bridge" / "cpp"), "program", f"SOURCE=tests/helpers/cpp/{name}.cc"]
        subprocess.run(make, check=True)
    return TOP / "build" / "programs" / name
