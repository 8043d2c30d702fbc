"""A command whose standard streams are closed works, and writes nothing into the files of a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import causeway.results

TOP = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("seed", ["PYTHONHASHSEED=0", "PYTHONHASHSEED=1"])
def test_closed_streams_do_no_harm(closed: str, seed: str, tmp_path: Path) -> None:
    run = f"PYTHONPATH={TOP} {seed} {sys.executable} -m causeway.cli.main run {TOP}/examples/flood.py --set messages=5"
    done = subprocess.run(["bash", "-c", f"{run} --out {tmp_path}/out {closed}"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(causeway.results.open(tmp_path / "out").runs()) == 1
