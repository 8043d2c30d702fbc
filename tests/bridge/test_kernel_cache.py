"""A changed helper in another file is noticed: numba alone would go on with the old one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge.kernel_cache import VARIABLE, state_of_kernels
from causeway.bridge.places import SOURCES

HELPER = """
import numba
@numba.njit(cache=True)
def helper(x):
    return x + {plus}
"""
CALLER = """
import numba
from helper_kernel import helper
@numba.njit(cache=True)
def caller(x):
    return helper(x)
"""
USER = """
import os, pathlib, sys
sys.path[:0] = ["pycontrol", {top!r}]
from causeway.bridge.kernel_cache import use_kernel_cache
os.environ.pop({variable!r})  # that of the real checkout
use_kernel_cache(pathlib.Path.cwd())
from caller_kernel import caller
print(caller(1))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pycontrol").mkdir()
    (tmp_path / "pycontrol" / "caller_kernel.py").write_text(CALLER)
    (tmp_path / "pycontrol" / "helper_kernel.py").write_text(HELPER.format(plus=1))
    return tmp_path


def call(checkout: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE} | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "CAUSEWAY_CACHE": str(checkout / "cache"),
    }
    user = USER.format(top=str(SOURCES), variable=VARIABLE)
    return subprocess.check_output([sys.executable, "-c", user], cwd=checkout, env=environment, text=True).strip()


def test_a_caller_follows_a_helper_that_changes(checkout: Path) -> None:
    states = [state_of_kernels(checkout)]
    assert call(checkout) == "2"
    (checkout / "pycontrol" / "helper_kernel.py").write_text(HELPER.format(plus=5))
    assert call(checkout) == "6"
    states.append(state_of_kernels(checkout))
    assert states[0] != states[1], "one place for each state"
    places = [checkout / "cache" / "kernels" / state for state in states]
    assert all(list(place.rglob("*.nbi")) for place in places), "and it is used"


def test_only_files_that_numba_compiles_count(checkout: Path) -> None:
    before = state_of_kernels(checkout)
    (checkout / "pycontrol" / "plain.py").write_text("x = 1\n")
    assert state_of_kernels(checkout) == before
