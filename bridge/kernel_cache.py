"""Where numba keeps what it has compiled, and when that is too old.

The place is the user's cache folder. numba itself looks only at the file of the function that it loads: after a change
in another file's function, which it has compiled in, it would go on with the old one. `KernelLocator` looks at every
file that the function's module imports, and at what those import. So a change compiles what it touches and no more.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from causeway.bridge.places import SOURCES, cache_dir, digest_of

DIRECTORY, LOCATORS = "NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES"
"""The environment variables by which numba is told. Those of the user's own stand."""
OURS = "causeway.bridge.kernel_locator.KernelLocator"
THEIRS = ("UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator")
"""numba's own, for functions of other packages."""
LAST = "causeway.bridge.kernel_locator.NoPlace"
KEPT_S = 30 * 24 * 3600


def use_kernel_cache() -> None:
    """Tells numba, whether it is imported already or will be."""
    if DIRECTORY in os.environ or LOCATORS in os.environ:
        return
    with suppress(OSError):  # no folder to write to: numba finds a place of its own
        kernels_dir().mkdir(parents=True, exist_ok=True)
        _forget_old(kernels_dir())
    os.environ[LOCATORS] = ",".join((OURS, *THEIRS, LAST))
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_LOCATOR_CLASSES = os.environ[LOCATORS]


def kernels_dir() -> Path:
    """The folder of all compiled kernels; those that check every index have their own, as numba does not tell apart."""
    return cache_dir() / ("kernels-boundscheck" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "kernels")


@cache
def state_of(path: Path) -> str:
    """A digest of this file, of all that it imports from Causeway or from beside it, and of the contract.

    Reading what imports what takes a fifth of a second, so it is kept with the size and time of every file.
    """
    note = kernels_dir() / "states" / f"{hashlib.blake2b(str(path).encode(), digest_size=8).hexdigest()}.json"
    with suppress(OSError, ValueError, KeyError):
        kept = json.loads(note.read_text())
        if all(_seen(Path(file)) == seen for file, seen in kept["files"].items()):
            return str(kept["state"])
    files = _reached_from(path) | {SOURCES / "proto" / "causeway.proto"}
    seen = {str(file): _seen(file) for file in files}
    state = digest_of(files, Path(os.path.commonpath([*files, SOURCES])))
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        half = note.with_name(f".{os.getpid()}.part")
        half.write_text(json.dumps({"files": seen, "state": state}))
        os.replace(half, note)
    return state


def _seen(file: Path) -> list[int]:
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


def _reached_from(path: Path) -> set[Path]:
    """The file, what it imports, what that imports, and so on: files with code of ours."""
    reached: set[Path] = set()
    left = [path.resolve()]
    while left:
        file = left.pop()
        if file not in reached:
            reached.add(file)
            left += imported_by(file)
    return reached


def imported_by(file: Path) -> list[Path]:
    """The files of Causeway, or of the same folder, that this one imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    found = [_file_of(name, file.parent) for name in sorted(names)]
    return [path for path in found if path is not None]


def _file_of(name: str, beside: Path) -> Path | None:
    package, _, rest = name.partition(".")
    place = SOURCES / rest.replace(".", "/") if package == "causeway" else beside / name
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((path.resolve() for path in candidates if path.is_file()), None)


def _forget_old(places: Path) -> None:
    for place in places.iterdir():
        if place.stat().st_mtime < time.time() - KEPT_S:
            shutil.rmtree(place, ignore_errors=True)
