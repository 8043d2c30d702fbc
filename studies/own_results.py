"""Add the statistics of modules of a user's own OMNeT++ project to the tables of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OURS: dict[str, dict[str, Any]] = {"vectors": {"unit": "", "columns": "TV"}, "samples": {"event": None}}
"""Values of our own rows in the columns that only OMNeT++ fills."""
WHOLE = ("attributes", "config", "pars", "statistics", "bins")
"""Tables that only OMNeT++ fills."""


def add_results(tables: dict[str, dict[str, Any]], folder: Path, name: str) -> None:
    """Add the contents of `folder`/`name`.sca and .vec.

    A file may be missing if the simulation recorded nothing in it.
    """
    from causeway.analysis.convert import pandas_tables

    files = [path for suffix in (".sca", ".vec") if (path := folder / f"{name}{suffix}").exists()]
    if not files:
        return
    external = pandas_tables(files)
    shift = max(tables["vectors"]["vector_id"], default=-1) + 1
    for table in ("vectors", "samples"):
        external[table]["vector_id"] += shift
    for table in ("scalars", "vectors", "samples", *WHOLE):
        _append(tables.setdefault(table, {}), external[table].drop(columns="run_id"), OURS.get(table, {}))


def _append(ours: dict[str, Any], external: Any, fill: dict[str, Any]) -> None:
    rows = max((len(column) for column in ours.values()), default=0)
    for name in external.columns:
        column = external[name].astype(object).where(external[name].notna(), None).tolist() if name == "event" else None
        more = external[name].tolist() if column is None else column
        ours[name] = [*ours.get(name, [fill.get(name)] * rows), *more]
