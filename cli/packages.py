"""Write the graph of packages into docs/design.md: `python -m causeway.cli.packages`.

A package imports all packages that can be reached by arrows from it. An arrow that follows from others is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from causeway.toolchain.installation import SOURCES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "design.md"
MARKED = re.compile(r"(<!-- packages -->\n).*?(<!-- end -->)", re.DOTALL)


def packages() -> list[str]:
    """Return the top-level folders with Python code of the product."""
    links = (SOURCES / "causeway").iterdir()
    return sorted(path.name for path in links if path.is_symlink() and (path / "__init__.py").exists())


def imported_by(package: str) -> set[str]:
    """Return the other packages that a package imports anywhere in its files."""
    found: set[str] = set()
    for file in (SOURCES / package).rglob("*.py"):
        for name in _modules(ast.parse(file.read_text())):
            top, _, rest = name.partition(".")
            if top == "causeway" and rest:
                found.add(rest.partition(".")[0])
    return found & set(packages()) - {package}


def _modules(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the modules that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """Return for each package the packages that it imports."""
    return {package: frozenset(imported_by(package)) for package in packages()}


def below(package: str, path: tuple[str, ...] = ()) -> set[str]:
    """Return all packages that a package imports, directly or indirectly; refuse a cycle."""
    if package in path:
        raise ValueError(f"packages import each other: {' -> '.join((*path, package))}")
    return {one for direct in graph()[package] for one in {direct, *below(direct, (*path, package))}}


def arrows() -> list[tuple[str, str]]:
    """Return the imports that do not follow from other imports."""
    found = []
    for package in packages():
        direct = graph()[package]
        found += [(package, one) for one in sorted(direct) if not any(one in below(other) for other in direct - {one})]
    return found


def text() -> str:
    """Return the graph as a Mermaid diagram."""
    lines = [f"    {above} --> {under}" for above, under in arrows()]
    return "\n".join(["```mermaid", "graph LR", *lines, "```", ""])


def page() -> str:
    """Return docs/design.md with the current graph."""
    return MARKED.sub(lambda match: match[1] + text() + match[2], PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(page())
