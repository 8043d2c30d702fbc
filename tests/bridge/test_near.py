"""The grid that tells who is near."""

from __future__ import annotations

import subprocess

from tests.helpers.bridge_tools import build_cpp


def test_all_who_are_near_are_found_and_nobody_else() -> None:
    reported = subprocess.run([build_cpp("near")], capture_output=True, text=True, check=False)
    assert reported.returncode == 0, reported.stdout
