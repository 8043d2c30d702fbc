"""The tables of docs/papers/hash.md: Tables 1 and 2 in both readings, Figure 1."""

from __future__ import annotations

from typing import Any

from causeway.studies.hash.study import AUTHORS, LIMITS, PROCESSES, SEARCH
from causeway.studies.tables import Measured, Table, lines, percent, short, with_interval

PRINTED = {"none": 507, "mostefaoui": 502, "hash": 0}
"""Table 1: messages delivered out of causal order."""
SCALARS = (
    "messages", "deliveries", "requests", "missing", "duplicates", "violations", "messages_violated",
    "violations_undetected", "messages_violated_undetected", "direct_violations", "direct_violations_undetected",
)  # fmt: skip
PER_10000 = "requests*10000/deliveries"
"""Requests for 10,000 messages and a process: every process delivers a message once, its sender included."""
RATES = (20, 40, 60, 80, 100)


def table1(measured: Measured) -> list[str]:
    """Compute Table 1 with staggered senders.

    The column without a detector is from the runs with Mostefaoui's, which only flags deliveries and changes none.
    """
    runs = measured.at(**AUTHORS, entries=4, detector="mostefaoui")

    def cell(scalar: str, paper: int = 0) -> str:
        values = runs.values(scalar)
        off = f" ({percent(runs.mean(scalar) / paper)}; seeds {min(values):.0f} to {max(values):.0f})" if paper else ""
        return with_interval(values, lambda value: f"{value:.0f}") + off

    rows = [
        ("messages violated anywhere", cell("messages_violated", PRINTED["none"]),
         cell("messages_violated_undetected", PRINTED["mostefaoui"])),
        ("deliveries, exact (the checker)", cell("violations"), cell("violations_undetected")),
        ("deliveries, as the authors' program counts", cell("direct_violations"), cell("direct_violations_undetected")),
    ]  # fmt: skip
    head = (
        f"{len(runs.rows)} seeds, 95 % intervals",
        "no detector (paper: 507)",
        "Mostefaoui, not detected (paper: 502)",
    )
    return lines(head, rows)


def table1_exponential(measured: Measured) -> list[str]:
    """Compute Table 1 with exponential intervals."""
    looks, hashes = measured.at(detector="mostefaoui"), measured.at(detector="hash")
    left = "_undetected"
    rows = [
        (name, str(PRINTED[detector]), with_interval(runs.values("messages_violated" + suffix)),
         with_interval(runs.values("violations" + suffix)))
        for name, detector, runs, suffix in (
            ("no detector", "none", looks, ""), ("Mostefaoui, not detected", "mostefaoui", looks, left),
            ("hash", "hash", hashes, left),
        )
    ]  # fmt: skip
    return lines((f"{len(looks.rows)} seeds, 95 % intervals", "published", "messages", "deliveries"), rows)


def table2(measured: Measured) -> list[str]:
    """Compute Table 2, requests for 10,000 messages and a process."""

    def row(what: str, **point: Any) -> list[str]:
        runs = [measured.at(rate=110, detector="hash", messages=5000, processes=n, **point) for n in PROCESSES]
        return [
            what,
            *(f"{with_interval(one.values(PER_10000))} ({len(one.rows)})" if one.rows else "–" for one in runs),
        ]

    rows = [row(f"staggered, `hash_limit={limit}`", **AUTHORS, hash_limit=limit) for limit in LIMITS]
    rows = [row for row in rows if any(cell != "–" for cell in row[1:])]
    rows.append(row("the authors' search", **AUTHORS, **SEARCH))
    rows.append(row("exponential"))
    return lines(("processes (runs in brackets)", *(f"{n:,}" for n in PROCESSES)), rows)


def figure1(measured: Measured) -> list[str]:
    """Compute Figure 1, requests by load and size of the clock."""
    rows = []
    for clock in (20, 25, 50):
        runs = [measured.at(clock_size=clock, rate=rate, detector="hash", messages=2500) for rate in RATES]
        cells = [f"{short(one.mean(PER_10000))} ({len(one.rows)})" if one.rows else "–" for one in runs]
        rows.append((f"clock of {clock}, 1e-4", *cells))
    return lines(("messages/s (runs in brackets)", *map(str, RATES)), rows)


TABLES: dict[str, Table] = {
    "table1": table1, "table1_exponential": table1_exponential, "table2": table2, "figure1": figure1,
}  # fmt: skip
