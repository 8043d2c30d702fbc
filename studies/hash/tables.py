"""The tables of docs/papers/hash.md: Tables 1 and 2 in both readings, Figure 1."""

from __future__ import annotations

import sys
from typing import Any

from causeway.studies import scores
from causeway.studies.hash.study import AUTHORS, LIMITS, PROCESSES, SEARCH, TESTED_ONCE
from causeway.studies.hash.study import READINGS as POINTS
from causeway.studies.scores import Reading, Tried
from causeway.studies.tables import Measured, NotRun, Table, lines, percent, with_interval

PRINTED = {"none": 507, "mostefaoui": 502, "hash": 0}
"""Table 1: messages delivered out of causal order."""
SCALARS = (
    "messages", "deliveries", "requests", "missing", "duplicates", "violations", "messages_violated",
    "violations_undetected", "messages_violated_undetected", "direct_violations", "direct_violations_undetected",
)  # fmt: skip
PER_10000 = "requests*10000/deliveries"
"""Requests for 10,000 messages and a process. Every process delivers a message once, its sender included."""
RATES = (20, 40, 60, 80, 100)


def table1(measured: Measured) -> list[str]:
    """Compute Table 1 with staggered senders.

    The column without a detector is computed from runs with Mostefaoui's, which only flags deliveries and changes none.
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
    wider = measured.at(**AUTHORS, entries=4, detector="mostefaoui", delay_sd_ms=30.0)
    if wider.rows:
        none, mostefaoui = (with_interval(wider.values(f"messages_violated{end}")) for end in ("", "_undetected"))
        words = f"messages violated anywhere, with a deviation of the delay of 30 ms ({len(wider.rows)} seeds)"
        rows.append((words, none, mostefaoui))
    head = (
        f"{len(runs.rows)} seeds, 95 % intervals",
        "no detector (paper: 507)",
        "Mostefaoui, not detected (paper: 502)",
    )
    return lines(head, rows)


def table1_exponential(measured: Measured) -> list[str]:
    """Compute Table 1 with exponential intervals."""
    looks, hashes = measured.at(detector="mostefaoui"), measured.at(detector="hash")
    if not looks.rows:
        raise NotRun("the sweep `table1_exponential`")
    left = "_undetected"
    rows = [
        (name, str(PRINTED[detector]), with_interval(runs.values("messages_violated" + suffix)),
         with_interval(runs.values("violations" + suffix)))
        for name, detector, runs, suffix in (
            ("no detector", "none", looks, ""), ("Mostefaoui, not detected", "mostefaoui", looks, left),
            ("hash", "hash", hashes, left),
        ) if runs.rows
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
    for sd in (20.0, 30.0):
        program = {**AUTHORS, **SEARCH, "entries": 4, "delay_sd_ms": sd}
        rows.append(row(f"the same with four entries, deviation {sd:g} ms", **program))
    rows.append(row("exponential"))
    if all(cell == "–" for row in rows for cell in row[1:]):
        raise NotRun("the sweep `table2`, or one like it")
    return lines(("processes (runs in brackets)", *(f"{n:,}" for n in PROCESSES)), rows)


def figure1(measured: Measured) -> list[str]:
    """Compute Figure 1, requests by load and size of the clock."""
    rows = []
    for clock in (20, 25, 50):
        runs = [measured.at(clock_size=clock, rate=rate, detector="hash", messages=2500) for rate in RATES]
        cells = [f"{with_interval(one.values(PER_10000))} ({len(one.rows)})" if one.rows else "–" for one in runs]
        rows.append((f"clock of {clock} entries", *cells))
    if all(cell == "–" for row in rows for cell in row[1:]):
        raise NotRun("the sweep `figure1`")
    return lines(("messages/s (runs in brackets)", *map(str, RATES)), rows)


def readings(measured: Measured) -> list[str]:
    """Compute Table 1's number under other readings, from 20,000 messages, scaled to 100,000 messages."""
    rows = []
    for point in POINTS:
        runs = measured.at(**{"detector": "mostefaoui", "messages": 20_000, **point})
        found = [with_interval(runs.values(f"{what}*5")) for what in ("messages_violated", "violations")]
        if runs.rows:
            ratio = f"{runs.mean('messages_violated') * 5 / PRINTED['none']:.2g}"
            rows.append((_words(point), *found, ratio, str(len(runs.rows))))
    if not rows:
        raise NotRun("the sweep `readings`")
    return lines(("reading", "messages", "deliveries", f"messages / {PRINTED['none']}", "seeds"), rows)


def tested_once(measured: Measured) -> list[str]:
    """Compute the effect of testing a suspected message again."""
    rows = []
    for point in TESTED_ONCE:
        both = [measured.at(**{"detector": "hash", **point, "retest": again}) for again in (False, True)]
        if both[0].rows:
            cells = (f"{with_interval(one.values(PER_10000))} ({len(one.rows)})" if one.rows else "–" for one in both)
            rows.append((_words(point), *cells))
    if not rows:
        raise NotRun("the sweep `tested_once`")
    return lines(("requests for 10,000 messages and a process (runs)", "tested once, as printed", "tested again"), rows)


def _words(point: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in point.items())


# ---- every printed number under three readings ----------------------------------------------------------------------

IMPOSSIBLE: dict[tuple[str, str, str], str] = {}
PAIRED: dict[str, Any] = {}
TRIED = (
    Tried("Table 1", ("readings", "table1", "table1_exponential", "table1_sd30"), across=("detector", "messages")),
    Tried("Table 2", ("table2", "table2_exponential", "table2_near", "table2_program", "table2_near_readings"),
          across=("processes",)),
)  # fmt: skip


def is_number(row: dict[str, Any]) -> bool:
    """Return whether a row stands for a printed number. The other rows are the same numbers under other readings."""
    return row["where"] in ("Table 1", "Table 2 (limit 200)") and "authors' program" not in row["quantity"]


def is_fitted(_row: dict[str, Any], _point: dict[str, Any]) -> bool:
    """Return False, since no parameter was chosen by a number."""
    return False


def is_drawn(_point: dict[str, Any]) -> bool:
    """Return True, since delays are drawn at all points."""
    return True


def _text(point: dict[str, Any]) -> dict[str, Any]:
    own = {"intervals": "exponential", "entries_draw": "random", "entries": 2, "hash_limit": 1000}
    return _seen({**point, **own, "retest": point["detector"] != "hash"})


def _program(point: dict[str, Any]) -> dict[str, Any]:
    search = SEARCH if point["detector"] == "hash" else {}
    return _seen({**point, **AUTHORS, **search, "entries": 4, "delay_sd_ms": 30.0})


def _ours(point: dict[str, Any]) -> dict[str, Any]:
    if point["processes"] == TABLE1_PROCESSES:
        return _seen({**point, **AUTHORS, "entries": 4})
    return {**point, "intervals": "exponential", "entries_draw": "random", "entries": 2, "hash_limit": 1000}


def _seen(point: dict[str, Any]) -> dict[str, Any]:
    """Return the point with Mostefaoui's detector instead of none, since it only flags deliveries and changes none."""
    return {**point, "detector": "mostefaoui"} if point["detector"] == "none" else point


TABLE1_PROCESSES = 200
READINGS = (
    Reading("the printed text", _text),
    Reading("the authors' program", _program),
    Reading("ours: Table 1 in turn; Table 2 exponential", _ours),
)
_HERE = sys.modules[__name__]

TABLES: dict[str, Table] = {
    "scores": scores.scores(_HERE), "tried": scores.tried(_HERE), "table1": table1,
    "table1_exponential": table1_exponential, "readings": readings, "table2": table2, "figure1": figure1,
    "tested_once": tested_once,
}  # fmt: skip
