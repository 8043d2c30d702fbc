"""Find values of a user's own modules that a run changes.

    SEEN = []       # one list, for all nodes and all runs of this process

A run finds such values as the previous run in the process left them, so its numbers depend on earlier runs. A warning
names these values, except counters that no node reads, which a class of nodes names in `not_state`.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Sized
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from causeway.pycontrol.class_state import OF_A_CLASS, fingerprint

LARGE = 20_000
"""A value with more items is compared by its length alone, since comparing them would take longer than a short run."""


class ModuleValues:
    """The fingerprints of the values in the modules of a study, before a run."""

    def __init__(self, files: Iterable[Path], is_object: bool) -> None:
        """Take fingerprints of the modules of these files.

        If there are no files, and the study is an object, take those of the notebook.
        """
        self._before = {module: _fingerprints(module) for module in _modules(files, is_object)}

    def changes(self) -> list[str]:
        """Return a warning for each value that has changed."""
        return [
            f"{Path(module.__file__ or module.__name__).name}: {name} ({type(vars(module).get(name)).__name__}) was "
            "changed during the run, so that the next run in this process begins with it; keep it in the nodes (make "
            "it in on_start), or name it in not_state if no node reads it"
            for module, before in self._before.items()
            for name, value in _fingerprints(module).items()
            if before.get(name) != value
        ]


def _modules(files: Iterable[Path], is_object: bool) -> Iterator[ModuleType]:
    names = set(map(str, files))
    notebook = is_object and not names
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if (file and names and _real(file) in names) or (notebook and name == "__main__" and not file):
            yield module


@cache
def _real(file: str) -> str:
    return str(Path(file).resolve())


def _fingerprints(module: ModuleType) -> dict[str, Hashable]:
    values = dict(vars(module))
    counters = {name for kind in values.values() if isinstance(kind, type) for name in getattr(kind, "not_state", ())}
    return {
        name: _of(value)
        for name, value in values.items()
        if not name.startswith("__") and name not in counters and not isinstance(value, OF_A_CLASS)
    }


def _of(value: Any) -> Hashable:
    if isinstance(value, Sized) and not isinstance(value, str | bytes) and len(value) > LARGE:
        return type(value), len(value)
    return fingerprint(value)
