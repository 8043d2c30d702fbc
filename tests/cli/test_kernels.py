"""Compiling is reported, and functions that were compiled ahead are not compiled by a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.cli import kernels
from causeway.studies import registry
from causeway.studies.runner import Job
from causeway.toolchain.installation import VARIABLE

LINE = "compiling the kernels of icpp18 (once, up to"
KERNEL = """
import sys
sys.path.insert(0, {sources!r})
from causeway.toolchain.first_compile import on_first_compile
from causeway.toolchain.jit import njit

@njit()
def twice(x):
    return x + x

with on_first_compile(lambda: print("reported")) as compiled:
    print(twice(1), twice(2), compiled)
"""


def in_cache(cache: Path, *command: str) -> str:
    """Return the output of a command with a cache folder of its own."""
    return subprocess.check_output([sys.executable, *command], env=os.environ | {VARIABLE: str(cache)}, text=True)


def test_compiling_is_reported_once_and_what_is_in_the_cache_is_not_compiled(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(KERNEL.format(sources=str(Path(__file__).parents[2])))
    assert in_cache(tmp_path / "cache", str(program)) == "reported\n2 4 ['twice']\n"
    assert in_cache(tmp_path / "cache", str(program)) == "2 4 []\n"


@pytest.mark.slow
def test_a_run_says_that_it_compiles_unless_that_was_done_ahead(tmp_path: Path) -> None:
    def run(nodes: int) -> str:
        command = (
            "-m",
            "causeway.cli.main",
            "run",
            "icpp18",
            "--set",
            f"nodes={nodes}",
            "--out",
            str(tmp_path / "out"),
        )
        return in_cache(tmp_path / "cache", *command)

    assert run(8).count(LINE) == 1
    in_cache(tmp_path / "cache", "-m", "causeway.cli.kernels", "icpp18")
    assert LINE not in run(16)


@pytest.mark.parametrize("name", registry.STUDIES)
def test_every_study_has_smallest_points_of_a_few_events(name: str) -> None:
    study = registry.get(name)
    points = study.sweeps[kernels.SMALLEST]
    assert points
    for point in points:
        job = Job(name, point, 1, "inline")
        assert study.network(job.params, 1).nodes <= 20


def test_a_study_is_ready_once_it_was_compiled_from_these_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of another clone, equal or not, have another folder (tests/toolchain/test_compiled_code.py)."""
    monkeypatch.setattr(kernels, "kernels_dir", lambda: tmp_path)
    monkeypatch.setattr(kernels, "_run_smallest", lambda name: None)
    assert not kernels._is_ready("hash")
    kernels.compile_study("hash")
    assert kernels._is_ready("hash") and not kernels._is_ready("icpp18")
    monkeypatch.setattr(kernels, "_engines_here", lambda: "inline another")
    assert not kernels._is_ready("hash"), "events of a simulator are of other types"
