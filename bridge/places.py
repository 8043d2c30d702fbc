"""Where things are: the sources that came with this installation, and the user's cache folder for all that is made.

The sources (C++, NED, the contract) lie beside the Python code, in a wheel as in a checkout. Nothing is ever written
there: an installation may belong to somebody else.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from causeway.bridge.errors import UserError
from causeway.cache_folder import VARIABLE as VARIABLE
from causeway.cache_folder import NoCacheFolder
from causeway.cache_folder import cache_dir as _cache_dir

SOURCES = Path(__file__).resolve().parents[1]
"""The folder that holds bridge/, omnet/, ns3/ and proto/."""


@cache
def version() -> str:
    """The version of Causeway that is installed."""
    from importlib.metadata import PackageNotFoundError  # here: it takes longer to load than most commands' start
    from importlib.metadata import version as installed_version

    try:
        return installed_version("causeway")
    except PackageNotFoundError:
        return "0"


@cache
def commit() -> str:
    """The commit that this was installed from; where the sources are worked on, the one they are at ('+': changed)."""
    if (SOURCES / "COMMIT").exists():
        return (SOURCES / "COMMIT").read_text().strip()
    if not (SOURCES / ".git").exists():
        return ""
    try:
        head, changes = (
            _git(*words) for words in (("rev-parse", "--short=12", "HEAD"), ("status", "--porcelain", "-uno"))
        )
    except OSError:
        return ""
    return head + ("+" if changes else "")


def _git(*words: str) -> str:
    """Return what git says of the sources. It takes no lock: it may be killed with us, and the lock would stay."""
    command = ["git", "--no-optional-locks", *words]
    return subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False).stdout.strip()


def cache_dir() -> Path:
    """Return the user's cache folder."""
    try:
        return _cache_dir()
    except NoCacheFolder as error:
        raise UserError(str(error)) from None


def digest_of(paths: Iterable[Path], base: Path) -> str:
    """A short digest of these files: their names below `base` and what is in them."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(paths):
        digest.update(str(path.relative_to(base)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
