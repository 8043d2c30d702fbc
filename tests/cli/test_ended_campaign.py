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


DURING_IMPORTS = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "causeway.cli.console":
            os.kill(os.getpid(), signal.SIGTERM)
from causeway.cli import start
sys.meta_path.insert(0, Finder())
start.main()
"""
BEFORE_THE_COMMAND = """
import os, signal
from causeway.cli import main, start
start.prepare()
main.has_other_distribution = lambda: os.kill(os.getpid(), signal.SIGTERM)
main.main()
"""


@pytest.mark.parametrize("script", [DURING_IMPORTS, BEFORE_THE_COMMAND])
def test_a_command_that_is_terminated_before_it_has_begun_ends_with_its_status(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script, "studies"], env={**os.environ, "PYTHONPATH": str(TOP), "PYTHONHASHSEED": "0"},
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert done.returncode == 143 and "Traceback" not in done.stderr, done.stderr
    assert done.stdout == ""
