"""An OMNeT++ or INET that cannot be used is refused before anything is compiled: one line, with the remedy.

The commands refuse with the same line.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli import build as build_command
from causeway.cli.doctor import checks
from causeway.errors import UserError
from causeway.studies.runner import Job, choose_engine
from causeway.toolchain import omnet_find
from causeway.toolchain.adapters import Adapter
from causeway.toolchain.omnet_find import inet_refusal, missing_omnetpp, omnetpp_refusal, pair_of
from tests.helpers.made_up_installations import DEFINED, DEFINES, install, install_inet, library

pytestmark = pytest.mark.usefixtures("nothing_installed")


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


BROKEN: dict[str, Callable[[Path, Path], object]] = {
    "OMNeT++ without lib": lambda root, inet: (root / "lib/liboppsim.so").unlink(),
    "OMNeT++ 5": lambda root, inet: (root / "Version").write_text("omnetpp-5.7"),
    "OMNeT++ 7": lambda root, inet: (root / "Version").write_text("omnetpp-7.0"),
    "OMNeT++ in debug mode": lambda root, inet: (root / "bin/opp_run_release").rename(root / "bin/opp_run_dbg"),
    "INET with a truncated library": lambda root, inet: os.truncate(inet / "src/libINET.so", 40),
    "INET without headers": lambda root, inet: (inet / omnet_find.INET_HEADER).unlink(),
    "INET 5": lambda root, inet: (inet / DEFINED).write_text(DEFINES.format(5, 0, 0)),
    "INET for a newer OMNeT++": lambda root, inet: (inet / DEFINED).write_text(DEFINES.format(4, 6, 0)),
    "INET in debug mode": lambda root, inet: (inet / "src/libINET.so").rename(inet / "src/libINET_dbg.so"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_doctor_build_and_run_refuse_with_the_same_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """An INET that is refused leaves abstract networks as they are."""
    root, inet = install(tmp_path / "omnetpp-6.1", "6.1"), install_inet(tmp_path / "inet4.5")
    BROKEN[case](root, inet)
    monkeypatch.setenv("OMNETPP_ROOT", str(root))
    monkeypatch.setenv("INET_ROOT", str(inet))
    why = missing_omnetpp() if case.startswith("OMNeT++") else pair_of(root).inet_refusal
    assert why is not None and "\n" not in why
    mobile, abstract = (Job(study, {}, 1, "omnet") for study in ("mobile20", "hash"))
    said = {engine: refusal_to_run(mobile, engine) for engine in ("omnet", None)}
    assert said["omnet"] == f"engine omnet cannot run here: {why}"
    assert (said[None] or "").startswith(f"engine omnet cannot run here: {why}"), "no other engine is taken instead"
    built, printed = built_by_command(monkeypatch)
    advice = {check.what: check.advice for check in checks()}["engine omnet"]
    assert advice == why
    if case.startswith("OMNeT++"):
        assert built == [] and printed == f"engine omnet cannot run here: {why}" == refusal_to_run(abstract, "omnet")
    else:
        assert [adapter.name for adapter in built] == ["OMNeT++"] and printed.endswith(f"abstract networks: {why}\n")
        assert why not in (refusal_to_run(abstract, "omnet") or "")


def refusal_to_run(job: Job, engine: str | None) -> str | None:
    try:
        choose_engine(job.study, engine, job.network())
    except UserError as error:
        return str(error)
    return None


def built_by_command(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Adapter], str]:
    """The adapters that `causeway build omnet` would compile, and what it prints or refuses with."""
    built: list[Adapter] = []
    monkeypatch.setattr(build_command, "with_progress", lambda adapter, console: built.append(adapter))
    printed = io.StringIO()
    try:
        build_command.build_adapters(["omnet"], Console(file=printed, width=1000))
    except UserError as error:
        return built, str(error)
    return built, printed.getvalue()
