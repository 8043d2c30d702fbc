"""The studies, by name. A new study is one file and one line here; your own may be any file: `causeway run my.py`."""

from __future__ import annotations

import importlib
import os
from functools import cache
from pathlib import Path

from causeway.bridge.errors import UserError, unknown
from causeway.studies.module import module_from
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
    found = [v for v in own if issubclass(v, Study)]
    if len(found) != 1:
        raise UserError(f"{path} defines {len(found)} studies; it must define one subclass of studies.study.Study")
    return found[0]


def all_studies() -> list[Study]:
    """Every study, in order of registration."""
    return [get(name) for name in STUDIES]
