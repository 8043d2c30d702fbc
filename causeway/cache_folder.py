"""The user's cache folder: compiled code, adapters, copies of remote tables.

This module imports nothing of Causeway, because it is needed before the package is unpacked from a zip.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

VARIABLE = "CAUSEWAY_CACHE"
"""The environment variable that names another cache folder."""


class NoCacheFolder(Exception):
    """Raised if no folder can be trusted. The message contains the remedy."""


def cache_dir() -> Path:
    """Return the user's cache folder or, if it cannot be written, a private one beside temporary files."""
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "causeway"
    with suppress(OSError):
        usual.mkdir(parents=True, exist_ok=True)
        if os.access(usual, os.W_OK):
            return usual
    return _private(Path(tempfile.gettempdir()) / f"causeway-{os.getuid()}")


def _private(folder: Path) -> Path:
    """Make a folder that only this user can enter, or refuse an existing one that others could write to.

    Otherwise another user could make a folder with this name in /tmp and put code into it.
    """
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError as error:
        raise NoCacheFolder(f"{folder} cannot be made ({error.strerror}): set {VARIABLE} to another folder") from None
    if not (stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_mode & 0o777 == 0o700):
        raise NoCacheFolder(
            f"{folder} cannot be the cache folder: it must be a folder that only you can enter (mode 0700); "
            f"remove it, or set {VARIABLE} to another folder"
        )
    return folder
