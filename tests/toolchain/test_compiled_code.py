"""Compiled code is stored, and never used after a change of one of its sources."""

from __future__ import annotations

import ast
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from causeway.errors import UserError
from causeway.toolchain import compiled_code
from causeway.toolchain.installation import SOURCES, VARIABLE

HELPER = """
from causeway.toolchain.jit import njit
@njit()
def helper(x):
    return x + 1
"""
CALLER = """
from causeway.toolchain.jit import njit
from causeway.bridge.helper_kernel import helper
@njit()
def caller(x):
    return helper(x)
"""
USE = "from causeway.bridge.caller_kernel import caller as f; print(f(1), sum(f.stats.cache_misses.values()))"
USERS_HELPER = """
import numba
@numba.njit(cache=True)
def helper(x):
    return x + 1
"""
USERS_FILE = """
import sys
sys.path.insert(0, {folder!r})
import numba
from helper_of_mine import helper
@numba.njit(cache=True)
def caller(x):
    return helper(x)
"""
USE_OF_USERS = """
from pathlib import Path
from causeway.toolchain.user_file import module_from
f = module_from(Path({file!r})).caller
print(f(1), sum(f.stats.cache_misses.values()))
"""


def environment(tmp_path: Path, tree: Path = SOURCES) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return plain | {VARIABLE: str(tmp_path / "cache"), "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def ran(code: str, tmp_path: Path, tree: Path = SOURCES) -> list[int]:
    """Return the numbers that a process prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path, tree), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def checkout(place: Path) -> Path:
    """Return a small copy of Causeway with two kernels, one of which calls the other, in files of their own."""
    (place / "bridge").mkdir(parents=True)
    (place / "toolchain").mkdir()
    for name in ("__init__", "jit", "compiled_code", "installation"):
        shutil.copy(SOURCES / "toolchain" / f"{name}.py", place / "toolchain")
    shutil.copy(SOURCES / "bridge" / "__init__.py", place / "bridge")
    shutil.copytree(SOURCES / "causeway", place / "causeway", symlinks=True)
    (place / "proto").mkdir()
    shutil.copy(SOURCES / "proto" / "causeway.proto", place / "proto")
    (place / "bridge" / "helper_kernel.py").write_text(HELPER)
    (place / "bridge" / "caller_kernel.py").write_text(CALLER)
    return place


@pytest.mark.slow
def test_unchanged_functions_are_compiled_once(tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree")
    assert ran(USE, tmp_path, tree) == [2, 1]
    assert ran(USE, tmp_path, tree) == [2, 0]


@pytest.mark.slow
def test_a_function_follows_a_change_of_one_in_another_file(tmp_path: Path) -> None:
    """numba's own cache does not detect this, since it compares only the file of the caller."""
    tree = checkout(tmp_path / "tree")
    ran(USE, tmp_path, tree)
    helper = tree / "bridge" / "helper_kernel.py"
    before = helper.stat()
    helper.write_text(HELPER.replace("x + 1", "x + 5"))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ran(USE, tmp_path, tree) == [6, 1]


def test_equal_sources_in_two_places_have_a_folder_each(tmp_path: Path) -> None:
    """numba also goes by where a file lies: what was compiled for one clone does not serve another, and must not be
    taken for ready there."""
    code = "from causeway.toolchain.compiled_code import kernels_dir; print(int(kernels_dir().name, 16))"
    trees = checkout(tmp_path / "one"), checkout(tmp_path / "two")
    assert ran(code, tmp_path, trees[0]) == ran(code, tmp_path, trees[0]) != ran(code, tmp_path, trees[1])


@pytest.mark.slow
def test_a_users_function_follows_a_change_of_one_in_another_file_of_theirs(tmp_path: Path) -> None:
    file, helper = tmp_path / "mine.py", tmp_path / "helper_of_mine.py"
    file.write_text(USERS_FILE.format(folder=str(tmp_path)))
    helper.write_text(USERS_HELPER)
    use = USE_OF_USERS.format(file=str(file))
    assert ran(use, tmp_path) == [2, 1]
    assert ran(use, tmp_path) == [2, 0]
    helper.write_text(USERS_HELPER.replace("x + 1", "x + 5"))
    assert ran(use, tmp_path) == [6, 1]
    assert not (tmp_path / "__pycache__").exists()


@pytest.fixture
def fresh() -> Iterator[None]:
    """Let `kernels_dir` be found anew, in the test and after it."""
    compiled_code.kernels_dir.cache_clear()
    yield
    compiled_code.kernels_dir.cache_clear()


def test_a_users_file_without_numba_needs_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text("x = 1\n")
    compiled_code.use_for([tmp_path / "mine.py"])
    assert not (tmp_path / "cache").exists()


def test_folders_of_other_sources_are_swept_when_they_are_old_or_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    used = time.time() - 2 * compiled_code.IN_USE_S
    for number in range(compiled_code.KEPT_FOLDERS + 3):
        (tmp_path / "kernels" / f"{number:02}").mkdir(parents=True)
        os.utime(tmp_path / "kernels" / f"{number:02}", (used - number, used - number))
    old = tmp_path / "kernels" / "03"
    (old / "code.nbc").write_text("")
    os.utime(old, (used - 2 * compiled_code.KEPT_S,) * 2)
    ours = compiled_code.kernels_dir()
    left = {place.name for place in (tmp_path / "kernels").iterdir()}
    expected = {f"{number:02}" for number in range(compiled_code.KEPT_FOLDERS + 1)}
    assert left == expected - {"03"} | {ours.name}


def test_folders_that_other_processes_may_be_using_are_not_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    others = [tmp_path / "kernels" / f"{number:02}" for number in range(compiled_code.KEPT_FOLDERS + 3)]
    for folder in others:
        folder.mkdir(parents=True)
    compiled_code.kernels_dir()
    assert all(folder.is_dir() for folder in others), "a process that compiles there fails without its folder"


@pytest.mark.parametrize("cache", ["/dev/null/cache", "/proc/cache"])
def test_a_folder_without_write_permission_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, fresh: None, cache: str
) -> None:
    """Refuse to compile then: numba's default folders are beside the sources, where changes are not noticed."""
    monkeypatch.setenv(VARIABLE, cache)
    with pytest.raises(UserError, match=rf"^compiled code cannot be kept in {cache}/.*: free some space there, or "):
        compiled_code.kernels_dir()


@pytest.mark.slow
def test_a_full_disk_while_compiled_code_is_stored_is_reported_in_one_line(tmp_path: Path) -> None:
    def few_bytes() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [sys.executable, "-m", "causeway.cli.main", "run", "icpp18", "--set", "nodes=4", "--out", "out"]
    done = subprocess.run(
        command, env=environment(tmp_path), preexec_fn=few_bytes, cwd=tmp_path, capture_output=True, text=True
    )
    reported = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in reported
    assert "File too large; free some space for the results and for the cache folder" in reported, reported


# ---- the sources that compiled functions use -------------------------------------------------------------------------

DECORATED = re.compile(r"^@(?:njit|compiled|inlined)\b", re.MULTILINE)


def imported_by(file: Path) -> list[Path]:
    """Return the files of Causeway that this one imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    places = [SOURCES / name.partition(".")[2].replace(".", "/") for name in names if name.startswith("causeway.")]
    found = [one for place in places for one in (place.with_suffix(".py"), place / "__init__.py")]
    return [one for one in found if one.is_file()]


def test_the_digest_covers_all_that_compiled_functions_import() -> None:
    left = [file for file in SOURCES.glob("*/**/*.py") if file.parts[len(SOURCES.parts)] not in ("tests", ".venv")]
    left = [file for file in left if DECORATED.search(file.read_text())]
    assert len(left) > 20
    reached: set[Path] = set()
    while left:
        file = left.pop()
        if file not in reached:
            reached.add(file)
            left += imported_by(file)
    covered = [SOURCES / folder for folder in compiled_code.SOURCES_OF_KERNELS]
    assert [file for file in reached if not any(file.is_relative_to(folder) for folder in covered)] == []


def test_only_one_module_applies_numbas_decorators() -> None:
    """Other decorators would store compiled code where only changes of its own file are detected."""
    tracked = subprocess.check_output(["git", "ls-files", "*.py"], cwd=SOURCES, text=True).split()
    product = [name for name in tracked if not name.startswith(("tests/", "bench/", "examples/"))]
    applying = [
        name
        for name in product
        if (SOURCES / name).is_file()
        and re.search(r"numba\.(?:n?jit|vectorize)|from numba import.*\bn?jit\b", (SOURCES / name).read_text())
    ]
    assert applying == ["toolchain/jit.py"]
