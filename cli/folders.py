"""Arguments and options of commands that are result folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def place(folder: Path | None) -> Path | None:
    """Return the folder, or the object store, that an argument names."""
    from causeway.analysis.remote import place

    return None if folder is None else place(folder)


OutDir = Annotated[Path, typer.Option("--out", help="Result folder.", callback=place)]
Folder = Annotated[Path, typer.Argument(help="A result folder.", callback=place)]
