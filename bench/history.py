"""Keep the figures of benchmarks on this machine, and find those that are now worse beyond their usual variation.

Only ratios within one run are compared (a bench lists them in COMPARED), since times depend on other work on the
machine. The history is a file with one JSON object per line, build/bench-history.jsonl.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

LEAST_NOISE = 0.05
"""The smallest relative change that counts as worse."""
FEW = 3
"""With fewer earlier figures than this, their spread is not known well enough, and UNKNOWN_NOISE replaces it."""
UNKNOWN_NOISE = 0.15


@dataclass(frozen=True)
class Change:
    """A compared figure, now and before."""

    name: str
    now: float
    before: float
    noise: float
    """The usual variation, as a share of the former figure."""
    worse_by: float
    """The change as a share of the former figure, positive if the figure is worse."""

    @property
    def worse(self) -> bool:
        """True if the change exceeds the usual variation."""
        return self.worse_by > self.noise

    def __str__(self) -> str:
        verdict = "WORSE" if self.worse else "better" if -self.worse_by > self.noise else "as before"
        return f"{self.name}: {self.before:.3g} -> {self.now:.3g} ({verdict}; varies by {self.noise:.0%})"


def earlier(path: Path, bench: str, machine: str) -> list[Mapping[str, float]]:
    """Return the earlier figures of this bench on this machine, oldest first."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines() if line]
    return [row["figures"] for row in rows if row["bench"] == bench and row["machine"] == machine]


def compare(now: Mapping[str, object], before: list[Mapping[str, float]], compared: Mapping[str, str]) -> list[Change]:
    """Compare every figure in `compared` that has earlier values.

    `compared` maps the name of a figure to 'lower' or 'higher', the better direction.
    """
    changes = []
    for name, better in compared.items():
        values = [row[name] for row in before if name in row]
        current = now.get(name)
        if not values or not isinstance(current, int | float):
            continue
        last = values[-1]
        noise = max(LEAST_NOISE, 2 * statistics.stdev(values) / statistics.mean(values)) if len(values) >= FEW else None
        share = (current - last) / last
        worse_by = share if better == "lower" else -share
        changes.append(Change(name, float(current), last, noise or UNKNOWN_NOISE, worse_by))
    return changes


def remember(path: Path, bench: str, machine: str, figures: Mapping[str, object]) -> None:
    """Append the figures to the history."""
    numbers = {name: value for name, value in figures.items() if isinstance(value, int | float)}
    when = datetime.now(UTC).isoformat(timespec="seconds")
    row = {"bench": bench, "machine": machine, "when": when, "commit": _commit(), "figures": numbers}
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as table:
        table.write(json.dumps(row) + "\n")


def _commit() -> str:
    reported = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return reported.stdout.strip()
