"""`causeway compact`: merge the files of a result folder."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from causeway.analysis import compact
from causeway.analysis.remote import place
from causeway.errors import UserError


def compact_folder(directory: Path, console: Console) -> None:
    """Compact a result folder, and print the number of files before and after."""
    if not (place(directory) / "tables").is_dir():
        raise UserError(f"{directory} is not a result folder: it has no tables/")
    done = compact.compact(directory)
    console.print(f"{done.runs} runs, {done.files_before} files before, {done.files_after} now", highlight=False)
