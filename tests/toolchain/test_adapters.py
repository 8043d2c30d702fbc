"""Adapters are compiled once for each installation and simulator, into the cache folder, and after each change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.errors import UserError
from causeway.toolchain import adapters, installation
from causeway.toolchain.adapters import Adapter, build

TOP = Path(__file__).parents[2]
MAKEFILE = """
all:
	mkdir -p $(BUILD)/made && cat part.cc > $(BUILD)/made/thing && echo run >> $(BUILD)/runs
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an installation with one small adapter, and an empty cache folder."""
    top = tmp_path / "installed"
    for folder in ("proto", "bridge/cpp", "small"):
        (top / folder).mkdir(parents=True)
    (top / "small" / "Makefile").write_text(MAKEFILE)
    (top / "small" / "part.cc").write_text("int one;\n")
    monkeypatch.setattr(adapters, "SOURCES", top)
    monkeypatch.setenv(installation.VARIABLE, str(tmp_path / "cache"))
    if why := adapters.missing_tools():
        pytest.skip(why)
    return top


def small(**variables: str) -> Adapter:
    return Adapter("small", "sim-1.0", "small", ("made/thing",), variables)


def runs(adapter: Adapter) -> int:
    return len((adapter.directory / "runs").read_text().split())


def test_an_adapter_is_compiled_once_and_nothing_lands_beside_its_sources(sources: Path) -> None:
    before = sorted(sources.rglob("*"))
    for _ in range(2):
        build(small())
    assert small().is_built()
    assert runs(small()) == 1
    assert sorted(sources.rglob("*")) == before


def test_a_changed_source_is_seen(sources: Path) -> None:
    build(small())
    (sources / "small" / "part.cc").write_text("int two;\n")
    assert not small().is_built()
    build(small())
    assert small().product("made/thing").read_text() == "int two;\n"


def test_a_deleted_product_is_made_again(sources: Path) -> None:
    build(small())
    small().product("made/thing").unlink()
    build(small())
    assert small().is_built()


@pytest.mark.parametrize("whole", [False, True])
def test_a_product_of_another_adapter_that_was_copied_here_is_built_anew(sources: Path, whole: bool) -> None:
    """A library that was copied into this folder, or a whole folder with its stamp: make would not notice."""
    rule = "all: $(BUILD)/made/thing\n$(BUILD)/made/thing:"
    (sources / "small" / "Makefile").write_text(MAKEFILE.replace("all:", rule) + "\techo $(ROOT) > $@\n")
    this, other = small(ROOT="/this"), small(ROOT="/other")
    for adapter in (this, other):
        build(adapter)
    if whole:
        shutil.copytree(other.directory, this.directory, dirs_exist_ok=True)
    else:
        shutil.copy2(other.product("made/thing"), this.product("made/thing"))
    assert this.product("made/thing").read_text() == "/other\n" and other.is_built()
    assert not this.is_built()
    build(this)
    assert this.is_built() and this.product("made/thing").read_text() == "/this\n"


def test_two_simulators_have_adapters_side_by_side(sources: Path) -> None:
    assert small(ROOT="/a").directory != small(ROOT="/b").directory


def test_two_versions_of_causeway_have_adapters_side_by_side(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = small().directory
    monkeypatch.setattr(adapters, "version", lambda: "99.0")
    assert small().directory != here
    assert "99.0" in small().directory.name


def test_an_adapter_that_does_not_compile_shows_makes_output_and_counts_as_not_built(sources: Path) -> None:
    (sources / "small" / "Makefile").write_text("all:\n\t@echo no such header: radio.h && false\n")
    with pytest.raises(UserError, match=r"the small adapter does not compile(?s:.*)no such header: radio\.h"):
        build(small())
    assert not small().is_built()
    why = small().failure()
    assert why is not None and "does not compile (see " in why and "\n" not in why
    (sources / "small" / "Makefile").write_text(MAKEFILE)
    assert small().failure() is None
    build(small())
    assert small().is_built() and small().failure() is None


def test_an_adapter_is_built_after_the_one_that_it_is_linked_with_and_leaves_that_alone_if_it_fails(
    sources: Path,
) -> None:
    (sources / "upper").mkdir()
    makefile = "all:\n\tcp $(BASE)/made/thing $(BUILD)/thing\n"
    (sources / "upper" / "Makefile").write_text(makefile)
    upper = Adapter("upper", "sim-1.0-models-2.0", "upper", ("thing",), base=small())
    build(upper)
    assert upper.is_built() and upper.product("thing").read_text() == "int one;\n"
    (sources / "small" / "part.cc").write_text("int two;\n")
    assert not upper.is_built()
    (sources / "upper" / "Makefile").write_text("all:\n\tfalse\n")
    with pytest.raises(UserError, match="the upper adapter does not compile"):
        build(upper)
    assert small().is_built() and upper.failure() and small().failure() is None


def test_missing_tools_are_named_in_one_line(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters.shutil, "which", lambda tool: None if tool == "protoc" else "/usr/bin/" + tool)
    with pytest.raises(UserError, match=r"^to compile an adapter, install protoc: apt install .*protobuf-compiler"):
        build(small())


def test_a_cache_folder_with_a_space_in_its_name_is_refused(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(installation.VARIABLE, str(tmp_path / "my cache"))
    with pytest.raises(UserError, match="a folder with a space in its name"):
        build(small())


def test_the_commit_of_a_repository_around_an_installation_is_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    installed = tmp_path / "site-packages" / "causeway"
    installed.mkdir(parents=True)
    monkeypatch.setattr(installation, "SOURCES", installed)
    installation.commit.cache_clear()
    assert installation.commit() == ""
    (installed / "COMMIT").write_text("0123456789ab\n")
    installation.commit.cache_clear()
    assert installation.commit() == "0123456789ab"
    installation.commit.cache_clear()


def test_a_header_removed_since_the_last_build_does_not_stop_the_next_one(tmp_path: Path) -> None:
    """The dependency files of the last build still name the header."""
    made = tmp_path / "ns3"
    made.mkdir()
    (made / "wireless_channel.d").write_text(f"{made}/wireless_channel.o: {TOP / 'ns3' / 'src'}/gone.h\n")
    make = ["make", "-n", "-f", str(TOP / "ns3" / "Makefile"), f"BUILD={tmp_path}", f"{made}/wireless_channel.o"]
    said = subprocess.run(make, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert "wireless_channel.cc" in said.stdout
