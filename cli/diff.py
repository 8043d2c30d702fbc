"""`causeway diff`: compare two result folders."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis import store
from causeway.cli.console import printable
from causeway.errors import UserError


def diff_folders(a: Path, b: Path, threshold: float, filter_text: str, vectors: bool, console: Console) -> int:
    """Print the differences of two result folders or baselines. Return the exit status, for use in CI."""
    from causeway.analysis.diff import diff

    for place in (a, b):
        _check(place)
    result = diff(a, b, threshold, filter=filter_text, vectors=vectors)
    console.print(Text(printable(result)))
    return 0 if result.passed else 1


def save_baseline(folder: Path, path: Path, vectors: bool, console: Console) -> None:
    """Save the quantities of a result folder for a later comparison."""
    from causeway.analysis.diff import save

    _check(folder)
    rows = save(folder, path, vectors=vectors)
    console.print(Text(printable(f"{path}: {rows} quantities; to compare: causeway diff {path} DIR")))


def _check(place: Path) -> None:
    if not place.is_file() and not store.finished_runs(place):
        raise UserError(f"{place} contains no finished run, so there is nothing to compare")
