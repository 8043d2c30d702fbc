"""ns-3 is found as PyPI's package, in a source tree and where it was installed; other versions are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.bridge.engines.ns3 import Ns3Engine
from causeway.toolchain import ns3_find
from causeway.toolchain.ns3_find import find_ns3, missing_ns3


def build(base: Path, library: str, lib: str = "lib") -> Path:
    (base / "include" / "ns3").mkdir(parents=True)
    (base / lib).mkdir()
    (base / lib / library).touch()
    return base


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an environment without the package, and a PATH without `ns3`."""
    monkeypatch.setattr(ns3_find.sysconfig, "get_paths", lambda: {"platlib": str(tmp_path / "platlib")})
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setenv("PKG_CONFIG_PATH", "")
    monkeypatch.delenv("NS3_ROOT", raising=False)


def test_a_source_tree_that_was_built_is_linked_with_its_own_names_and_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "ns-3.48"
    build(tree / "build", "libns3.48-core-default.so")
    (tree / "VERSION").write_text("3.48\n")
    monkeypatch.setenv("NS3_ROOT", str(tree))
    found = find_ns3()
    assert found is not None and (found.version, found.text, found.refusal) == ("3.48", "ns-3.48", None)
    assert found.variables == {
        "NS3_INCLUDE": str(tree / "build" / "include"), "NS3_LIB": str(tree / "build" / "lib"), "NS3_PREFIX": "ns3.48",
        "NS3_SUFFIX": "-default", "NS3_DEFINES": "-DNS3_LOG_ENABLE -DNS3_ASSERT_ENABLE",
    }  # fmt: skip
    assert Ns3Engine().adapters()[0].simulator == "ns3-3.48"


def test_an_optimized_install_has_other_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NS3_ROOT", str(build(tmp_path / "usr", "libns3.46-core-optimized.so", "lib64")))
    found = find_ns3()
    assert found is not None and (found.prefix, found.suffix, found.asserts) == ("ns3.46", "-optimized", False)


def test_the_package_comes_before_ns3_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (missing_ns3() or "").startswith("no ns-3 found: pip install")
    tree = tmp_path / "tree"
    build(tree / "build", "libns3.47-core-debug.so")
    (tree / "ns3").write_text("#!/bin/sh\n")
    (tree / "ns3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tree}:/bin")
    found = find_ns3()
    assert found is not None and (found.root, found.version) == (tree, "3.47")
    build(tmp_path / "platlib" / "ns3", "libns3.44-core.so", "lib64")
    found = find_ns3()
    assert found is not None and found.prefix == "ns3.44" and found.asserts and missing_ns3() is None


@pytest.mark.parametrize(("version", "how"), [("3.38", "older"), ("3.52", "newer")])
def test_another_version_is_refused_in_one_line(
    version: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NS3_ROOT", str(build(tmp_path / "other", f"libns{version}-core-default.so")))
    why = Ns3Engine().missing()
    assert why is not None and f"ns-3 {version} in " in why and f"is {how} than" in why and "\n" not in why
    assert Ns3Engine().adapters() == []


def test_a_folder_without_a_built_ns3_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NS3_ROOT", str(tmp_path))
    assert (Ns3Engine().missing() or "").startswith(f"NS3_ROOT={tmp_path} has no built ns-3")
