"""OMNeT++ and INET are found where they usually are, and only if they are built and new enough."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from causeway.bridge.engines.omnet_inet import missing_inet
from causeway.toolchain.omnet_find import find_omnetpp


def install(root: Path, version: str, built: bool = True) -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "Version").write_text(f"omnetpp-{version}\n")
    (root / "Makefile.inc").touch()
    if built:
        (root / "bin" / "opp_run").touch()
    tool = root / "bin" / "opp_configfilepath"
    tool.write_text(f"#!/bin/sh\necho {root}/Makefile.inc\n")
    tool.chmod(0o755)
    return root


def install_inet(root: Path, said: str = "INET-4.5.4 (October 2024)", built: bool = True) -> Path:
    (root / "src").mkdir(parents=True)
    (root / "WHATSNEW").write_text(f"What is new\n\n{said}\n")
    if built:
        (root / "src" / "libINET.so").touch()
    return root


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty home, a PATH without OMNeT++ (what /opt holds is not ours to hide)."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("OMNETPP_ROOT", "INET_ROOT"):
        monkeypatch.delenv(name, raising=False)


def test_the_root_that_is_named_is_used_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "home" / "omnetpp-6.2", "6.2")
    named = install(tmp_path / "mine", "6.1")
    monkeypatch.setenv("OMNETPP_ROOT", str(named))
    found = find_omnetpp()
    assert found is not None
    assert (found.root, found.version, found.text) == (named, "6.1", "OMNeT++ 6.1")
    monkeypatch.setenv("OMNETPP_ROOT", str(tmp_path / "gone"))
    assert find_omnetpp() is None


def test_path_comes_before_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "home" / "omnetpp-6.2", "6.2")
    on_path = install(tmp_path / "somewhere", "6.1")
    monkeypatch.setenv("PATH", f"{on_path}/bin{os.pathsep}/usr/bin:/bin")
    found = find_omnetpp()
    assert found is not None
    assert found.root == on_path


def test_of_several_in_the_home_directory_the_newest_built_one_is_used(tmp_path: Path) -> None:
    install(tmp_path / "home" / "omnetpp-6.0.3", "6.0.3")
    right = install(tmp_path / "home" / "omnetpp-6.1", "6.1")
    install(tmp_path / "home" / "omnetpp-6.2", "6.2", built=False)
    found = find_omnetpp()
    assert found is not None
    assert found.root == right


def test_one_that_is_too_old_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "old", "5.7")))
    assert find_omnetpp() is None


def test_inet_is_found_beside_omnetpp_once_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "sims" / "omnetpp-6.1", "6.1")))
    install_inet(tmp_path / "sims" / "inet-4.6", "INET-4.6.0", built=False)
    inet = install_inet(tmp_path / "sims" / "inet-4.5")
    found = find_omnetpp()
    assert found is not None
    assert (found.inet_root, found.text) == (inet, "OMNeT++ 6.1, INET 4.5.4")


def test_the_inet_that_is_named_is_used_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "sims" / "omnetpp-6.1", "6.1")))
    install_inet(tmp_path / "sims" / "inet-4.5")
    monkeypatch.setenv("INET_ROOT", str(tmp_path / "gone"))
    found = find_omnetpp()
    assert found is not None
    assert found.inet_root is None


def test_an_inet_that_the_adapter_is_not_written_for_is_passed_over_and_refused_where_it_is_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INET 4.6 and 4.7 have no module UnitDiskRadio: a run would end with an error of NED."""
    root = install(tmp_path / "sims" / "omnetpp-6.1", "6.1")
    newer = install_inet(tmp_path / "sims" / "inet4.6", "INET-4.6 (February 2026)")
    monkeypatch.setenv("OMNETPP_ROOT", str(root))
    found = find_omnetpp()
    assert found is not None and found.inet_root == newer
    why = missing_inet(found)
    assert why is not None and "not written for INET 4.6" in why and "build INET 4.5" in why
    known = install_inet(tmp_path / "sims" / "inet-4.5")
    found = find_omnetpp()
    assert found is not None and found.inet_root == known and missing_inet(found) is None


def test_an_inet_root_that_leads_nowhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = install(tmp_path / "home" / "omnetpp-6.1", "6.1")
    install_inet(tmp_path / "home" / "inet4.5")
    monkeypatch.setenv("OMNETPP_ROOT", str(root))
    monkeypatch.setenv("INET_ROOT", "/nonexistent")
    found = find_omnetpp()
    assert found is not None
    assert (missing_inet(found) or "").startswith("INET_ROOT=/nonexistent is no built INET")
