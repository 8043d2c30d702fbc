"""`causeway report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis import kinds, store
from causeway.bridge.errors import UserError
from causeway.cli.console import printable


def write_report(directory: Path, master: str | None, console: Console, own_kinds: Sequence[Path] = ()) -> None:
    """The report of a result folder, with the plots that the folder says its studies ask for."""
    from causeway.analysis import report

    for file in own_kinds:
        kinds.load(file)
    if not store.finished_runs(directory):
        raise UserError(f"{directory} holds no finished run; `causeway run STUDY --out {directory}` makes one")
    page = report.write(directory, master=master or "local[*]")
    console.print(Text(printable(f"report: {page}")), soft_wrap=True)
