"""`causeway report`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from analysis import store
from bridge.errors import UserError
from studies import registry


def write_report(directory: Path, master: str | None, console: Console) -> None:
    """The report of a result folder, with the plots that its studies ask for."""
    from analysis import report

    if not store.finished_runs(directory):
        raise UserError(f"{directory} holds no finished run; `causeway run STUDY --out {directory}` makes one")
    names = set(store.read_arrow(directory, "runs", ["study"])["study"].to_pylist())
    plots = [plot for name in registry.STUDIES if name in names for plot in registry.get(name).plots]
    page = report.write(directory, plots, master=master or "local[*]")
    console.print(f"report: {page}", highlight=False)
