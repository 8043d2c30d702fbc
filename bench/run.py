"""Run the benches (all, or those named), report the figures that have become worse, and keep all figures."""

from __future__ import annotations

import importlib
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import history
from causeway.errors import RunError, UserError, unknown

HERE = Path(__file__).parent
OUT = HERE.parent / "build" / "bench.json"
HISTORY = HERE.parent / "build" / "bench-history.jsonl"


def names() -> list[str]:
    """Return the names of all benches."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def main() -> None:
    """Run the benches. If one fails or cannot run here, its result is the reason, and the others continue."""
    wanted = sys.argv[1:] or names()
    for name in wanted:
        if name not in names():
            sys.exit(f"causeway: {unknown('bench', name, names())}")
    console = Console()
    changes = [change for name in wanted for change in _one(name, console)]
    console.print(f"figures in {OUT.relative_to(HERE.parent)}, their history in {HISTORY.relative_to(HERE.parent)}")
    for change in changes:
        if change.worse:
            console.print(str(change), style="red", markup=False, highlight=False)


def _one(name: str, console: Console) -> list[history.Change]:
    """Run one bench, print its figures compared with the last ones, and keep them."""
    console.rule(name)
    began = time.monotonic()
    module: Any = importlib.import_module(f"bench.bench_{name}")
    try:
        figures = module.run()
    except (UserError, RunError) as error:
        figures = {"not run": str(error)}
    figures |= {"took_s": round(time.monotonic() - began, 1), "machine": platform.machine()}
    console.print(_table(figures))
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({**kept, name: figures}, indent=2, default=str) + "\n")
    machine = platform.node()
    before = history.earlier(HISTORY, name, machine)
    changes = history.compare(figures, before, getattr(module, "COMPARED", {}))
    if "not run" not in figures:
        history.remember(HISTORY, name, machine, figures)
    for change in changes:
        console.print(str(change), markup=False, highlight=False)
    return changes


def _table(figures: dict[str, Any]) -> Table:
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.4g}" if isinstance(value, float) else str(value))
    return table


if __name__ == "__main__":
    main()
