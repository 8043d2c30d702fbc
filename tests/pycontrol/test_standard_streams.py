"""A study that closes the command's output makes its run fail, and the command can still report that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.bridge_tools import TOP

CODE = """
import os, sys
from causeway.errors import RunError
from causeway.pycontrol.standard_streams import standard_streams
try:
    with standard_streams("mine"):
        {what}
    print("nothing was wrong")
except RunError as error:
    print("error:", error)
print("the report")
print("the end", file=sys.stderr)
"""
CLOSES = {
    "sys.stdout.close()": "sys.stdout", "os.close(1)": "sys.stdout", "sys.stdout = None": "sys.stdout",
    "os.dup2(os.open('other', os.O_WRONLY | os.O_CREAT), 1)": "sys.stdout",
    "sys.stderr.close()": "sys.stderr", "os.close(2)": "sys.stderr",
    "sys.stdout.close(); print('too late')": "sys.stdout", "os.close(1); os.close(2)": "sys.stdout and sys.stderr",
}  # fmt: skip
HARMLESS = ("print('hello')", "sys.stdout = sys.stderr; sys.stdout = sys.__stdout__", "os.close(os.dup(1))")


def done(what: str, folder: Path) -> subprocess.CompletedProcess[str]:
    code = CODE.replace("{what}", what)
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={"PYTHONPATH": str(TOP)}, capture_output=True, text=True
    )


@pytest.mark.parametrize("what", CLOSES)
def test_a_closed_stream_is_an_error_and_is_restored(what: str, tmp_path: Path) -> None:
    found = done(what, tmp_path)
    assert found.stdout.startswith(f"error: study mine: {CLOSES[what]} of the command was closed or replaced; write to")
    assert found.stdout.endswith("\nthe report\n") and found.stdout.count("\n") == 2
    assert (found.stderr, found.returncode) == ("the end\n", 0)


def test_a_stream_that_was_restored_is_not_reported_again_by_a_block_around_it(tmp_path: Path) -> None:
    what = "\n        ".join(
        ("try:", "    with standard_streams('inner'):", "        sys.stdout.close()", "except RunError as error:",
         "    print('inner:', error)")
    )  # fmt: skip
    lines = done(what, tmp_path).stdout.splitlines()
    assert lines[0].startswith("inner: study inner: sys.stdout") and lines[1:] == ["nothing was wrong", "the report"]


@pytest.mark.parametrize("what", HARMLESS)
def test_code_that_leaves_the_streams_open_is_no_error(what: str, tmp_path: Path) -> None:
    assert done(what, tmp_path).stdout.endswith("nothing was wrong\nthe report\n")
