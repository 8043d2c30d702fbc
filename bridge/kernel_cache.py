"""Where numba keeps what it has compiled: a place for every state of all kernels together.

numba itself looks only at the file of the function that it loads. A function that calls one of another file would go on
using the old one after a change there, and compute what nobody wrote.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FOLDERS = ("bridge", "pycontrol", "analysis/convert", "studies")
VARIABLE = "NUMBA_CACHE_DIR"
KEPT_S = 7 * 24 * 3600


def use_kernel_cache(top: Path = TOP) -> None:
    """Tells numba, whether it is imported already or will be. A place of the user's own (the variable) stands."""
    if VARIABLE in os.environ:
        return
    checked = "-boundscheck" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else ""  # numba itself does not tell apart
    place = top / "build" / "numba" / f"{state_of_kernels(top)}{checked}"
    with suppress(OSError):  # a checkout that cannot be written to: numba finds a place of its own
        place.mkdir(parents=True, exist_ok=True)
        os.utime(place)
        _forget_old(place.parent)
        os.environ[VARIABLE] = str(place)
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = str(place)


def state_of_kernels(top: Path) -> str:
    """A digest of every file that has to do with numba."""
    digest = hashlib.blake2b(digest_size=8)
    for folder in FOLDERS:
        for path in sorted((top / folder).rglob("*.py")):
            text = path.read_bytes()
            if b"numba" in text or b"compiled" in text:
                digest.update(str(path.relative_to(top)).encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def _forget_old(places: Path) -> None:
    for place in places.iterdir():
        if place.stat().st_mtime < time.time() - KEPT_S:
            shutil.rmtree(place, ignore_errors=True)
