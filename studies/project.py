"""Compute the digest of a user's OMNeT++ project: its ini file and every file that it names, directly or indirectly.

OMNeT++ reads more than the ini file. The digest covers, transitively: files that an ini file includes; files that an
ini, NED or XML file names in quotation marks (`xmldoc("config.xml")`) and that exist relative to that file or to the
ini file; every NED file below the roots of its packages; model libraries. A name that contains `${...}` stands for all
files that match. OMNeT++ and INET themselves are not included; they are identified by their versions.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from causeway.network.networks import InetNetwork, Network
from causeway.studies.identity import DIGITS
from causeway.toolchain.model_projects import find_models

INCLUDE = re.compile(r"^\s*include\s+(.+?)\s*$", re.MULTILINE)
QUOTED = re.compile(r'"([^"\n]+)"')
PATHS = re.compile(r"^\s*(ned-path|load-libs)\s*=\s*(.+?)\s*$", re.MULTILINE)
VARIABLE = re.compile(r"\$\{[^}]*\}|\$\w+")
_READ_BYTES = 16 << 20
"""Files larger than this are not searched for names of other files, since they contain data."""
_HASH_BYTES = 256 << 20
"""Files larger than this are identified by size and time of change, since hashing them would delay every command."""
_SKIPPED = frozenset({"results", "out", "node_modules", "__pycache__"})


def project_code(ini: Path, ned_path: Iterable[str] = (), libs: Iterable[str] = ()) -> str:
    """Return the digest of a project: contents of files, and their paths relative to the ini file.

    Args:
        ini: The project's ini file.
        ned_path: Roots of NED packages, in addition to those in the ini file.
        libs: Model libraries, in addition to those in the ini file.
    """
    ini = ini.resolve()
    files = set(_named(ini))
    texts = [_text(one) for one in files if one.suffix == ".ini"]
    roots = [ini.parent, *(Path(one).resolve() for one in ned_path)]
    more_libs = list(libs)
    for text in texts:
        for key, value in PATHS.findall(text):
            words = [
                ini.parent / word for word in re.split(r"[\s;:]+", value.partition("#")[0].replace('"', "")) if word
            ]
            if key == "ned-path":
                roots += words
            elif key == "load-libs":
                more_libs += map(str, words)
    neds = {one for root in roots for one in _neds(root)}
    files |= neds | {one for ned in neds for one in _named(ned, ini.parent)}
    files |= {found for lib in more_libs if (found := _library(Path(lib))) is not None}
    entries = sorted(f"{os.path.relpath(one, ini.parent)}\0{_content(one)}\0" for one in files)
    return hashlib.blake2b("".join(entries).encode(), digest_size=16).hexdigest()[:DIGITS]


def network_code(ini: Path, own: Network, models: Iterable[str] = ()) -> str:
    """Return the digest of a project, including NED folders, libraries and models of a study's own network.

    Args:
        ini: The project's ini file.
        own: The study's own network.
        models: Projects of models (`InetNetwork.models`), in addition to those of `own`.
    """
    ned_path, libs, more = (own.ned_path, own.libs, own.models) if isinstance(own, InetNetwork) else ((), (), ())
    folders, libraries = find_models((*more, *models))
    return project_code(ini, (*ned_path, *folders), (*libs, *libraries))


def _named(first: Path, base: Path | None = None) -> Iterator[Path]:
    """Yield a file and the files that it names, transitively."""
    todo, seen = [first], set[Path]()
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        yield file
        text = _text(file)
        names = [*INCLUDE.findall(text)] if file.suffix == ".ini" else []
        names += [word for quoted in QUOTED.findall(text) for word in {quoted, *quoted.split()}]
        for name in names:
            for folder in {file.parent, base or first.parent}:
                todo += _existing(folder, name)


def _existing(folder: Path, name: str) -> list[Path]:
    """Return the existing files in a folder that match a name, which may contain variables."""
    name = name.strip().strip('"')
    pattern = VARIABLE.sub("*", name)
    try:
        if pattern == name:
            found = [folder / name] if not set(name) & set("*?[") else []
        else:
            found = list(folder.glob(pattern)) if "**" not in pattern and pattern.strip("*./") else []
        return [one.resolve() for one in found if one.is_file()]
    except (OSError, ValueError, NotImplementedError):
        return []


def _neds(root: Path) -> Iterator[Path]:
    """Yield the NED files below a root of packages."""
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name[0] != "." and name not in _SKIPPED]
        yield from (Path(folder, name).resolve() for name in names if name.endswith(".ned"))


def _library(path: Path) -> Path | None:
    """Return the file of a library, whose name usually lacks 'lib' and '.so'; None if there is none."""
    for one in (path.with_name(f"lib{path.name}.so"), path.with_name(f"{path.name}.so"), path):
        if one.is_file():
            return one.resolve()
    return None


def _text(path: Path) -> str:
    """Return the text of a file; "" if it is too large or unreadable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size <= _READ_BYTES else ""
    except OSError:
        return ""


def _content(path: Path) -> str:
    """Return a digest of a file's content."""
    try:
        status = path.stat()
        if status.st_size > _HASH_BYTES:
            return f"{status.st_size} {status.st_mtime_ns}"
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
