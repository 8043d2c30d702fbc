"""Runs the benches (all, or those named) and keeps their figures in build/bench.json."""

from __future__ import annotations

import importlib
import json
import platform
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from causeway.bridge.errors import RunError, UserError, unknown

HERE = Path(__file__).parent
OUT = HERE.parent / "build" / "bench.json"


def names() -> list[str]:
    """Every bench there is."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def main() -> None:
    """Figures of a bench that fails or cannot run here are its reason; the others go on."""
    wanted = sys.argv[1:] or names()
    for name in wanted:
        if name not in names():
            sys.exit(f"causeway: {unknown('bench', name, names())}")
    console = Console()
    figures = json.loads(OUT.read_text()) if OUT.exists() else {}
    OUT.parent.mkdir(exist_ok=True)
    for name in wanted:
        began = time.monotonic()
        console.rule(name)
        try:
            figures[name] = importlib.import_module(f"bench.bench_{name}").run()
        except (UserError, RunError) as error:
            figures[name] = {"not run": str(error)}
        figures[name] |= {"took_s": round(time.monotonic() - began, 1), "machine": platform.machine()}
        console.print(_table(figures[name]))
        OUT.write_text(json.dumps(figures, indent=2, default=str) + "\n")
    console.print(f"figures in {OUT.relative_to(HERE.parent)}")


def _table(figures: dict) -> Table:
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.4g}" if isinstance(value, float) else str(value))
    return table


if __name__ == "__main__":
    main()
