"""The tables of docs/papers/dcs23.md: dynamic clocks beside fixed ones, and Figure 10."""

from __future__ import annotations

from typing import Any

import numpy as np

from causeway.studies.dcs23.factors import COUNTED, interval
from causeway.studies.dcs23.study import AUTHORS, OWN_MEAN, RANDOM
from causeway.studies.tables import Measured, Table, lines, short, with_interval

UNTIL_S = tuple(range(10, 121, 10))
"""Ends of the 10 s stretches of Figure 10."""
SCALARS = (
    "entries_mean", "entries_max", "deliveries", "missing", "duplicates", *COUNTED,
    *(f"violations_until_{until}s" for until in UNTIL_S),
)  # fmt: skip
LOADS: dict[str, tuple[dict[str, Any], dict[int, str]]] = {
    "bell": ({}, {0: "260 entries, 58 violations", OWN_MEAN: "", 260: "231 violations"}),
    "random": (RANDOM, {0: "97 entries, 45 violations", 97: "305 violations"}),
}
"""load -> its parameters, and by entries (0: dynamic) the numbers that the paper prints"""
SKEWED: dict[str, Any] = {"load": "skewed", "rate": 100, "components": 4, "duration_s": 120}


def figure7_9(measured: Measured) -> list[str]:
    """Compute sizes and violations under the bell and the random load (Figures 7 and 9)."""
    rows = []
    for load, (point, clocks) in LOADS.items():
        for entries, paper in clocks.items():
            runs = measured.at(**point, entries=entries)
            size = (
                f"{short(runs.mean('entries_mean'))} ({runs.mean('entries_max'):.0f})" if not entries else str(entries)
            )
            counted = (short(runs.mean(what)) for what in COUNTED)
            clock = f"fixed, {entries}" if entries else "dynamic"
            rows.append(("" if entries else load, clock, size, *counted, paper, str(len(runs.rows))))
    head = ("load", "clock", "entries, mean (max)", "violations", "messages violated anywhere", "paper", "seeds")
    return lines(head, rows)


def factors(measured: Measured) -> list[str]:
    """Compute the factors of Section V-B, of sums over seeds.

    The bootstrap draws pairs: a dynamic and a fixed run with the same seed have the same messages.
    """
    rows = []
    for load, (point, clocks) in LOADS.items():
        for entries in list(clocks)[1:]:
            rows.append((load, str(entries), *(_factor(measured, point, entries, what) for what in COUNTED)))
    return lines(("load", "fixed clock", "factor, violations", "factor, messages violated"), rows)


def _factor(measured: Measured, point: dict[str, Any], entries: int, what: str) -> str:
    few, many = ({row["seed"]: row[what] for row in measured.at(**point, entries=e).rows} for e in (0, entries))
    both = np.array([(few[seed], many[seed]) for seed in sorted(set(few) & set(many))])
    low, high = interval(both, lambda v: v[:, 1].sum() / v[:, 0].sum())
    return f"{both[:, 1].sum() / both[:, 0].sum():.1f} ({low:.1f} to {high:.1f}; {len(both)} seeds)"


def figure10(measured: Measured) -> list[str]:
    """Compute violations over time, with and without balancing."""
    found = [
        ("balanced", measured.at(**SKEWED, balance_every_s=20.0)),
        ("not balanced", measured.at(**SKEWED, balance_every_s=0.0)),
    ]
    return _over_time(found)


def figure10_scripted(measured: Measured) -> list[str]:
    """Compute violations over time with the script of the authors' program."""
    point = {**AUTHORS, **SKEWED, "load": "constant", "balance": "scripted"}
    return _over_time([("scripted", measured.at(**point))])


def _over_time(found: list[tuple[str, Measured]]) -> list[str]:
    rows = [
        (what, *(with_interval(runs.values(f"violations_until_{until}s")) for until in UNTIL_S)) for what, runs in found
    ]
    return lines(("until (s)", *map(str, UNTIL_S)), rows)


TABLES: dict[str, Table] = {
    "figure7 figure9": figure7_9, "factors": factors, "figure10": figure10, "figure10_scripted": figure10_scripted,
}  # fmt: skip
