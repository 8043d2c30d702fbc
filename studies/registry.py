"""Load studies, by name or from a file.

A study that ships with Causeway has a line in `STUDIES`; your own may be any file: `causeway run my.py`. Start here:
`resolve`. A process executes a file once, and again if the file or something that it imports or reads has changed.
"""

from __future__ import annotations

import importlib
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causeway.analysis.plots import Headline, Plot
from causeway.analysis.reduce import expression
from causeway.errors import UserError, unknown
from causeway.studies.identity import StudyCode, data_of, of_file, of_shipped
from causeway.studies.study import Study, check_members
from causeway.toolchain.opened_files import opened_below
from causeway.toolchain.user_file import enter_folder_of, is_user_file, module_from

STUDIES = {
    "hash": "causeway.studies.hash.study:HashStudy",
    "dcs23": "causeway.studies.dcs23.study:Dcs23Study",
    "ladc18": "causeway.studies.ladc18.study:Ladc18Study",
    "icpp18": "causeway.studies.icpp18.study:Icpp18Study",
    "mobile20": "causeway.studies.mobile20.study:Mobile20Study",
}
"""name -> module:class"""

PUBLISHED = Path(__file__).resolve().parent
"""The folder that contains the published numbers of all studies, at any depth."""


@dataclass(frozen=True)
class Resolved:
    """A study and its code."""

    study: Study
    code: StudyCode


def get(name: str) -> Study:
    """Return the study with a name, or the study in a file (`*.py`)."""
    return resolve(name).study


def resolve(name: str) -> Resolved:
    """Return the study with a name, or in a file (`*.py`), and the digest of its code.

    Raises:
        UserError: The name is unknown, the file does not exist or does not define exactly one valid study.
    """
    if name.endswith(".py"):
        return _load_file(Path(name))
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    module_name, _, class_ = STUDIES[name].partition(":")
    module = importlib.import_module(module_name)
    return Resolved(getattr(module, class_)(), of_shipped(Path(str(module.__file__))))


@dataclass
class _Executed:
    """The state of a study's file when it was executed."""

    study: type[Study]
    code: StudyCode
    read: frozenset[Path]
    """The files below its folder that were read while it was executed."""
    state: State
    """Size, times and inode of all files of the study. They show a change without reading the files."""
    inspected_ns: int
    """The time at which `state` was read."""


_EXECUTED: dict[Path, _Executed] = {}
State = tuple[tuple[Any, ...], ...]
_CERTAIN_NS = 2_000_000_000
"""The minimum age of a change at which the next change is certainly visible. Clocks of file systems are coarse: two
changes within one tick look like one."""


def _load_file(path: Path) -> Resolved:
    """Return the study that a file defines.

    Execute the file if it has changed since its last execution in this process.
    """
    path = _existing_file(path).resolve()
    known = _EXECUTED.get(path)
    if known is None or not _is_unchanged(known):
        known = _EXECUTED[path] = _execute_if_changed(path, known)
    enter_folder_of(known.study)
    return Resolved(known.study(), known.code)


def _existing_file(path: Path) -> Path:
    """Return the path if there is such a file."""
    if not path.is_file():
        raise UserError(f"no file {path}; a study is a name (`causeway studies`) or a Python file that defines one")
    return path


def _is_unchanged(known: _Executed) -> bool:
    """Return whether certainly no file has changed. If a change is too recent, this is not certain."""
    state = _state(known.code.files)
    return state == known.state and all(known.inspected_ns - changed > _CERTAIN_NS for _, _, _, changed, _ in state)


def _execute_if_changed(path: Path, known: _Executed | None) -> _Executed:
    """Execute a file, unless the contents of all files of the study are unchanged."""
    inspected_ns = time.time_ns()
    if known is not None and all(one.is_file() for one in known.code.files):
        code = of_file(path, (*known.read, *data_of(path, known.study.files)))
        if code == known.code:
            code.read.update(known.code.read)
            return _Executed(known.study, code, known.read, _state(code.files), inspected_ns)
    study, read = _execute(path)
    code = of_file(path, (*read, *data_of(path, study.files)))
    return _Executed(study, code, frozenset(read), _state(code.files), inspected_ns)


def _state(files: Iterable[Path]) -> State:
    """Return size, times of change and inode of each file."""

    def one(path: Path) -> tuple[Any, ...]:
        try:
            status = os.stat(path)
        except OSError:
            return (str(path), -1, 0, 0, 0)
        return (
            str(path),
            status.st_size,
            status.st_mtime_ns,
            max(status.st_mtime_ns, status.st_ctime_ns),
            status.st_ino,
        )

    return tuple(one(path) for path in sorted(files))


def _execute(path: Path) -> tuple[type[Study], set[Path]]:
    """Execute a file. Return its study, and the files of its folder that were read meanwhile."""
    with opened_below(path.parent) as opened:
        module = module_from(path, "causeway_study")
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    found = [v for v in dict.fromkeys(own) if issubclass(v, Study)]  # each study once, even if it has two names
    if len(found) != 1:
        raise UserError(f"{path} defines {len(found)} studies; it must define one subclass of causeway.Study")
    check_study(str(path), found[0])
    return found[0], {Path(one) for one in opened if is_user_file(one)}


def check_study(where: str, study: type[Study]) -> None:
    """Raise UserError if an attribute of a study has a type that commands and reports cannot use, or is misspelled.

    Args:
        where: The file or the name of the study, for the message.
        study: The class.
    """
    name = getattr(study, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
        raise UserError(f"{where}: the study's name is {name!r}; allowed: letters, digits, '_', '-' and '.'")
    if not isinstance(getattr(study, "title", None), str):
        raise UserError(f"{where}: the study's title is {getattr(study, 'title', None)!r}; allowed: text")
    if isinstance(study.files, str) or not all(isinstance(one, str) for one in study.files):
        raise UserError(f"{where}: the study's files are {study.files!r}; allowed: a list of names or patterns")
    for attribute, kind in (("headlines", Headline), ("plots", Plot)):
        values = getattr(study, attribute)
        if not isinstance(values, list | tuple) or not all(isinstance(one, kind) for one in values):
            raise UserError(f"{where}: the study's {attribute} are {values!r}; allowed: a list of {kind.__name__}")
    for headline in study.headlines:
        expression.parse(headline.scalar)
    check_members(study)
    sweeps = study.sweeps
    points = list(sweeps.values()) if isinstance(sweeps, Mapping) else [None]
    if not all(isinstance(some, list | tuple) and all(isinstance(one, Mapping) for one in some) for some in points):
        raise UserError(f"{where}: the study's sweeps are {sweeps!r}; allowed: names of lists of points, each a dict")


def all_studies() -> list[Study]:
    """Return the studies that ship with Causeway, in the order of `STUDIES`."""
    return [get(name) for name in STUDIES]
