"""The studies, by name. A new study is one file and one line here."""

from __future__ import annotations

import importlib

from bridge.errors import unknown
from studies.study import Study

STUDIES = {
    "hash": "studies.hash:HashStudy",
}
"""name -> module:class"""


def get(name: str) -> Study:
    """The study of that name."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    module, _, class_ = STUDIES[name].partition(":")
    return getattr(importlib.import_module(module), class_)()


def all_studies() -> list[Study]:
    """Every study, in order of registration."""
    return [get(name) for name in STUDIES]
