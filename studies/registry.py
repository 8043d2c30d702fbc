"""The studies, by name. A new study is one file and one line here; your own may be any file: `causeway run my.py`."""

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
from causeway.bridge.errors import UserError, unknown
from causeway.bridge.opened import opened_below
from causeway.bridge.user_file import enter_home_of, is_users_own, module_from
from causeway.studies.identity import StudyCode, data_of, of_file, of_shipped
from causeway.studies.study import Study

STUDIES = {
    "hash": "causeway.studies.hash.study:HashStudy",
    "dcs23": "causeway.studies.dcs23.study:Dcs23Study",
    "ladc18": "causeway.studies.ladc18.study:Ladc18Study",
    "icpp18": "causeway.studies.icpp18.study:Icpp18Study",
    "mobile20": "causeway.studies.mobile20.study:Mobile20Study",
}
"""name -> module:class"""

PUBLISHED = Path(__file__).resolve().parent
"""The folder below which the published numbers of all studies are."""


@dataclass(frozen=True)
class Resolved:
    """A study and the code that it is."""

    study: Study
    code: StudyCode


def get(name: str) -> Study:
    """Return the study of that name, or the one in the file of that name."""
    return resolve(name).study


def resolve(name: str) -> Resolved:
    """Return the study of a name or in a file, with the digest of its code."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    module_name, _, class_ = STUDIES[name].partition(":")
    module = importlib.import_module(module_name)
    return Resolved(getattr(module, class_)(), of_shipped(Path(str(module.__file__))))


@dataclass
class _Executed:
    """A file that was executed, as it was then."""

    study: type[Study]
    code: StudyCode
    read: frozenset[Path]
    """What the file read from its folder as it was executed."""
    state: State
    looked_ns: int


_EXECUTED: dict[Path, _Executed] = {}
State = tuple[tuple[Any, ...], ...]
_SURE_NS = 2_000_000_000
"""A time of change that is older than this when files are looked at hides no second change."""


def _from_file(path: Path) -> Resolved:
    """Return the one Study class that a file defines. The file is executed once a process, unless it, or what it
    imports or reads from its folder, has been changed."""
    path = _there(path).resolve()
    known = _EXECUTED.get(path)
    if known is None or not _is_as_before(known):
        known = _EXECUTED[path] = _look_again(path, known)
    enter_home_of(known.study)
    return Resolved(known.study(), known.code)


def _there(path: Path) -> Path:
    if not path.is_file():
        raise UserError(f"no file {path}; a study is a name (`causeway studies`) or a Python file that defines one")
    return path


def _is_as_before(known: _Executed) -> bool:
    """Whether no file was touched. Content tells, where a clock is too coarse to."""
    state = _state(known.code.files)
    return state == known.state and all(known.looked_ns - changed > _SURE_NS for _, _, _, changed, _ in state)


def _look_again(path: Path, known: _Executed | None) -> _Executed:
    """Execute the file, unless all that it is made of has the contents it had."""
    looked_ns = time.time_ns()
    if known is not None and all(one.is_file() for one in known.code.files):
        code = of_file(path, (*known.read, *data_of(path, known.study.files)))
        if code == known.code:
            code.read.update(known.code.read)
            return _Executed(known.study, code, known.read, _state(code.files), looked_ns)
    study, read = _executed(path)
    code = of_file(path, (*read, *data_of(path, study.files)))
    return _Executed(study, code, frozenset(read), _state(code.files), looked_ns)


def _state(files: Iterable[Path]) -> State:
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


def _executed(path: Path) -> tuple[type[Study], set[Path]]:
    """Execute the file: its study, and the files of its folder that it read meanwhile."""
    with opened_below(path.parent) as opened:
        module = module_from(path, "causeway_study")
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    found = [v for v in dict.fromkeys(own) if issubclass(v, Study)]  # one of them may have two names
    if len(found) != 1:
        raise UserError(f"{path} defines {len(found)} studies; it must define one subclass of studies.study.Study")
    _check(path, found[0])
    return found[0], {Path(one) for one in opened if is_users_own(one)}


def _check(path: Path, study: type[Study]) -> None:
    """What a study says of itself must be what commands and reports read."""
    name = getattr(study, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
        raise UserError(f"{path}: the study's name is {name!r}; allowed: letters, digits, '_', '-' and '.'")
    if not isinstance(getattr(study, "title", None), str):
        raise UserError(f"{path}: the study's title is {getattr(study, 'title', None)!r}; allowed: text")
    if isinstance(study.files, str) or not all(isinstance(one, str) for one in study.files):
        raise UserError(f"{path}: the study's files are {study.files!r}; allowed: a list of names or patterns")
    for what, kind in (("headlines", Headline), ("plots", Plot)):
        given = getattr(study, what)
        if not isinstance(given, list | tuple) or not all(isinstance(one, kind) for one in given):
            raise UserError(f"{path}: the study's {what} are {given!r}; allowed: a list of {kind.__name__}")
    sweeps = study.sweeps
    points = list(sweeps.values()) if isinstance(sweeps, Mapping) else [None]
    if not all(isinstance(some, list | tuple) and all(isinstance(one, Mapping) for one in some) for some in points):
        raise UserError(f"{path}: the study's sweeps are {sweeps!r}; allowed: names of lists of points, each a dict")


def all_studies() -> list[Study]:
    """Every study, in order of registration."""
    return [get(name) for name in STUDIES]
