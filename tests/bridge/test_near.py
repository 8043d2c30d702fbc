"""The grid that tells who is near."""

from __future__ import annotations

import subprocess

from tests.helpers.bridge_tools import build_cpp


def test_the_spatial_index_finds_exactly_the_points_in_range() -> None:
    reported = subprocess.run([build_cpp("near")], capture_output=True, text=True, check=False)
    assert reported.returncode == 0, reported.stdout
