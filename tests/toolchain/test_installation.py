"""The cache folder contains code that is executed, so no other user may be able to write there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from causeway.errors import UserError
from causeway.toolchain import installation


@pytest.fixture
def fallback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the cache folder falls back to, for a user whose home folder cannot be written to."""
    monkeypatch.delenv(installation.VARIABLE, raising=False)
    (tmp_path / "home").write_text("")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp" / f"causeway-{os.getuid()}"


def test_where_the_home_folder_cannot_be_written_to_the_cache_is_a_private_temporary_one(fallback: Path) -> None:
    assert installation.cache_dir() == fallback
    assert fallback.stat().st_mode & 0o777 == 0o700
    assert installation.cache_dir() == fallback, "again: it is there now"


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707, 0o1777])
def test_a_temporary_cache_folder_that_others_can_enter_is_refused(fallback: Path, mode: int) -> None:
    fallback.mkdir()
    fallback.chmod(mode)
    with pytest.raises(UserError) as refused:
        installation.cache_dir()
    assert str(refused.value).startswith(f"{fallback} cannot be the cache folder")
    assert "(mode 0700)" in str(refused.value)
    assert str(refused.value).endswith("set CAUSEWAY_CACHE to another folder")


def test_a_temporary_cache_folder_of_another_user_is_refused(fallback: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fallback.mkdir(mode=0o700)
    ours = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: ours + 1)
    os.rename(fallback, fallback.with_name(f"causeway-{ours + 1}"))
    with pytest.raises(UserError, match=r"cannot be the cache folder: .* CAUSEWAY_CACHE to another folder$"):
        installation.cache_dir()


@pytest.mark.parametrize("there", ["link", "file"])
def test_a_link_or_a_file_in_place_of_the_temporary_cache_folder_is_refused(fallback: Path, there: str) -> None:
    if there == "link":
        elsewhere = fallback.with_name("elsewhere")
        elsewhere.mkdir(mode=0o700)
        fallback.symlink_to(elsewhere)
    else:
        fallback.write_text("")
    with pytest.raises(UserError, match=r"cannot be the cache folder: .* CAUSEWAY_CACHE to another folder$"):
        installation.cache_dir()


def test_an_impossible_cache_folder_is_refused(fallback: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(fallback / "nowhere"))
    with pytest.raises(UserError, match=r"cannot be made .*: set CAUSEWAY_CACHE to another folder$"):
        installation.cache_dir()


@pytest.mark.parametrize(("mode", "status"), [(0o700, 0), (0o777, 1)])
def test_a_zip_is_unpacked_only_into_a_cache_folder_of_this_user_alone(fallback: Path, mode: int, status: int) -> None:
    """`spark-submit --py-files`: the package is executed from where it was unpacked."""
    fallback.mkdir()
    fallback.chmod(mode)
    archive = fallback.with_name("causeway.zip")
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted((installation.SOURCES / "causeway").glob("*.py")):
            packed.write(path, f"causeway/{path.name}")
        packed.writestr("/".join(("causeway", "inside.py")), "print(__file__)")
    environment = {
        name: value for name, value in os.environ.items() if name not in (installation.VARIABLE, "PYTHONPATH")
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(archive)!r}); import causeway.inside"],
        env=environment | {"TMPDIR": str(fallback.parent)}, capture_output=True, text=True, cwd=fallback.parent,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    if status:
        assert "remove it, or set CAUSEWAY_CACHE to another folder" in done.stderr.splitlines()[-1]
        assert list(fallback.iterdir()) == []
    else:
        assert done.stdout.startswith(f"{fallback}/unpacked/")


def test_reading_the_repository_takes_no_lock_that_a_kill_would_leave(tmp_path, monkeypatch):
    """`git status` refreshes the index under a lock, which stays if it is killed, and then nobody can commit."""
    for words in (["init", "-q"], ["add", "file"]):
        (tmp_path / "file").touch()
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    index = tmp_path / ".git" / "index"
    os.utime(tmp_path / "file", (1, 1))  # so that there is something to refresh
    before = index.stat().st_mtime_ns, index.stat().st_ino
    monkeypatch.setattr(installation, "SOURCES", tmp_path)
    installation.commit.__wrapped__()
    assert (index.stat().st_mtime_ns, index.stat().st_ino) == before


def test_a_foreign_distribution_is_noticed_by_its_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "none"), str(tmp_path)])
    (tmp_path / "causeway_sim-0.2.0.dist-info").mkdir()
    assert not installation.has_other_distribution()
    (tmp_path / "causeway-1.4.dist-info").mkdir()
    (tmp_path / "causeway-1.4.dist-info" / "METADATA").write_text("Name: causeway\nVersion: 1.4\nSummary: Bridges\n")
    assert installation.has_other_distribution()
    assert "causeway 1.4 is another project" in installation.other_distribution()


def test_a_command_says_in_one_line_that_a_foreign_distribution_is_there(
    causeway_here: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "causeway-1.4.dist-info").mkdir()
    (tmp_path / "causeway-1.4.dist-info" / "METADATA").write_text("Name: causeway\nVersion: 1.4\nSummary: Bridges\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    said = causeway_here("studies", "hash").stderr
    assert said.splitlines()[0].endswith("with the same import: pip uninstall causeway"), said
