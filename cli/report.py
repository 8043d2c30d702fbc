"""`causeway report`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from causeway.analysis import store
from causeway.bridge.errors import UserError
from causeway.cli.console import printable
from causeway.studies import registry


def write_report(directory: Path, master: str | None, console: Console) -> None:
    """The report of a result folder, with the plots that its studies ask for."""
    from causeway.analysis import report

    if not store.finished_runs(directory):
        raise UserError(f"{directory} holds no finished run; `causeway run STUDY --out {directory}` makes one")
    names = set(store.read_arrow(directory, "runs", ["study"])["study"].to_pylist())
    plots = [plot for name in registry.STUDIES if name in names for plot in registry.get(name).plots]
    page = report.write(directory, plots, master=master or "local[*]", pages=_moving_pictures(directory))
    console.print(Text(printable(f"report: {page}")), soft_wrap=True)


def _moving_pictures(directory: Path) -> list[tuple[str, str]]:
    """One animation for each point and engine that recorded where its hosts were: (title, file name)."""
    from causeway.analysis import animation

    pages = []
    for run in animation.runs_with_positions(directory):
        name = f"moving-{store.quote(run['run_id'])}.html"
        animation.write(directory, run["run_id"], directory / "report" / name)
        pages.append((f"{run['study']} on {run['engine']}, {run['run_id']}", name))
    return pages
