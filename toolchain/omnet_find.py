"""Finds the installed OMNeT++ and INET: OMNETPP_ROOT and INET_ROOT, else PATH, else the usual folders."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

OLDEST = (6, 0)
INET = "4.5"
"""The INET that the adapter is written for. 4.6 needs OMNeT++ 6.2 and has no UnitDiskRadio, 4.7 has no crcMode."""
HOW_TO_GET_IT = (
    "no OMNeT++ found: install OMNeT++ 6.1 (omnetpp.org), build it (MODE=release), put its bin directory on PATH or "
    "set OMNETPP_ROOT=..."
)


@dataclass(frozen=True)
class Found:
    """An installed OMNeT++, and the INET beside it if there is one."""

    root: Path
    version: str
    inet_root: Path | None
    inet_version: str | None

    @property
    def opp_run(self) -> Path:
        """The program that runs simulations."""
        release = self.root / "bin" / "opp_run_release"
        return release if release.exists() else self.root / "bin" / "opp_run"

    @property
    def inet_is_known(self) -> bool:
        """True if the adapter is written for this INET."""
        return self.inet_version is not None and is_known(self.inet_version)

    @property
    def omnetpp_text(self) -> str:
        """The version for result tables, of networks that do not use INET."""
        return f"OMNeT++ {self.version}"

    @property
    def text(self) -> str:
        """The versions for users and result tables."""
        return self.omnetpp_text + (f", INET {self.inet_version}" if self.inet_version else "")


def find_omnetpp() -> Found | None:
    """Return the OMNeT++ to use; None if none is built."""
    for root in _roots():
        version = _version(root, "omnetpp-")
        if version and (root / "bin" / "opp_run").exists() and _numbers(version) >= OLDEST:
            inet_root = _find_inet(root)
            return Found(root, version, inet_root, _version(inet_root, "inet-") if inet_root else None)
    return None


def _roots() -> Iterable[Path]:
    if root := os.environ.get("OMNETPP_ROOT"):
        yield Path(root)
        return  # an explicit choice has no alternatives
    if tool := shutil.which("opp_configfilepath"):
        config = subprocess.run([tool], capture_output=True, text=True, check=False).stdout.strip()
        if config:
            yield Path(config).resolve().parent
    for parent in (Path.home(), Path("/opt")):
        yield from _newest_first(parent, "omnetpp*")


def _find_inet(omnetpp_root: Path) -> Path | None:
    """Return the INET to use: one with a built library, preferably of the known version."""
    if root := os.environ.get("INET_ROOT"):
        candidates = [Path(root)]
    else:
        parents = dict.fromkeys([omnetpp_root.parent, omnetpp_root / "samples", Path.home(), Path("/opt")])
        candidates = [root for parent in parents for root in _newest_first(parent, "inet*")]
    built = [root for root in candidates if (root / "src" / "libINET.so").exists()]
    return next((root for root in built if is_known(_version(root, "inet-") or "")), built[0] if built else None)


def is_known(inet_version: str) -> bool:
    """Return whether the adapter is written for this INET."""
    return _numbers(inet_version)[:2] == _numbers(INET)


def _newest_first(parent: Path, pattern: str) -> list[Path]:
    try:
        return sorted((p for p in parent.glob(pattern) if p.is_dir()), key=lambda p: _numbers(p.name), reverse=True)
    except OSError:
        return []


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def _version(root: Path, prefix: str) -> str | None:
    """Return the version in an installation's Version file, else the one in the name of its directory."""
    text = root.name
    if (root / "Version").exists():
        text = (root / "Version").read_text().strip()
    elif (root / "WHATSNEW").exists() and (match := re.search(r"\bINET-(\d[\d.]*)", (root / "WHATSNEW").read_text())):
        text = match[1]
    return text.removeprefix(prefix) if _numbers(text) else None
