"""`causeway run --pdb`, `breakpoint()` in a handler, and `causeway replay --at`: the debugger in a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.session import ADAPTER_DEADLINES, NO_DEADLINE_S
from causeway.pycontrol import debugging, watchdog

TOP = Path(__file__).parents[2]
STUDY = """
from causeway import EVERYONE, ModelStudy, Node


class Counter(Node):
    def on_start(self):
        self.heard = {}

    def on_broadcast(self, number, size_bytes):
        self.send(EVERYONE, self.new_message(), size_bytes)

    def on_packet(self, content, sender, interface):
        BODY


class Counting(ModelStudy):
    versions = {"right": Counter}
"""
RIGHT = "self.heard[sender] = self.heard.get(sender, 0) + 1"


def run(folder: Path, body: str, typed: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "counting.py").write_text(STUDY.replace("BODY", body))
    environment = {**os.environ, "PYTHONPATH": str(TOP), "CAUSEWAY_HANDLER_S": "2"}
    return subprocess.run(
        [sys.executable, "-m", "causeway.cli.main", *words], cwd=folder, input=typed, capture_output=True, text=True,
        env=environment, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_pdb_opens_where_a_handler_fails(tmp_path: Path) -> None:
    typed = "p 'node', self.id, sender, content\nq\n"
    done = run(tmp_path, "self.heard[sender] += 1", typed, "run", "counting.py", "--pdb")
    assert "KeyError" in done.stdout and "('node'" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1 and "KeyError" in done.stderr + done.stdout


@pytest.mark.slow
def test_a_breakpoint_stops_for_longer_than_a_handler_may_take(tmp_path: Path) -> None:
    body = f"if content == 3: breakpoint()\n        {RIGHT}"
    wait = "p len([None for _ in range(90_000_000)])\n"  # longer than the 2 s that a handler may take here
    done = run(tmp_path, body, f"p 'here', content\n{wait}c\nc\nc\n", "run", "counting.py", "--pdb")
    assert "('here', 3)" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_replay_stops_in_the_handler_of_a_node_at_an_instant(tmp_path: Path) -> None:
    done = run(tmp_path, RIGHT, "", "run", "counting.py", "--record")
    assert done.returncode == 0, done.stderr
    (frames,) = (tmp_path / "results" / "recordings").glob("*.frames")
    replay = ("replay", str(frames), "--study", "counting.py", "--pdb", "--node", "2", "--at")
    done = run(tmp_path, RIGHT, "p 'at', self.id, self.now_ps >= 3 * 10**11\nc\n", *replay, "0.3")
    assert "('at', 2, True)" in done.stdout and "the same answers" in done.stdout, done.stdout + done.stderr
    late = run(tmp_path, RIGHT, "", *replay, "4000")
    assert late.returncode == 2 and "has no such event after this time" in late.stderr


@pytest.mark.parametrize("more", [("--jobs", "2"), ("--json",), ("--twice",)])
def test_options_that_need_no_terminal_are_refused(more: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, RIGHT, "", "run", "counting.py", "--pdb", *more)
    assert done.returncode == 2 and "--pdb debugs runs in this terminal" in done.stderr


def test_while_debugged_no_deadline_applies_on_either_side() -> None:
    assert not watchdog.suspended[0]
    with debugging.debugging(), debugging.breakpoints():
        assert watchdog.suspended[0] and debugging.is_on()
    with debugging.breakpoints():
        assert not watchdog.suspended[0], "the next run has its deadline again"
    assert 1000 * ADAPTER_DEADLINES * RunSpec.__dataclass_fields__["deadline_s"].default < NO_DEADLINE_S
