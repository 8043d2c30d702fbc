"""The studies, by name. A new study is one file and one line here; your own may be any file: `causeway run my.py`."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from causeway.analysis.plots import Headline, Plot
from causeway.bridge.errors import UserError, unknown
from causeway.bridge.user_file import module_from
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


def get(name: str) -> Study:
    """The study of that name, or the one in the file of that name."""
    if name.endswith(".py"):
        return _from_file(Path(name))()
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    module, _, class_ = STUDIES[name].partition(":")
    return getattr(importlib.import_module(module), class_)()


def _from_file(path: Path) -> type[Study]:
    """The one Study class that a file defines. The file is executed once a process, unless it has been changed."""
    try:
        status = os.stat(path)
    except OSError:
        raise UserError(
            f"no file {path}; a study is a name (`causeway studies`) or a Python file that defines one"
        ) from None
    return _executed(path.resolve(), status.st_mtime_ns, status.st_size)


@cache
def _executed(path: Path, mtime_ns: int, size: int) -> type[Study]:
    module = module_from(path, "causeway_study")
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    found = [v for v in dict.fromkeys(own) if issubclass(v, Study)]  # one of them may have two names
    if len(found) != 1:
        raise UserError(f"{path} defines {len(found)} studies; it must define one subclass of studies.study.Study")
    _check(path, found[0])
    return found[0]


def _check(path: Path, study: type[Study]) -> None:
    """What a study says of itself must be what commands and reports read."""
    name = getattr(study, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
        raise UserError(f"{path}: the study's name is {name!r}; allowed: letters, digits, '_', '-' and '.'")
    if not isinstance(getattr(study, "title", None), str):
        raise UserError(f"{path}: the study's title is {getattr(study, 'title', None)!r}; allowed: text")
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
