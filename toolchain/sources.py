"""Find the sources of a Python file: the modules that it imports, transitively.

Nothing is executed. `imported(path)` reads import statements, also those inside functions, and follows them

- into the folder of the file and into folders of `sys.path` without installed packages: these files are listed;
- to modules of Causeway, which are named (`own_files` follows them further);
- to installed packages, whose top-level names are listed.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from causeway.errors import UserError
from causeway.toolchain.installation import SOURCES

OWN = "causeway"
APART = tuple(
    f"{OWN}.{name}" for name in ("analysis", "cli", "explore", "errors", "deprecated", "signatures", "cache_folder")
)
"""Modules that do not influence the numbers of a run: they read results, or raise errors and warnings. The paths of the
last four differ between a wheel and a checkout."""
_SUFFIXES = (".py", *EXTENSION_SUFFIXES)


@dataclass
class Imported:
    """The imports of a file."""

    files: dict[Path, None] = field(default_factory=dict)
    """The file itself and all files that it imports, in the order in which they were found."""
    siblings: dict[str, Path] = field(default_factory=dict)
    """Maps the name of a module in the file's own folder to its file."""
    own: set[str] = field(default_factory=set)
    """Modules and public names of Causeway, dotted."""
    packages: set[str] = field(default_factory=set)
    """Top-level names of installed packages."""


def imported(path: Path) -> Imported:
    """Return the imports of a file, transitively."""
    found = Imported()
    todo: list[tuple[Path, Path, str]] = [(path, path.parent, "")]
    while todo:
        file, root, package = todo.pop()
        if file in found.files:
            continue
        found.files[file] = None
        if file.suffix != ".py":
            continue
        for name in _names(file, package):
            top = name.partition(".")[0]
            if top in sys.stdlib_module_names:
                continue
            if top == OWN:
                found.own.add(name)
                continue
            here, chain = _located(name, root)
            if not chain:
                found.packages.add(top)
            for dotted, one in chain:
                if here == path.parent:
                    found.siblings[dotted] = one
                todo.append((one, here, dotted if one.stem == "__init__" else dotted.rpartition(".")[0]))
    return found


def find_module(root: Path, name: str) -> list[tuple[str, Path]]:
    """Return (dotted name, file) of a module below a folder, and of the packages around it; [] if it does not exist."""
    chain: list[tuple[str, Path]] = []
    folder, parts = root, name.split(".")
    for depth, part in enumerate(parts, 1):
        dotted = ".".join(parts[:depth])
        if (init := folder / part / "__init__.py").is_file():
            chain.append((dotted, init))
        elif file := next((one for end in _SUFFIXES if (one := folder / f"{part}{end}").is_file()), None):
            return [*chain, (dotted, file)]
        elif not (folder / part).is_dir():
            break  # the last part is a name in a module and not a module
        folder = folder / part
    return chain


def _located(name: str, root: Path) -> tuple[Path, list[tuple[str, Path]]]:
    """Return the folder in which a module is found, and its files. The folder of the importing file comes first."""
    for folder in (root, *_open_folders()):
        if chain := find_module(folder, name):
            return folder, chain
    return root, []


def _open_folders() -> Iterator[Path]:
    """Yield the folders of `sys.path` whose contents may be edited, not those of Python and installed packages."""
    closed = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    for entry in dict.fromkeys(sys.path):
        folder = Path(entry or ".").resolve()
        if any(folder == one or folder.is_relative_to(one) for one in closed) or any(folder.glob("*.dist-info")):
            continue  # `pip install --target` writes a .dist-info
        if folder.is_dir():
            yield folder


def _names(file: Path, package: str) -> Iterator[str]:
    """Yield the dotted names that a file may import: of `from a import b` both `a` and `a.b`."""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError):
        return  # reported when the file is executed
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (f"{OWN}.*" if alias.name == OWN else alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                around = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join(filter(None, (*around, node.module)))
            else:
                base = node.module or ""
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(name := node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(name.value, str):
                yield name.value


def check_siblings(found: Imported, path: Path) -> None:
    """Refuse a file beside `path` that would not be imported, because another module with its name is loaded."""
    for name, file in found.siblings.items():
        loaded = sys.modules.get(name)
        where = getattr(loaded, "__file__", None) if loaded is not None else None
        if where and Path(where).resolve() != file.resolve():
            raise UserError(
                f"{path} imports {name}, but there are two: {file} beside it, and {where}, which is already loaded; "
                f"rename yours"
            )


# ---- Causeway's own ------------------------------------------------------------------------------------------------


def own_files(names: frozenset[str], core: frozenset[Path]) -> set[Path]:
    """Return the files of Causeway behind these names, and the files that they import, except those in `core`."""
    files: set[Path] = set()
    todo = list(names)
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen or name.startswith(APART):
            continue
        seen.add(name)
        todo += _of_public_name(name)
        for dotted, file in find_module(SOURCES, name.partition(".")[2]) if "." in name else ():
            if file not in core and file not in files:
                files.add(file)
                package = f"{OWN}.{dotted}"
                around = package if file.stem == "__init__" else package.rpartition(".")[0]
                todo += [one for one in _names(file, around) if one.partition(".")[0] == OWN]
    return files


def _of_public_name(name: str) -> list[str]:
    """Return the modules behind a public name (`causeway.Node`); for `causeway` and `causeway.*`, all."""
    public = _public_names()
    if name == f"{OWN}.*" or name == f"{OWN}.api":
        return list(public.values())
    return [public[name]] if name in public else []


@cache
def _public_names() -> dict[str, str]:
    """Return a map from public names to module.name, from the imports of `causeway.api`."""
    spec = find_spec(f"{OWN}.api")  # not by the path of the package, which may be in a zip on a worker
    assert spec is not None and spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_bytes())
    return {
        f"{OWN}.{alias.asname or alias.name}": f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
