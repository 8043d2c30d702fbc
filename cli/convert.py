"""`causeway convert`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console


def convert_files(
    paths: list[Path], out_dir: Path, keep_going: bool, master: str | None, console: Console, err: Console
) -> int:
    """Converts OMNeT++ result files; the exit status."""
    from analysis.convert import convert

    report = convert(paths, out_dir, keep_going=keep_going, spark=master)
    console.print(str(report), highlight=False)
    for problem in report.problems:
        err.print(str(problem), highlight=False, soft_wrap=True)
    return 1 if report.problems else 0
