"""The benches' own programs are compiled by nothing else."""

from __future__ import annotations

import shutil

import pytest

from bench.bench_bridge import build


@pytest.mark.parametrize("source", ["echo.cc", "blast.cc"])
def test_the_programs_of_the_benches_compile(source: str) -> None:
    if shutil.which("protoc") is None or shutil.which("g++") is None:
        pytest.skip("no compiler here")
    assert build(f"bench/cpp/{source}").is_file()
