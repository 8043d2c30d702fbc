"""A campaign that is interrupted or terminated says in one line what was kept, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers import talking
from tests.helpers.bridge_tools import TOP


@pytest.mark.slow
@pytest.mark.parametrize("after_s", [5.0, 12.0])
@pytest.mark.parametrize(
    ("number", "how", "status"), [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
)
def test_an_ended_campaign_reports_the_runs_that_it_kept(
    number: signal.Signals, how: str, status: int, after_s: float, tmp_path: Path
) -> None:
    study = talking.write(tmp_path)
    command = [sys.executable, "-m", "causeway.cli.main", "run", str(study), "--reps", "100000", "--jobs", "2"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")], env={**os.environ, "PYTHONPATH": str(TOP)}, cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    time.sleep(after_s)
    os.killpg(process.pid, number)
    _, reported = process.communicate(timeout=60)
    assert reported == f"causeway: {how}; finished runs are kept, and the same command continues from there\n"
    assert process.returncode == status
