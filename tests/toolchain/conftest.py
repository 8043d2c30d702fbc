"""Fixtures of the tests that look for simulators."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an empty home, and a PATH without OMNeT++ (installations in /opt stay visible)."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("OMNETPP_ROOT", "INET_ROOT"):
        monkeypatch.delenv(name, raising=False)
