"""The grid that tells who is near: nothing near is missing, and little else comes with it."""

from __future__ import annotations

import subprocess

from tests.worlds.bridge_tools import build_cpp


def test_nobody_near_is_missing_and_few_others_are_found() -> None:
    """Squares of 130 m around discs of 1 to 400 m: an exact answer would print 1, asking everybody more than 50."""
    told = subprocess.run([build_cpp("near")], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
    assert 1 < float(told.stdout) < 3
