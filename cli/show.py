"""`causeway studies`."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from causeway.studies import registry
from causeway.studies.study import Study


def show_studies(console: Console) -> None:
    """One table per study: parameters with defaults; below it the sweeps."""
    for study in registry.all_studies():
        console.print(_table(study))
        if study.sweeps:
            sweeps = ", ".join(f"{name} ({len(points)} points)" for name, points in study.sweeps.items())
            console.print(Text(f"  sweeps: {sweeps}"))
        console.print(Text(f"  engines: {', '.join(study.engines)}\n"))


def _table(study: Study) -> Table:
    table = Table(
        "parameter", "default", "type", "what", title=Text(f"{study.name}: {study.title}"), title_justify="left"
    )
    for name, field in study.Params.model_fields.items():
        type_ = getattr(field.annotation, "__name__", None)
        if type_ is None or type_ == "Literal":
            type_ = str(field.annotation).removeprefix("typing.Literal").strip("[]")
        table.add_row(*map(Text, (name, str(field.default), type_, field.description or "")))
    return table
