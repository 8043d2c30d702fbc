"""`causeway tables`: write the tables of a paper's page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.cli.console import printable
from causeway.errors import UserError
from causeway.studies import registry


def write_tables(
    study: str, directories: Sequence[Path], page: Path, add: bool, by_version: bool, console: Console
) -> None:
    """Write the tables between the markers of a page, and the file with their numbers."""
    from causeway.studies import tables

    if not page.is_file():
        raise UserError(f"there is no page {page}; run this command at the top of a checkout, or add --page FILE.md")
    for reported in tables.update(registry.get(study), directories, page, add, by_version):
        console.print(Text(printable(reported)), soft_wrap=True)
