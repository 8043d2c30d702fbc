"""Say what gives a run its numbers, besides parameters and seed: the code of the study, of Causeway, of a project.

Each is a digest of contents, so that it is the same wherever the files lie; `Identity.code` is one over all. It is part
of a run's id: after a change of code the same command makes other runs.
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
from causeway.bridge.edges import Edge
from causeway.bridge.errors import UserError
from causeway.bridge.opened import opened_below
from causeway.bridge.places import SOURCES, cache_dir
from causeway.bridge.sources import imported, own_files
from causeway.bridge.user_file import is_users_own

DIGITS = 10


@dataclass(frozen=True)
class StudyCode:
    """What a study's file is made of."""

    digest: str
    """Of the file, of what it imports and of the data that it reads; "" for a study that comes with Causeway."""
    own: frozenset[str]
    """Names of Causeway's modules that it imports."""
    files: frozenset[Path] = frozenset()
    path: Path | None = None
    """The study's file, if it is the user's own."""
    read: set[str] = field(default_factory=set, compare=False)
    """What the study was seen to read from the file's folder, in this process."""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what is read from the folder of a user's own study until the block ends."""
        if self.path is None:
            yield
            return
        with opened_below(self.path.parent, self.read):
            yield

    def check_read(self, study: str) -> None:
        """Refuse a run that read files of which its identity knows nothing."""
        known = {str(one) for one in self.files}
        for one in sorted(self.read - known):
            if self.path is not None and is_users_own(one) and not one.startswith(str(cache_dir().resolve())):
                name = os.path.relpath(one, self.path.parent)
                raise UserError(
                    f"study {study} reads {name}, and does not name it: nobody would see that results are older than "
                    f"the file; write files = ({name!r},) into the study, beside its name"
                )


@dataclass(frozen=True)
class Identity:
    """What gives a run its numbers, besides parameters and seed."""

    study: str
    """Digest of the study's own code and data, "" for a study that comes with Causeway."""
    causeway: str
    """Digest of Causeway's code, as far as the study and the engine use it, and the simulator's version."""
    project: str = ""
    """Digest of the ini files, NED files and what else they name, "" without a project."""

    @property
    def code(self) -> str:
        """One digest over all."""
        return _short(f"{self.study} {self.causeway} {self.project}".encode())


def of_shipped(file: Path) -> StudyCode:
    """Return the code of a study that comes with Causeway."""
    dotted = ".".join(("causeway", *file.resolve().relative_to(SOURCES).with_suffix("").parts))
    return StudyCode("", frozenset([dotted]))


def of_file(path: Path, data: Iterable[Path] = ()) -> StudyCode:
    """Return the code of a study in a file of the user's own; `data` is what it reads besides."""
    path = path.resolve()
    found = imported(path)
    files = {*found.files, *(one.resolve() for one in data)}
    digest = hashlib.blake2b(digest_size=16)
    for told in sorted(f"{os.path.relpath(one, path.parent)}\0{_content(one)}\0" for one in files):
        digest.update(told.encode())
    for package in sorted(found.packages):
        digest.update(f"{package} {_version(package)}\0".encode())
    return StudyCode(digest.hexdigest()[:DIGITS], frozenset(found.own), frozenset(files), path)


def data_of(path: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Yield the files beside a study that its `files` name."""
    for pattern in patterns:
        yield from (one for one in path.resolve().parent.glob(pattern) if one.is_file())


@cache
def causeway_code(own: frozenset[str], engine: str) -> str:
    """Return the digest of Causeway's sources that a run of such a study on such an engine executes."""
    core = frozenset(_core(engine))
    files = core | own_files(own, core)
    told = [f"{one.relative_to(SOURCES).as_posix()}\0{_content(one)}\0" for one in files]
    digest = hashlib.blake2b("".join(sorted(told)).encode(), digest_size=16)
    for edge in _edges(engine):
        digest.update(f"{edge.simulator}\0".encode())
    return digest.hexdigest()[:DIGITS]


def _core(engine: str) -> Iterator[Path]:
    """Yield what every run on an engine executes."""
    for room in ("bridge", "pycontrol", "studies"):
        yield from (SOURCES / room).glob("*.py")
    yield SOURCES / "proto" / "causeway.proto"
    yield from (SOURCES / "bridge" / "engines").glob("__init__.py")
    yield from (SOURCES / "bridge" / "engines").glob(f"{engine}*.py")
    for edge in _edges(engine):
        yield from edge.sources()
        yield from (SOURCES / edge.folder).rglob("*.ini")


def _edges(engine: str) -> list[Edge]:
    try:
        return engines.get(engine).edges()
    except UserError:  # a recording, or an engine that only a test has
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
