"""The folders in which numba keeps compiled functions: one for each state of the sources.

numba checks only the file of the function that it loads. If a function of another file was compiled into it and has
changed, numba would still use the old code. So the folder's name is a digest of all sources that compiled functions
use, and of their paths, which numba also checks. Compiled code of a user's files is kept in a separate folder, whose
name also depends on these files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from causeway.errors import UserError
from causeway.toolchain.installation import SOURCES, VARIABLE, cache_dir

SOURCES_OF_KERNELS = (
    "analysis/convert", "bridge", "network", "proto", "pycontrol", "studies/dcs23", "studies/hash", "toolchain",
)  # fmt: skip
"""The packages with compiled functions, and all packages that these import."""
IN_USE_S = 3600
"""A folder is not removed within this time after its last use, since a process may be compiling into it."""
KEPT_FOLDERS, KEPT_S = 12, 30 * 24 * 3600
"""The largest number of folders of other states that are kept, and the time for which each is kept after its last use.
One takes 25 MB."""


@cache
def kernels_dir() -> Path:
    """Return the folder of Causeway's compiled functions, and remove outdated folders of other states."""
    sources = (file for folder in SOURCES_OF_KERNELS for file in (SOURCES / folder).rglob("*.py"))
    root = cache_dir() / ("kernels-boundscheck" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "kernels")
    folder = root / _digest([*sources, SOURCES / "proto" / "causeway.proto"])
    _prepare(folder)
    return folder


def use_for(files: Iterable[Path]) -> None:
    """Make numba keep the compiled code of a user's files in a separate folder, from now on."""
    files = list(files)
    if any(b"numba" in file.read_bytes() for file in files):
        import numba  # imported only where it is needed, since this takes a third of a second

        folder = kernels_dir().with_name(f"{kernels_dir().name}-{_digest(files)}")
        _prepare(folder)
        config: Any = numba.config
        config.CACHE_DIR = str(folder)


def unwritable_folder(folder: Path, error: OSError) -> UserError:
    """Return the error for a folder that cannot be written."""
    return UserError(
        f"compiled code cannot be kept in {folder} ({error.strerror or error}): free some space there, or set "
        f"{VARIABLE} to another folder"
    )


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.blake2b(f"{SOURCES}\0{sys.version}\0".encode(), digest_size=8)
    for file in sorted(files):
        digest.update(f"{file}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _prepare(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError as error:  # numba would choose a folder itself, and miss changes in other files
        raise unwritable_folder(folder, error) from None
    _sweep(folder)


def _sweep(ours: Path) -> None:
    """Remove folders of other states: those that were not used for long, and the oldest ones if there are too many."""
    with suppress(OSError):  # another process is doing this, too
        others = [(place.stat().st_mtime, place) for place in ours.parent.iterdir() if place != ours]
        for number, (used, place) in enumerate(sorted(others, reverse=True), 1):
            unused_s = time.time() - used
            if unused_s > KEPT_S or (number > KEPT_FOLDERS and unused_s > IN_USE_S):
                shutil.rmtree(place, ignore_errors=True)
