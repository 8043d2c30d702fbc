"""OMNeT++ and INET are found in the usual places, if they are built and new enough."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from causeway.bridge.engines.omnet import OmnetEngine
from causeway.bridge.engines.omnet_inet import missing_inet
from causeway.network.networks import AbstractNetwork, InetNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.toolchain import omnet_find
from causeway.toolchain.omnet_find import find_omnetpp, installed, missing_omnetpp
from tests.helpers import omnet_pairs
from tests.helpers.made_up_installations import install, install_inet, library

pytestmark = pytest.mark.usefixtures("nothing_installed")


def test_the_chosen_root_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "home" / "omnetpp-6.2", "6.2")
    named = install(tmp_path / "mine", "6.1")
    monkeypatch.setenv("OMNETPP_ROOT", str(named))
    found = find_omnetpp()
    assert found is not None
    assert (found.root, found.version, found.text) == (named, "6.1", "OMNeT++ 6.1")
    monkeypatch.setenv("OMNETPP_ROOT", str(tmp_path / "gone"))
    assert find_omnetpp() is None


def test_an_omnetpp_beside_the_inet_that_is_named_comes_before_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "home" / "omnetpp-6.2", "6.2")
    root = install(tmp_path / "sims" / "omnetpp-6.1", "6.1")
    monkeypatch.setenv("INET_ROOT", str(install_inet(tmp_path / "sims" / "inet-4.5")))
    found = find_omnetpp()
    assert found is not None and found.root == root and found.has_inet


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
    install(tmp_path / "home" / "omnetpp-6.2", "6.2", built="")
    found = find_omnetpp()
    assert found is not None
    assert found.root == right


def test_an_omnetpp_that_is_too_old_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "old", "5.7")))
    assert find_omnetpp() is None


def test_inet_is_found_beside_omnetpp_once_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "sims" / "omnetpp-6.1", "6.1")))
    install_inet(tmp_path / "sims" / "inet-4.6", "4.6.0", built="")
    inet = install_inet(tmp_path / "sims" / "inet-4.5")
    found = find_omnetpp()
    assert found is not None
    assert (found.inet_root, found.text) == (inet, "OMNeT++ 6.1, INET 4.5.4")


def test_the_chosen_inet_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "sims" / "omnetpp-6.1", "6.1")))
    install_inet(tmp_path / "sims" / "inet-4.5")
    monkeypatch.setenv("INET_ROOT", str(tmp_path / "gone"))
    found = find_omnetpp()
    assert found is not None
    assert found.inet_root == tmp_path / "gone" and not found.has_inet


def test_an_inet_that_needs_a_newer_omnetpp_is_skipped_or_refused_if_it_is_the_only_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its headers have an #error for older versions."""
    root = install(tmp_path / "sims" / "omnetpp-6.1", "6.1")
    newer = install_inet(tmp_path / "sims" / "inet4.6", "4.6.0")
    monkeypatch.setenv("OMNETPP_ROOT", str(root))
    found = find_omnetpp()
    assert found is not None and found.inet_root == newer and not found.has_inet
    why = missing_inet(found)
    assert why is not None and "INET 4.6.0" in why and "needs OMNeT++ 6.2 or newer, not 6.1" in why
    assert "build INET 4.5" in why
    assert found.text == "OMNeT++ 6.1"
    known = install_inet(tmp_path / "sims" / "inet-4.5")
    found = find_omnetpp()
    assert found is not None and found.inet_root == known and missing_inet(found) is None


def test_an_unusable_chosen_omnetpp_is_reported_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version, built, said in (("5.7", "release", "too old"), ("6.1", "", "is not built"), ("6.1", "dbg", "debug")):
        root = install(tmp_path / f"{version}{built}", version, built)
        monkeypatch.setenv("OMNETPP_ROOT", str(root))
        why = OmnetEngine().missing()
        assert why == missing_omnetpp() and why.startswith(f"OMNETPP_ROOT={root}") and said in why and "\n" not in why
    monkeypatch.setenv("OMNETPP_ROOT", str(tmp_path / "gone"))
    assert "is not an OMNeT++" in missing_omnetpp()


def test_every_installation_is_listed_with_its_pair_or_the_reason(tmp_path: Path) -> None:
    home = tmp_path / "home"
    older, newer = install(home / "omnetpp-6.1", "6.1"), install(home / "omnetpp-6.2", "6.2")
    old = install(home / "omnetpp-5.7", "5.7")
    inet, inet_newer = install_inet(home / "inet4.5"), install_inet(home / "inet4.6", "4.6.0")
    ours = [one for one in installed() if one.root.is_relative_to(tmp_path)]
    assert [one.root for one in ours] == [newer, older, old, inet_newer, inet]
    assert {one.root for one in ours if one.refusal} == {old}
    pairs = {one.root: one.pair.root for one in ours if one.pair is not None}
    assert pairs[inet_newer] == newer


def test_the_chosen_omnetpp_is_listed_first_with_its_inet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    older = install(home / "omnetpp-6.1", "6.1")
    install(home / "omnetpp-6.2", "6.2")
    inet = install_inet(home / "inet4.5")
    monkeypatch.setenv("OMNETPP_ROOT", str(older))
    ours = [one for one in installed() if one.root.is_relative_to(tmp_path)]
    assert ours[0].root == older
    assert [one.pair.root for one in ours if one.root == inet and one.pair is not None] == [older]


def test_an_omnetpp_with_an_inet_that_fits_comes_before_a_newer_one_without(tmp_path: Path) -> None:
    home = tmp_path / "home"
    older = install(home / "omnetpp-6.1", "6.1")
    newer = install(home / "omnetpp-6.2", "6.2")
    inet = install_inet(home / "inet4.5")
    library(inet / "src" / "libINET.so", f"-Wl,-rpath,{older / 'lib'}")
    found = find_omnetpp()
    assert found is not None and (found.root, found.inet_root) == (older, inet)
    library(install_inet(home / "inet4.6", "4.6.0") / "src" / "libINET.so", f"-Wl,-rpath,{newer / 'lib'}")
    found = find_omnetpp()
    assert found is not None and found.text == "OMNeT++ 6.2, INET 4.6.0"


def test_a_workspace_of_opp_env_around_the_present_folder_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / ".opp_env_workspace").mkdir(parents=True)
    root, inet = install(workspace / "omnetpp-6.1.0", "6.1.0"), install_inet(workspace / "inet-4.5.4")
    (workspace / "mine").mkdir()
    monkeypatch.chdir(workspace / "mine")
    found = find_omnetpp()
    assert found is not None and (found.root, found.inet_root) == (root, inet)


def test_an_inet_that_does_not_fit_leaves_the_abstract_network_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only networks of INET need INET's adapter."""
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "omnetpp-6.1", "6.1")))
    abstract, own = (
        AbstractNetwork(2, delay=constant_delay(1), workload=Workload(2)),
        InetNetwork(2, ini="own.ini", workload=Workload(2)),
    )
    engine = OmnetEngine()
    alone = engine.adapters()[0]
    monkeypatch.setenv("INET_ROOT", str(install_inet(tmp_path / "inet", "4.6.0")))
    assert engine.adapters() == engine.adapters(abstract) == [alone]
    assert "needs OMNeT++ 6.2" in (engine.missing(own) or "")
    monkeypatch.setenv("INET_ROOT", str(install_inet(tmp_path / "fits")))
    assert engine.adapters(abstract) == [alone]
    with_inet = engine.adapters(own)
    assert with_inet[0] == alone and with_inet[1].base == alone and "inet-4.5.4" in with_inet[1].simulator


def test_an_inet_root_that_does_not_exist_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = install(tmp_path / "home" / "omnetpp-6.1", "6.1")
    install_inet(tmp_path / "home" / "inet4.5")
    monkeypatch.setenv("OMNETPP_ROOT", str(root))
    monkeypatch.setenv("INET_ROOT", "/nonexistent")
    found = find_omnetpp()
    assert found is not None
    assert (missing_inet(found) or "").startswith("INET_ROOT=/nonexistent is not a built INET")


def test_the_pair_in_use_comes_first_and_the_others_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    older, newer = install(home / "omnetpp-6.1", "6.1"), install(home / "omnetpp-6.2", "6.2")
    library(install_inet(home / "inet4.5") / "src" / "libINET.so", f"-Wl,-rpath,{older / 'lib'}")
    library(install_inet(home / "inet4.6", "4.6.0") / "src" / "libINET.so", f"-Wl,-rpath,{newer / 'lib'}")
    mine = [pair for pair in omnet_find.pairs() if pair.root.is_relative_to(tmp_path)]
    assert [pair.root for pair in mine] == [newer, older]
    monkeypatch.setenv("OMNETPP_ROOT", str(older))
    mine = [pair for pair in omnet_find.pairs() if pair.root.is_relative_to(tmp_path)]
    assert [pair.root for pair in mine] == [older, newer]
    monkeypatch.delenv("OMNETPP_ROOT")
    ran: list[tuple[str, str]] = []
    status = iter((0, 1))

    def run(command: list[str], env: dict[str, str], check: bool) -> subprocess.CompletedProcess[str]:
        assert command[3:5] == ["-m", "omnet"]
        ran.append((env["OMNETPP_ROOT"], env["INET_ROOT"]))
        return subprocess.CompletedProcess(command, next(status))

    monkeypatch.setattr(omnet_pairs.subprocess, "run", run)
    monkeypatch.setattr(omnet_pairs, "others", lambda: mine)
    assert omnet_pairs.main([]) == 1
    assert ran == [(str(pair.root), str(pair.inet_root)) for pair in mine]
    assert all((Path(__file__).parents[2] / file).is_file() for file in omnet_pairs.ON_EACH_PAIR)
