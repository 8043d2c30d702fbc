"""OMNeT++ and INET are found in the usual places, if they are built and new enough."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.bridge.engines.omnet import OmnetEngine
from causeway.bridge.engines.omnet_inet import missing_inet
from causeway.network.networks import AbstractNetwork, InetNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.toolchain import omnet_find
from causeway.toolchain.omnet_find import find_omnetpp, inet_refusal, installed, missing_omnetpp, omnetpp_refusal
from tests.helpers import omnet_pairs

WHOLE = b"\x7fELF".ljust(64, b"\0")
"""A library without sections."""


def install(root: Path, version: str, built: str = "release") -> Path:
    (root / "bin").mkdir(parents=True)
    for folder, file in (("include", "omnetpp.h"), ("bin", "opp_makemake"), ("lib", "liboppsim.so")):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / file).write_bytes(WHOLE)
    (root / "Version").write_text(f"omnetpp-{version}\n")
    (root / "Makefile.inc").write_text("CXX = sh\n")
    if built:
        (root / "bin" / "opp_run").touch()
        (root / "bin" / f"opp_run_{built}").touch()
    tool = root / "bin" / "opp_configfilepath"
    tool.write_text(f"#!/bin/sh\necho {root}/Makefile.inc\n")
    tool.chmod(0o755)
    return root


DEFINES = "#define INET_VERSION        0x{:02x}{:02x}\n#define INET_PATCH_LEVEL    0x{:02x}\n"


def install_inet(root: Path, version: str = "4.5.4", built: str = "libINET.so") -> Path:
    (root / "src" / "inet" / "common").mkdir(parents=True)
    (root / "src" / "inet" / "common" / "INETDefs.h").write_text(DEFINES.format(*map(int, version.split("."))))
    (root / omnet_find.INET_HEADER).parent.mkdir()
    (root / omnet_find.INET_HEADER).touch()
    if built:
        (root / "src" / built).write_bytes(WHOLE)
    return root


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an empty home, and a PATH without OMNeT++ (installations in /opt stay visible)."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("OMNETPP_ROOT", "INET_ROOT"):
        monkeypatch.delenv(name, raising=False)


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


@pytest.mark.parametrize(("version", "how"), [("4.4.1", "older"), ("4.8.0", "newer"), ("5.0.0", "newer")])
def test_an_inet_that_the_adapter_is_not_written_for_is_refused(tmp_path: Path, version: str, how: str) -> None:
    root = install(tmp_path / "omnetpp", "6.4")
    inet = install_inet(tmp_path / "inet", version)
    why = inet_refusal(inet, root, "6.4")
    assert why is not None and f"INET {version}" in why
    assert f"is {how} than the versions that the adapter supports" in why
    assert "(4.5, 4.6, 4.7): build INET 4.7 beside OMNeT++ 6.4" in why
    assert "build INET 4.5 beside OMNeT++ 6.1" in (inet_refusal(inet, root, "6.1") or ""), "one that 6.1 can build"


def test_a_library_in_debug_mode_only_is_refused_with_the_mode_to_build(tmp_path: Path) -> None:
    root = install(tmp_path / "omnetpp", "6.1", built="dbg")
    why = omnetpp_refusal(root)
    assert why is not None and "is built only in debug mode: " in why and "make MODE=release" in why
    inet = install_inet(tmp_path / "inet", built="libINET_dbg.so")
    why = inet_refusal(inet, root, "6.1")
    assert why is not None and "is built only in debug mode: build it with make MODE=release" in why


def test_an_inet_of_another_standard_library_or_another_omnetpp_is_refused(tmp_path: Path) -> None:
    """Real libraries: one linked with libc++, one that looks for its OMNeT++ in another folder."""
    root, other = install(tmp_path / "omnetpp-6.1", "6.1"), install(tmp_path / "omnetpp-6.2", "6.2")
    library(tmp_path / "libc++.so.1", "-Wl,-soname,libc++.so.1")
    strange = install_inet(tmp_path / "strange")
    library(strange / "src" / "libINET.so", "-Wl,--no-as-needed", str(tmp_path / "libc++.so.1"))
    assert "was built with the library libc++" in (inet_refusal(strange, root, "6.1") or "")
    elsewhere = install_inet(tmp_path / "elsewhere")
    library(elsewhere / "src" / "libINET.so", f"-Wl,-rpath,{other / 'lib'}:.")
    why = inet_refusal(elsewhere, root, "6.1")
    assert why is not None and f"was built with the OMNeT++ in {other}" in why and f"set OMNETPP_ROOT={other}" in why
    assert inet_refusal(elsewhere, other, "6.2") is None


def library(path: Path, *options: str, source: str = "") -> None:
    file = path.with_suffix(".c")
    file.write_text(source)
    command = ["gcc", "-o", str(path), str(file), *(options if "-pie" in options else ("-shared", *options))]
    if shutil.which("gcc") is None or shutil.which("readelf") is None:
        pytest.skip("no gcc here")
    subprocess.run(command, check=True)
    omnet_find.dynamic_section.cache_clear()
    omnet_find.lacks.cache_clear()


@pytest.mark.parametrize("part", omnet_find.PARTS)
def test_an_omnetpp_without_one_of_its_parts_is_refused_with_the_remedy(tmp_path: Path, part: str) -> None:
    root = install(tmp_path / "omnetpp-6.1", "6.1")
    (root / part).unlink()
    why = omnetpp_refusal(root)
    assert why is not None and f"{root} has no {part}" in why and "./configure && make MODE=release" in why


def test_a_truncated_library_is_refused(tmp_path: Path) -> None:
    """A linker or a copy that was interrupted: the table of sections is the last part of the file."""
    root, inet = install(tmp_path / "omnetpp", "6.1"), install_inet(tmp_path / "inet")
    for file in (root / "lib" / "liboppsim.so", inet / "src" / "libINET.so"):
        library(file)
        assert omnetpp_refusal(root) is None and inet_refusal(inet, root, "6.1") is None
        for size in (os.path.getsize(file) - 1, 63, 0):
            os.truncate(file, size)
            why = omnetpp_refusal(root) or inet_refusal(inet, root, "6.1")
            assert why is not None and f"has an incomplete {file.parent.name}/{file.name}" in why and "make" in why
        library(file)


def test_an_inet_without_the_headers_of_its_build_is_refused(tmp_path: Path) -> None:
    root, inet = install(tmp_path / "omnetpp", "6.1"), install_inet(tmp_path / "inet")
    (inet / omnet_find.INET_HEADER).unlink()
    why = inet_refusal(inet, root, "6.1")
    assert why is not None and f"has no {omnet_find.INET_HEADER}" in why and "folder in which INET was built" in why


def test_an_inet_of_a_newer_compiler_is_refused_unless_its_omnetpp_brings_the_library(tmp_path: Path) -> None:
    """The library of the newer compiler has a version of symbols that the one on this machine has not."""
    root, inet = install(tmp_path / "omnetpp", "6.1"), install_inet(tmp_path / "inet")
    runtime, script = tmp_path / "libruntime.so.6", tmp_path / "versions"
    versions = "RUNTIME_1 { global: old; };\nRUNTIME_2 { global: new; };\n"
    sources = "void old(void) {} void new(void) {}"
    newer = tmp_path / "newer" / "libruntime.so.6"
    newer.parent.mkdir()
    script.write_text(versions)
    library(newer, "-Wl,-soname,libruntime.so.6", f"-Wl,--version-script={script}", source=sources)
    script.write_text(versions.splitlines()[0])
    library(runtime, "-Wl,-soname,libruntime.so.6", f"-Wl,--version-script={script}", source="void old(void) {}")
    library(inet / "src" / "libINET.so", str(newer), source="void new(void); void inet(void) { new(); }")
    uses = ("-pie", "-Wl,--no-as-needed", str(runtime), "-Wl,-rpath,")
    library(
        root / "bin" / "opp_run_release", *uses[:-1], f"{uses[-1]}{tmp_path}", source="int main(void) { return 0; }"
    )
    why = inet_refusal(inet, root, "6.1")
    assert why is not None and "needs RUNTIME_2, which this machine lacks" in why and "make cleanall" in why
    library(root / "bin" / "opp_run_release", *uses[:-1], f"{uses[-1]}{newer.parent}", source="int main(void) {}")
    assert inet_refusal(inet, root, "6.1") is None


def test_an_omnetpp_whose_libraries_are_gone_is_refused(tmp_path: Path) -> None:
    """Libraries of the system have other names after an upgrade."""
    root = install(tmp_path / "omnetpp", "6.1")
    library(tmp_path / "libxml9.so.2", "-Wl,-soname,libxml9.so.2")
    uses = ("-pie", "-Wl,--no-as-needed", str(tmp_path / "libxml9.so.2"))
    library(root / "bin" / "opp_run_release", *uses, source="int main(void) { return 0; }")
    why = omnetpp_refusal(root)
    assert why is not None and "needs libxml9.so.2, which this machine lacks: install it, or " in why


@pytest.mark.parametrize(("version", "how"), [("5.7", "too old"), ("7.0", "newer than"), ("10.1", "newer than")])
def test_an_omnetpp_that_the_adapter_is_not_written_for_is_refused(tmp_path: Path, version: str, how: str) -> None:
    why = omnetpp_refusal(install(tmp_path / "omnetpp", version))
    assert why is not None and f"OMNeT++ {version} in" in why and how in why and "install" in why


def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    root = install(tmp_path / "omnetpp", "6.1")
    (root / "Makefile.inc").write_text("CXX = ccache-of-nobody clang++-99 -stdlib=libc++\n")
    omnet_find.compiler_of.cache_clear()
    why = omnetpp_refusal(root)
    assert why is not None and "configured for the compiler ccache-of-nobody clang++-99" in why


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
