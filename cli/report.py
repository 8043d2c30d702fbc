"""`causeway report`: write the report of a result folder, and print its path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis import kinds, store
from causeway.cli.console import printable
from causeway.errors import UserError


def write_report(
    directory: Path, master: str | None, console: Console, own_kinds: Sequence[Path] = (), formats: Sequence[str] = (),
    studies: Sequence[str] = (), most_s: float = 20.0,
) -> Path:  # fmt: skip
    """Write the report of a result folder: its studies' plots, and examples of wrong deliveries. Return its page.

    Args:
        directory: The result folder.
        master: The Spark master for the reductions.
        console: The console to print to.
        own_kinds: Files with the user's own plots or kinds of plots.
        formats: Formats for export.
        studies: Files of the user's own studies.
        most_s: The time limit for repeating a wrong run as an example.
    """
    from causeway.analysis import report
    from causeway.analysis.export.write import check
    from causeway.cli.examples import ViolationDrawer

    check(formats)
    plots = [plot for file in own_kinds for plot in kinds.load(file)]
    if isinstance(directory, Path) and directory.is_file():
        raise UserError(f"{directory} is a file; name a result folder, such as DIR of `causeway run STUDY --out DIR`")
    if not store.finished_runs(directory):
        raise UserError(f"{directory} contains no finished run; `causeway run STUDY --out {directory}` makes one")
    master = master or report.reduces_on(directory)
    look = ViolationDrawer(directory, studies, most_s, console)
    page = report.write(
        directory, master=master, formats=formats, plots=plots, look=look,
        say=lambda line: console.print(Text(printable(line)), soft_wrap=True),
    )  # fmt: skip
    how = f"reduced in Spark at {master}" if master else "reduced by pandas"
    console.print(Text(printable(f"report: {page} ({how})")), soft_wrap=True)
    if formats:
        console.print(Text(printable(f"for a paper: {page.parent / 'export'}")), soft_wrap=True)
    return page
