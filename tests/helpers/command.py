"""The command line as a user meets it: in a process of its own, or in the test's, which saves a second of imports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from causeway.cli import main as cli

TOP = Path(__file__).parents[2]
Said = subprocess.CompletedProcess[str]


def causeway(*arguments: str, cwd: Path) -> Said:
    """Run the command like a user."""
    environment = {**os.environ, "PYTHONPATH": str(TOP), "COLUMNS": "200"}
    command = [sys.executable, "-m", "causeway.cli.main", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def causeway_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Run the command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["causeway", *arguments])
        capfd.readouterr()
        status = 0
        try:
            cli.main()
        except SystemExit as exit:
            status = int(exit.code or 0)
        return subprocess.CompletedProcess(arguments, status, *capfd.readouterr())

    return run
