"""`causeway diff`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis import store
from causeway.bridge.errors import UserError
from causeway.cli.console import printable


def diff_folders(a: Path, b: Path, threshold: float, console: Console) -> int:
    """Prints how two result folders differ; the exit status for CI."""
    from causeway.analysis.diff import diff

    for folder in (a, b):
        if not store.finished_runs(folder):
            raise UserError(f"{folder} holds no finished run, so there is nothing to compare")
    result = diff(a, b, threshold)
    console.print(Text(printable(result)))
    return 0 if result.passed else 1
