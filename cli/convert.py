"""`causeway convert`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console


def convert_files(
    paths: list[Path], out_dir: Path, keep_going: bool, master: str | None, console: Console, err: Console
) -> int:
    """Converts OMNeT++ result files; the exit status. Many or huge files go to Spark when a master is named."""
    from analysis.convert import convert

    session = None
    if master is not None:
        from analysis import spark

        session = spark.session(master)
    report = convert(paths, out_dir, keep_going, session)
    *problems, summary = report.lines()
    for problem in problems:
        err.print(problem, highlight=False, soft_wrap=True, markup=False)
    console.print(summary, highlight=False, soft_wrap=True)
    return 0 if report.ok else 1
