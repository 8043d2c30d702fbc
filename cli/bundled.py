"""`causeway examples`: the examples that come with this installation."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from causeway.errors import UserError
from causeway.toolchain.installation import SOURCES

EXAMPLES = SOURCES / "examples"
"""The folder of the examples, in a checkout and in a wheel."""


def show_or_copy(names: list[str], into: Path, console: Console) -> None:
    """List the examples, or copy those with these names and the files that they read.

    The name "all" copies every example.
    """
    if not EXAMPLES.is_dir():
        raise UserError(f"this installation has no examples (there is no {EXAMPLES}); install the wheel again")
    if not names:
        _list(console)
        return
    for path in list(_chosen(names)):
        target = into / path.relative_to(EXAMPLES)
        if target.exists() and target.read_bytes() != path.read_bytes():
            raise UserError(f"{target} exists already with another content; choose another folder: --into DIR")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        console.print(str(target), highlight=False, markup=False, soft_wrap=True)


def _list(console: Console) -> None:
    found = {path.relative_to(EXAMPLES).with_suffix("").as_posix(): path for path in _files() if path.suffix == ".py"}
    wide = max(map(len, found))
    for name, path in found.items():
        console.print(f"{name:<{wide}}  {_first_line(path)}", highlight=False, markup=False, soft_wrap=True)
    console.print(
        "\n`causeway examples NAME` copies an example into this folder, `causeway examples all` copies all of them"
    )


def _files() -> Iterator[Path]:
    yield from sorted(path for path in EXAMPLES.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _chosen(names: list[str]) -> Iterator[Path]:
    """Yield the files of these examples: NAME.py, the files beside it with its name, and files that it reads."""
    for name in names:
        wanted = name.removesuffix(".py")
        some = [path for path in _files() if wanted == "all" or _belongs(path, wanted)]
        if not some:
            raise UserError(f"there is no example '{name}'; `causeway examples` lists them")
        yield from some


def _belongs(path: Path, name: str) -> bool:
    """Return whether a file belongs to an example: its name, or a mention of it or of its folder, says so."""
    own = path.relative_to(EXAMPLES)
    if own.with_suffix("").as_posix() == name or own.parent.as_posix() == name:
        return True
    source = EXAMPLES / f"{name}.py"
    if path.suffix == ".py" or not source.is_file():
        return False
    text = source.read_text(encoding="utf-8")
    return any(f'"{part}"' in text for part in own.parts)


def _first_line(path: Path) -> str:
    """Return the first line of a file's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    return docstring.partition("\n")[0].removesuffix(":")
