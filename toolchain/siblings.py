"""Import files from the folder of a user's file, as `python FILE.py` does.

Two files in two folders may both `import helpers`, so each has a `Home`. After `Home.enter`, `import` finds the files
of this folder, and modules that were imported from it before. The modules of the previous home leave `sys.modules`;
code that has imported them keeps them.

A changed file is always read again, because no bytecode of it is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from causeway.toolchain.sources import OWN, find_module


class FreshLoader(SourceFileLoader):
    """A loader that compiles the source at every import.

    Bytecode files compare modification times in seconds, which is too coarse.
    """

    def path_stats(self, path: str | bytes) -> Any:
        """Raise OSError, which makes importlib ignore bytecode."""
        raise OSError(f"no bytecode is kept of {path!r}")


class Home:
    """The folder of a file, and the modules that the file imported from there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: set[str] = set()
        self.modules: dict[str, ModuleType] = {}

    def enter(self) -> None:
        """Make this folder the one from which files can be imported."""
        global _entered
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)
        if _entered is self:
            return
        if _entered is not None:
            gone = {name: sys.modules.pop(name) for name in _entered.names if name in sys.modules}
            _entered.modules = gone
        sys.modules.update(self.modules)
        _entered = self


_entered: Home | None = None


class _Finder(MetaPathFinder):
    """A finder of modules in the folder of the home that was entered last."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module in the home's folder; None for all other modules."""
        top = name.partition(".")[0]
        if _entered is None or top in sys.stdlib_module_names or top == OWN:
            return None
        chain = dict(find_module(_entered.folder, name))
        if name in chain:
            _entered.names.add(name)
            return _spec(name, chain[name])
        return _folder(_entered, name)


def _spec(name: str, file: Path) -> ModuleSpec | None:
    below = [str(file.parent)] if file.stem == "__init__" else None
    if file.suffix == ".py":
        return spec_from_file_location(
            name, file, loader=FreshLoader(name, str(file)), submodule_search_locations=below
        )
    return spec_from_file_location(name, file, loader=ExtensionFileLoader(name, str(file)))


def _folder(home: Home, name: str) -> ModuleSpec | None:
    """Return the spec of a namespace package: a folder without `__init__.py`, if no other package has the name."""
    folder = home.folder.joinpath(*name.split("."))
    if not folder.is_dir() or (not name.count(".") and PathFinder.find_spec(name) is not None):
        return None
    home.names.add(name)
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    return spec


_FINDER = _Finder()
