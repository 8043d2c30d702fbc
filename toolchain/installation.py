"""Paths: the sources that came with this installation, and the user's cache folder for everything that is built.

The sources (C++, NED, the contract) are beside the Python code, in a wheel and in a checkout. Nothing is written there,
since another user may own the installation.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from causeway.cache_folder import VARIABLE as VARIABLE
from causeway.cache_folder import NoCacheFolder
from causeway.cache_folder import cache_dir as _cache_dir
from causeway.errors import UserError

SOURCES = Path(__file__).resolve().parents[1]
"""The folder with bridge/, omnet/, ns3/ and proto/."""


DISTRIBUTION = "causeway-sim"
"""The name of the package for pip; the import is `causeway`."""
SUMMARY = "Runs distributed protocols written in Python on packet-level network simulators"
"""The first words of the distribution's summary, which identify an older distribution of Causeway."""


@cache
def version() -> str:
    """Return the version of Causeway: that of the checkout, or the installed one."""
    from importlib import metadata  # imported here, since it takes longer to load than most commands take to start

    project = SOURCES / "pyproject.toml"
    if project.is_file():
        return next(line.split('"')[1] for line in project.read_text().splitlines() if line.startswith("version = "))
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0"


def has_other_distribution() -> bool:
    """Return whether a distribution named `causeway` is in this environment. `metadata` would take longer."""
    for folder in sys.path:
        try:
            names = os.listdir(folder)
        except OSError:  # "" and zips are skipped, too
            continue
        if any(name.startswith("causeway-") and name.endswith(".dist-info") for name in names):
            return True
    return False


def other_distribution() -> str:
    """Describe a distribution named `causeway` in this environment with the remedy; "" if there is none."""
    from importlib import metadata

    try:
        found = metadata.distribution("causeway")
    except metadata.PackageNotFoundError:
        return ""
    relation = (
        "an older name of this distribution" if found.metadata["Summary"].startswith(SUMMARY) else "another project"
    )
    return f"the distribution causeway {found.version} is {relation}, with the same import: pip uninstall causeway"


@cache
def commit() -> str:
    """Return the commit of the installation or, in a checkout, of its sources; "" if it is unknown.

    A "+" after it means that the sources have been changed.
    """
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
    """Return the output of git for the sources.

    git takes no lock, since a lock would remain if git were killed with this process.
    """
    command = ["git", "--no-optional-locks", *words]
    return subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False).stdout.strip()


def cache_dir() -> Path:
    """Return the user's cache folder."""
    try:
        return _cache_dir()
    except NoCacheFolder as error:
        raise UserError(str(error)) from None


def digest_of(paths: Iterable[Path], base: Path) -> str:
    """Return a short digest of the names of files below `base`, and of their contents."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(paths):
        digest.update(str(path.relative_to(base)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
