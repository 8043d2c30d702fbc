"""kill -9 of a whole command in mid-run leaves no process, no socket and no half-written table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from causeway.analysis import locks
from causeway.bridge import engines
from tests.helpers.bridge_tools import TOP
from tests.helpers.kills import wait_for

pytestmark = [pytest.mark.omnet]


def simulators(mark: str) -> list[int]:
    """Living simulators started with RUN_MARK=mark in their environment."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"RUN_MARK={mark}\0".encode() in (directory / "environ").read_bytes()
            if marked and b"opp_run" in (directory / "cmdline").read_bytes():
                found.append(int(directory.name))
        except OSError:
            continue
    return found


def results(folder: Path) -> list[Path]:
    """All files but the empty ones that stand for locks, which nobody holds."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if path.parent.name != ".locks" or path.stat().st_size or not locks.is_free(path)]


@pytest.fixture
def command(tmp_path: Path):
    """A run that would take minutes, and the mark of its simulator."""
    if why := engines.get("omnet").missing():
        pytest.skip(why)
    mark = f"{os.getpid()}-{tmp_path.name}"
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "RUN_MARK": mark, "TMPDIR": str(tmp_path / "tmp")}
    arguments = [
        "run", str(TOP / "tests" / "helpers" / "toy_study.py"), "--engine", "omnet", "--set", "messages=5000000",
        "--out", str(tmp_path / "out"), "--record",
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "causeway.cli.main", *arguments], cwd=TOP, env=environment, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    )  # fmt: skip
    try:
        assert wait_for(lambda: simulators(mark) or process.poll() is not None)
        time.sleep(1.0)  # well into the run
        yield process, mark
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_when_the_whole_command_is_killed_nothing_is_left(command, tmp_path: Path) -> None:
    process, mark = command
    assert process.poll() is None, process.communicate()[0]
    assert len(simulators(mark)) == 1
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)  # its locks are free when it is gone
    assert wait_for(lambda: not simulators(mark), within_s=30)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert results(tmp_path / "out") == []


def test_when_the_simulator_is_killed_the_command_says_so_and_ends_with_status_1(command, tmp_path: Path) -> None:
    process, mark = command
    os.kill(simulators(mark)[0], signal.SIGKILL)
    reported = process.communicate(timeout=20)[0]
    assert process.returncode == 1
    assert "the simulator (omnet) died: killed by SIGKILL; its last lines: " in " ".join(reported.split())
    assert "Traceback" not in reported
    assert list((tmp_path / "tmp").iterdir()) == []
    assert results(tmp_path / "out") == []


def test_an_interrupt_ends_the_command_and_its_simulator(command, tmp_path: Path) -> None:
    process, mark = command
    process.send_signal(signal.SIGINT)
    reported = process.communicate(timeout=20)[0]
    assert process.returncode != 0
    assert "Traceback" not in reported
    assert wait_for(lambda: not simulators(mark), within_s=5)
    assert list((tmp_path / "tmp").iterdir()) == []
