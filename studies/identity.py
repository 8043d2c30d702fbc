"""Compute the digests of the code that determines a run's results: of the study, of Causeway, and of a user's project.

Each is a digest of contents, so it does not depend on the folder that contains the files. `Identity.code` is a digest
of all three. It is part of a run's id, so after a change of code the same command makes new runs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

from causeway.bridge import engines
from causeway.errors import UserError
from causeway.toolchain.adapters import Adapter
from causeway.toolchain.installation import SOURCES, cache_dir
from causeway.toolchain.opened_files import opened_below
from causeway.toolchain.sources import imported, own_files
from causeway.toolchain.user_file import is_user_file

DIGITS = 10


@dataclass(frozen=True)
class StudyCode:
    """The files of a study, and their digest."""

    digest: str
    """Digest of the file, its imports and the data that it reads; "" for a study that comes with Causeway."""
    own: frozenset[str]
    """Names of Causeway's modules that it imports."""
    files: frozenset[Path] = frozenset()
    path: Path | None = None
    """The study's file, if it is the user's own."""
    read: set[str] = field(default_factory=set, compare=False)
    """Files in the study's folder that it has read in this process."""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record in `read` the files that the block opens in the folder of a user's own study."""
        if self.path is None:
            yield
            return
        with opened_below(self.path.parent, self.read):
            yield

    def check_read(self, study: str) -> None:
        """Raise UserError if the study has read a file that its digest does not cover."""
        known = {str(one) for one in self.files}
        for one in sorted(self.read - known):
            if self.path is not None and is_user_file(one) and not one.startswith(str(cache_dir().resolve())):
                name = os.path.relpath(one, self.path.parent)
                raise UserError(
                    f"study {study} reads {name} without declaring it, so a change of this file would not cause new "
                    f"runs; add files = ({name!r},) to the study, beside its name"
                )


@dataclass(frozen=True)
class Identity:
    """Digests of all code that determines a run's results; the rest is in its parameters and seed."""

    study: str
    """Digest of the study's own code and data, "" for a study that comes with Causeway."""
    causeway: str
    """Digest of the parts of Causeway's code that the study and the engine use, and of the simulator's version."""
    project: str = ""
    """Digest of the project's ini files, NED files and all files that they name; "" without a project."""

    @property
    def code(self) -> str:
        """One digest of all three."""
        return _short(f"{self.study} {self.causeway} {self.project}".encode())


def of_shipped(file: Path) -> StudyCode:
    """Return the code of a study that comes with Causeway."""
    dotted = ".".join(("causeway", *file.resolve().relative_to(SOURCES).with_suffix("").parts))
    return StudyCode("", frozenset([dotted]))


def of_file(path: Path, data: Iterable[Path] = ()) -> StudyCode:
    """Return the code of a study in a user's file. `data` are further files that the study reads."""
    path = path.resolve()
    found = imported(path)
    files = {*found.files, *(one.resolve() for one in data)}
    digest = hashlib.blake2b(digest_size=16)
    for entry in sorted(f"{os.path.relpath(one, path.parent)}\0{_content(one)}\0" for one in files):
        digest.update(entry.encode())
    for package in sorted(found.packages):
        digest.update(f"{package} {_version(package)}\0".encode())
    return StudyCode(digest.hexdigest()[:DIGITS], frozenset(found.own), frozenset(files), path)


def data_of(path: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Yield the files beside a study that match its `files` patterns."""
    for pattern in patterns:
        yield from (one for one in path.resolve().parent.glob(pattern) if one.is_file())


@cache
def causeway_code(own: frozenset[str], engine: str) -> str:
    """Return the digest of Causeway's sources that a run of such a study on such an engine executes."""
    core = frozenset(_core(engine))
    files = core | own_files(own, core)
    entries = [f"{one.relative_to(SOURCES).as_posix()}\0{_content(one)}\0" for one in files]
    digest = hashlib.blake2b("".join(sorted(entries)).encode(), digest_size=16)
    for adapter in _adapters(engine):
        digest.update(f"{adapter.simulator}\0".encode())
    return digest.hexdigest()[:DIGITS]


def _core(engine: str) -> Iterator[Path]:
    """Yield the source files that every run on an engine executes."""
    for package in ("bridge", "network", "pycontrol", "studies", "toolchain"):
        yield from (SOURCES / package).glob("*.py")
    yield SOURCES / "proto" / "contract.py"
    yield SOURCES / "proto" / "causeway.proto"
    yield from (SOURCES / "bridge" / "engines").glob("__init__.py")
    yield from (SOURCES / "bridge" / "engines").glob(f"{engine}*.py")
    for adapter in _adapters(engine):
        yield from adapter.sources()
        for folder in adapter.folders or (adapter.folder,):
            yield from (SOURCES / folder).rglob("*.ini")


def _adapters(engine: str) -> list[Adapter]:
    try:
        return engines.get(engine).adapters()
    except UserError:  # engines that are not in the registry: replay, or the engine of a test
        return []


@cache
def _version(package: str) -> str:
    """Return the version of an installed package, by the name under which it is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        names = metadata.packages_distributions().get(package, [])
        return " ".join(metadata.version(name) for name in sorted(set(names)))


def _content(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _short(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=16).hexdigest()[:DIGITS]
