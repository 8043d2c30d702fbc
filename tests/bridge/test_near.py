"""The grid that tells who is near."""

from __future__ import annotations

import subprocess

from tests.worlds.bridge_tools import build_cpp


def test_all_who_are_near_are_found_and_nobody_else() -> None:
    told = subprocess.run([build_cpp("near")], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
