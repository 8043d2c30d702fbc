"""Where numba keeps what it has compiled: in the user's cache folder, a place for every state of all kernels together.

numba itself looks only at the file of the function that it loads. After a change in another file's function, which it
calls and has compiled in, it would go on with the old one.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

from causeway.bridge.places import SOURCES, cache_dir, digest_of

FOLDERS = ("bridge", "pycontrol", "analysis/convert", "studies")
VARIABLE = "NUMBA_CACHE_DIR"
KEPT_S = 7 * 24 * 3600


def use_kernel_cache(top: Path = SOURCES) -> None:
    """Tells numba, whether it is imported already or will be. A place of the user's own (the variable) stands."""
    if VARIABLE in os.environ:
        return
    place = cache_dir() / "kernels" / state_of_kernels(top)
    with suppress(OSError):  # no folder to write to: numba finds a place of its own
        place.mkdir(parents=True, exist_ok=True)
        os.utime(place)
        _forget_old(place.parent)
        os.environ[VARIABLE] = str(place)
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = str(place)


def state_of_kernels(top: Path) -> str:
    """A digest of every file that has to do with numba."""
    files = [path for folder in FOLDERS for path in (top / folder).rglob("*.py")]
    return digest_of((path for path in files if _has_kernels(path.read_bytes())), top)


def _has_kernels(text: bytes) -> bool:
    return b"numba" in text or b"compiled" in text


def _forget_old(places: Path) -> None:
    for place in places.iterdir():
        if place.stat().st_mtime < time.time() - KEPT_S:
            shutil.rmtree(place, ignore_errors=True)
