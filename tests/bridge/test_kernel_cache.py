"""Compiled kernels: a changed helper in another file is noticed; what a change does not touch is not compiled again."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge.kernel_cache import DIRECTORY, LOCATORS, imported_by
from causeway.bridge.places import SOURCES, VARIABLE

FUNCTION = """
import numba
{imports}
@numba.njit(cache=True)
def {name}(x):
    return {body}
"""
USER = """
import sys
sys.path.insert(0, {sources!r})
import causeway.bridge
from caller_kernel import caller
from other_kernel import other
print(caller(1), other(1), sum(caller.stats.cache_misses.values()), sum(other.stats.cache_misses.values()))
"""


def write(folder: Path, name: str, body: str, imports: str = "") -> None:
    (folder / f"{name}_kernel.py").write_text(FUNCTION.format(imports=imports, name=name, body=body))


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    write(tmp_path, "helper", "x + 1")
    write(tmp_path, "caller", "helper(x)", "from helper_kernel import helper")
    write(tmp_path, "other", "x + 100")
    return tmp_path


def call(kernels: Path) -> list[int]:
    """What caller and other answer, and how often each was compiled, in a process of its own."""
    environment = {k: v for k, v in os.environ.items() if k not in (DIRECTORY, LOCATORS)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", VARIABLE: str(kernels / "cache")}
    user = USER.format(sources=str(SOURCES))
    told = subprocess.check_output([sys.executable, "-c", user], cwd=kernels, env=environment, text=True)
    return [int(word) for word in told.split()]


@pytest.mark.slow
def test_what_did_not_change_is_not_compiled_again(kernels: Path) -> None:
    assert call(kernels) == [2, 101, 1, 1]
    assert call(kernels) == [2, 101, 0, 0]


@pytest.mark.slow
def test_a_caller_follows_a_helper_that_changes_and_nothing_else_is_compiled(kernels: Path) -> None:
    call(kernels)
    write(kernels, "helper", "x + 5")
    assert call(kernels) == [6, 101, 1, 0]


def test_a_kernel_of_ours_depends_on_the_kinds_of_events_but_not_on_other_kernels() -> None:
    kernel = SOURCES / "pycontrol" / "protocols" / "clocks" / "kernel.py"
    left, reached = [kernel], set()
    while left:
        file = left.pop()
        if file not in reached:
            reached.add(file)
            left += imported_by(file)
    assert SOURCES / "bridge" / "events.py" in reached
    assert SOURCES / "pycontrol" / "protocols" / "icpp18" / "kernel.py" not in reached


@pytest.mark.slow
def test_a_kernel_whose_argument_has_another_class_by_now_is_compiled_again(kernels: Path) -> None:
    """What is kept of the old one names a class that is gone."""
    state = "from typing import NamedTuple\nclass {0}(NamedTuple):\n    x: int\nmake = {0}\n"
    user = "import causeway.bridge, caller_kernel, state_of_it\nprint(caller_kernel.caller(state_of_it.make(1)))"
    write(kernels, "caller", "x.x + 1", "import state_of_it")
    for name in ("Before", "After"):
        (kernels / "state_of_it.py").write_text(state.format(name))
        environment = {k: v for k, v in os.environ.items() if k not in (DIRECTORY, LOCATORS)}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", VARIABLE: str(kernels / "cache"), "PYTHONPATH": str(SOURCES)}
        told = subprocess.run(
            [sys.executable, "-c", user], cwd=kernels, env=environment, capture_output=True, text=True
        )
        assert (told.stdout, told.returncode) == ("2\n", 0), told.stderr[-2000:]


def run_icpp18(cache: Path, out: Path, most_bytes: int) -> subprocess.CompletedProcess[str]:
    """A command whose files may have so many bytes."""

    def few_bytes() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    environment = {k: v for k, v in os.environ.items() if k not in (DIRECTORY, LOCATORS)}
    command = [sys.executable, "-m", "causeway.cli.main", "run", "icpp18", "--set", "nodes=4", "--out", str(out)]
    return subprocess.run(
        command, env=environment | {VARIABLE: str(cache)}, preexec_fn=few_bytes, cwd=SOURCES, capture_output=True,
        text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_a_full_cache_folder_is_named_with_what_to_do(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    ran = run_icpp18(cache, tmp_path / "out", 100)
    assert ran.returncode != 0
    told = [line for line in (ran.stdout + ran.stderr).splitlines() if "File too large" in line]
    assert len(told) == 1 and f"cannot be kept in {cache}/kernels/" in told[0], ran.stdout + ran.stderr
    assert told[0].endswith(f"(File too large): make room there, or name another folder in {VARIABLE}")
    assert "Traceback" not in ran.stdout + ran.stderr


def test_where_no_folder_takes_anything_ours_is_named_with_what_to_do(kernels: Path) -> None:
    (kernels / "__pycache__").touch()  # numba's own place, beside the file
    environment = {k: v for k, v in os.environ.items() if k not in (DIRECTORY, LOCATORS)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", VARIABLE: "/dev/null/cache", "XDG_CACHE_HOME": "/dev/null"}
    command = [sys.executable, "-c", USER.format(sources=str(SOURCES))]
    ran = subprocess.run(command, cwd=kernels, env=environment, capture_output=True, text=True)
    assert ran.stderr.splitlines()[-1] == (
        "causeway.bridge.errors.UserError: what is compiled cannot be kept in /dev/null/cache/kernels (Not a "
        f"directory): make room there, or name another folder in {VARIABLE}"
    )
