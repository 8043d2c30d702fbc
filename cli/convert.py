"""`causeway convert`: convert OMNeT++'s result files."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.cli.console import printable

_SHOWN = 100


def convert_files(
    paths: list[Path], out_dir: Path, keep_going: bool, master: str | None, clash: str, console: Console, err: Console
) -> int:
    """Convert OMNeT++ result files, with Spark if a master is named. Return the exit status."""
    from causeway.analysis.convert import convert
    from causeway.toolchain.first_compile import on_first_compile

    with on_first_compile(lambda: err.print("compiling the readers (once; about 20 s)", soft_wrap=True)):
        report = convert(paths, out_dir, keep_going, master, clash)
    for note in report.notes[:_SHOWN]:
        err.print(Text(printable(note), style="yellow"), soft_wrap=True)
    if len(report.notes) > _SHOWN:
        err.print(Text(f"... and {len(report.notes) - _SHOWN} more notes"), soft_wrap=True)
    for problem in report.problems:
        err.print(Text(printable(problem)), soft_wrap=True)
    console.print(Text(printable(report)), soft_wrap=True)
    return 1 if report.problem_count else 0
