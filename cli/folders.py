"""Arguments and options of commands that name result folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from causeway.errors import UserError


def place(folder: Path | None) -> Path | None:
    """Return the folder or the object store that an argument names."""
    from causeway.analysis.remote import place

    return None if folder is None else place(folder)


def named(folder: str | Path) -> Path:
    """Refuse an empty name of a folder, which may come from an unset variable of a shell script."""
    if not str(folder):  # Path("") would be the current folder
        raise UserError("the result folder has no name; write . for the current folder")
    return Path(folder)


OutDir = Annotated[Path, typer.Option("--out", help="Result folder.", parser=named, metavar="PATH", callback=place)]
Folder = Annotated[Path, typer.Argument(help="A result folder.", callback=place)]
