"""OMNeT++'s own result files of a run, as rows of the run's tables: what modules of somebody's project recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OURS: dict[str, dict[str, Any]] = {"vectors": {"unit": "", "columns": "TV"}, "samples": {"event": None}}
"""What our rows say in columns that only OMNeT++ fills."""
WHOLE = ("attributes", "config", "pars", "statistics", "bins")
"""Tables that only OMNeT++ fills."""


def add_results(tables: dict[str, dict[str, Any]], folder: Path, name: str) -> None:
    """Adds what is in `folder`/`name`.sca and .vec. A simulation that recorded nothing has left no file."""
    from causeway.analysis.convert import pandas_tables

    files = [path for suffix in (".sca", ".vec") if (path := folder / f"{name}{suffix}").exists()]
    if not files:
        return
    theirs = pandas_tables(files)
    shift = max(tables["vectors"]["vector_id"], default=-1) + 1
    for table in ("vectors", "samples"):
        theirs[table]["vector_id"] += shift
    for table in ("scalars", "vectors", "samples", *WHOLE):
        _append(tables.setdefault(table, {}), theirs[table].drop(columns="run_id"), OURS.get(table, {}))


def _append(ours: dict[str, Any], theirs: Any, fill: dict[str, Any]) -> None:
    rows = max((len(column) for column in ours.values()), default=0)
    for name in theirs.columns:
        column = theirs[name].astype(object).where(theirs[name].notna(), None).tolist() if name == "event" else None
        more = theirs[name].tolist() if column is None else column
        ours[name] = [*ours.get(name, [fill.get(name)] * rows), *more]
