"""Kernels kept as machine code: the same answers as numba's own, and numba is not loaded once they are there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge.places import SOURCES, VARIABLE

KERNEL = """
import numba
@numba.njit
def sums(numbers, more, pair, weight):
    total, places = 0, 0.0
    for i in range(len(numbers)):
        total += numbers[i] * pair[1] + more[1, i]
        places += weight
    return total + pair[0], int(places)

@numba.njit
def raises(numbers):
    if len(numbers) == 2:
        raise ValueError("two")
    return len(numbers), 0
"""
USER = """
import sys
sys.path.insert(0, {sources!r})
import numpy as np
from causeway.bridge.kernel_object import Kernel
sums = Kernel("some_kernel", "sums", "i8[] i4[,] (i8 i8) f8 -> i8 i8")
found = sums(np.arange(4), np.arange(8, dtype=np.int32).reshape(2, 4), (100, 2), 1.5)
print(*found, "numba" in sys.modules)
"""


@pytest.fixture
def call(tmp_path: Path):
    """What a process of its own prints, with a cache folder of its own."""
    (tmp_path / "some_kernel.py").write_text(KERNEL)

    def run(user: str = USER, **more: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        environment |= {VARIABLE: str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path), **more}
        code = user.format(sources=str(SOURCES.parent if SOURCES.name == "causeway" else SOURCES))
        return subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, env=environment, text=True).strip()

    return run


def test_compiling_is_told_and_can_be_done_ahead(call):
    tell = "Kernel.tell = lambda: print('compiling', sums.is_ready)\nsums = "
    user = USER.replace("sums = ", tell, 1)
    ahead = user.replace("found = ", "sums.prepare()\nprint(sums.is_ready)\nfound = ")
    assert call(ahead) == "compiling False\nTrue\n134 6 True"
    assert call(user) == "134 6 False"


def test_it_is_compiled_once_and_numba_is_not_loaded_again(call):
    assert call() == "134 6 True"
    assert call() == "134 6 False"


@pytest.mark.slow
def test_a_changed_source_is_compiled_again(call, tmp_path):
    call()
    (tmp_path / "some_kernel.py").write_text(KERNEL.replace("* pair[1]", "* 10"))
    assert call() == "182 6 True"
    assert call() == "182 6 False"


def test_without_a_folder_to_keep_it_in_numba_answers(call, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "kernels").write_text("in the way")
    assert call() == "134 6 True"


@pytest.mark.slow
def test_checks_of_every_index_are_numbas(call):
    call()
    assert call(NUMBA_BOUNDSCHECK="1") == "134 6 True"


@pytest.mark.slow
def test_a_kernel_that_needs_more_than_machine_code_is_left_to_numba(call):
    """One that raises calls back into Python."""
    user = USER.replace("found = sums(", "sums(").replace(
        "print(*found", "k = Kernel('some_kernel', 'raises', 'i8[] -> i8 i8')\nprint(*k(np.arange(3))"
    )
    assert call(user) == "3 0 True" and call(user) == "3 0 True"
