"""The tables of docs/papers/dcs23.md: dynamic clocks beside fixed ones, and Figure 10."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from causeway.analysis.report.verdict import FEW, SEEDS
from causeway.studies import scores
from causeway.studies.dcs23.factors import COUNTED, DRAWS
from causeway.studies.dcs23.study import AUTHORS, DYNAMIC, FIXED, MATRIX_SHAPES, OWN_MEAN, PROGRAM, RANDOM, SHAPES
from causeway.studies.scores import Reading, Score, Tried
from causeway.studies.tables import Measured, NotRun, Table, lines, of_points, with_interval

UNTIL_S = tuple(range(10, 121, 10))
"""The ends of the intervals of 10 s in Figure 10."""
SCALARS = (
    "entries_mean", "entries_max", "deliveries", "missing", "duplicates", *COUNTED,
    "rounds", "rounds_refused", "rounds_remove", "removed", "control_packets", "control_bytes",
    *(f"violations_until_{until}s" for until in UNTIL_S),
)  # fmt: skip
LOADS: dict[str, tuple[dict[str, Any], dict[int, str]]] = {
    "bell": ({}, {0: "260 entries, 58 violations", OWN_MEAN: "", 260: "231 violations"}),
    "random": (RANDOM, {0: "97 entries, 45 violations", 97: "305 violations"}),
}
"""Maps a load to its parameters and, by entries (0: dynamic), to the numbers that the paper prints."""
SKEWED: dict[str, Any] = {"load": "skewed", "rate": 100, "components": 4, "duration_s": 120}


def figure7_9(measured: Measured) -> list[str]:
    """Compute sizes and violations under the bell and the random load (Figures 7 and 9)."""
    rows = []
    for load, (point, clocks) in LOADS.items():
        for entries, paper in clocks.items():
            runs = measured.at(**point, entries=entries)
            size = (
                f"{with_interval(runs.values('entries_mean'))} ({runs.mean('entries_max'):.0f})"
                if not entries
                else str(entries)
            )
            counted = (with_interval(runs.values(what)) for what in COUNTED)
            clock = f"fixed, {entries}" if entries else "dynamic"
            if not runs.rows:
                raise NotRun(f"the {load} load, {entries or 'dynamic'}")
            rows.append(("" if entries else load, clock, size, *counted, paper, str(len(runs.rows))))
    head = ("load", "clock", "entries, mean (max)", "violations", "messages violated anywhere", "paper", "seeds")
    return lines(head, rows)


def matrix(measured: Measured) -> list[str]:
    """Compute sizes, violations and factors for each shape of the load, draw of components and policy.

    The factor compares sums over seeds with a fixed clock of the paper's size under the same load.
    """
    rows = []
    for name, (shape, paper) in MATRIX_SHAPES.items():
        fixed = measured.at(**shape, entries=FIXED[paper])
        for draw in ("random", "id"):
            for policy in (*DYNAMIC, PROGRAM):
                point = {**shape, **policy, "components_draw": draw}
                runs = measured.at(**point)
                if runs.rows:
                    factor = _factor(runs, fixed, "violations") if fixed.rows else ""
                    rows.append((
                        name, draw, policy["policy"], with_interval(runs.values("entries_mean")),
                        with_interval(runs.values("violations")), with_interval(fixed.values("violations")), factor,
                        PAPER[paper], str(len(runs.rows)),
                    ))  # fmt: skip
    if not rows:
        raise NotRun("the sweep `matrix`")
    head = (
        "load", "components", "policy", "entries", "violations", "violations of a fixed clock", "factor", "paper",
        "seeds",
    )  # fmt: skip
    return lines(head, rows)


PAPER = {
    "bell": "260 entries, 58; a fixed clock of 260: 231; 4.0", "random": "97 entries, 45; a fixed clock of 97: 305; 6.8"
}  # fmt: skip
"""Maps a load of the paper to its numbers: entries and violations of the dynamic clock, violations of a fixed one, and
their ratio."""


def factors(measured: Measured) -> list[str]:
    """Compute the factors of Section V-B from sums over seeds.

    The bootstrap draws pairs: a dynamic and a fixed run with the same seed have the same messages.
    """
    rows = []
    for load, (point, clocks) in LOADS.items():
        for entries in list(clocks)[1:]:
            both = measured.at(**point, entries=0), measured.at(**point, entries=entries)
            rows.append((load, str(entries), *(_factor(*both, what) for what in COUNTED)))
    return lines(("load", "fixed clock", "factor, violations", "factor, messages violated"), rows)


def _factor(dynamic: Measured, fixed: Measured, what: str) -> str:
    ratio, low, high, seeds = _ratio(dynamic, fixed, what)
    return f"{ratio:.1f}, {FEW} ({seeds})" if seeds < SEEDS else f"{ratio:.1f} ({low:.1f} to {high:.1f}; {seeds} seeds)"


def _ratio(dynamic: Measured, fixed: Measured, what: str) -> tuple[float, float, float, int]:
    """Return a fixed clock's violations divided by a dynamic one's.

    The sums are over common seeds. The interval and the number of seeds follow.
    """
    few, many = ({row["seed"]: row[what] for row in one.rows} for one in (dynamic, fixed))
    both = np.array([(few[seed], many[seed]) for seed in sorted(set(few) & set(many))])
    if not len(both):
        raise NotRun("a dynamic and a fixed clock with the same seed")
    drawn = both[np.random.default_rng(0).integers(0, len(both), (DRAWS, len(both)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 1] / drawn[:, 0], [0.025, 0.975])
    return float(both[:, 1].sum() / both[:, 0].sum()), float(low), float(high), len(both)


def figure10(measured: Measured) -> list[str]:
    """Compute violations over time, with and without balancing."""
    if not measured.at(**SKEWED, balance_every_s=20.0).rows:
        raise NotRun("the sweep `figure10`")
    found = [
        ("balanced", measured.at(**SKEWED, balance_every_s=20.0)),
        ("not balanced", measured.at(**SKEWED, balance_every_s=0.0)),
    ]
    return _over_time(found)


def figure10_scripted(measured: Measured) -> list[str]:
    """Compute violations over time with the script of the authors' program."""
    point = {**AUTHORS, **SKEWED, "load": "constant", "balance": "scripted"}
    if not measured.at(**point).rows:
        raise NotRun("the sweep `figure10_scripted`")
    return _over_time([("scripted", measured.at(**point))])


def complexity(measured: Measured) -> list[str]:
    """Compute packets and bytes of a round by processes N and entries M of a component (Sections IV-D and IV-E)."""
    points = {
        f"N = {n:,}, M = {size}": {"processes": n, "duration_s": 30.0, "component_size": size}
        for n, size in ((125, 50), (250, 25), (250, 50), (250, 100), (500, 50), (1000, 50))
    }
    quantities = {
        "rounds": "rounds", "packets of a round": "control_packets/rounds",
        "packets of a round and process": "control_packets/rounds/processes",
        "bytes of a packet": "control_bytes/control_packets",
    }  # fmt: skip
    return of_points(measured, points, quantities, "N processes, M entries (bell of 30 s)")


def at_once(measured: Measured) -> list[str]:
    """Compute the savings if a Remove round removes all inactive components."""
    points = {"one component": {"remove_at_once": False}, "all inactive ones": {"remove_at_once": True}}
    names = ("rounds", "rounds_refused", "rounds_remove", "removed", "control_bytes", "violations")
    return of_points(measured, points, {name.replace("_", " "): name for name in names}, "a Remove round removes")


def _over_time(found: list[tuple[str, Measured]]) -> list[str]:
    rows = [
        (what, *(with_interval(runs.values(f"violations_until_{until}s")) for until in UNTIL_S)) for what, runs in found
    ]
    return lines(("until (s)", *map(str, UNTIL_S)), rows)


# ---- every printed number under three readings ----------------------------------------------------------------------

IMPOSSIBLE: dict[tuple[str, str, str], str] = {}
TRIED = (
    Tried("Section V-B", ("figure7", "figure9", "matrix", "program", "bell_stricter"), across=("entries",)),
    Tried("Figure 10", ("figure10", "figure10_scripted")),
)


def is_number(row: dict[str, Any]) -> bool:
    """Return whether a row stands for a printed number.

    The other rows are the same numbers under other loads, and the 200 entries of Section V-C, which its setting fixes.
    """
    fixed = row["parameters"]["load"] == "skewed" and row["scalar"] == "entries_mean"
    return row["parameters"]["load"] in ("bell", "random", "skewed") and not fixed


def is_fitted(row: dict[str, Any], point: dict[str, Any]) -> bool:
    """Return whether the peak of our random load was chosen by this number."""
    return point["load"] == "random" and row["scalar"] == "violations" and point.get("entries") == FIXED["random"]


def is_drawn(_point: dict[str, Any]) -> bool:
    """Return True: delays are drawn at all points."""
    return True


def _times_fewer(measured: Measured, row: dict[str, Any]) -> Score:
    """Compare the ratio of violations of a fixed and a dynamic clock under the same load with the paper's."""
    dynamic, fixed = measured.at(**row["parameters"]), measured.at(**_of_fixed(row["parameters"]))
    if not (dynamic.rows and fixed.rows):
        return Score("missing", "not run", math.nan)
    ratio, low, high, seeds = _ratio(dynamic, fixed, "violations")
    return scores.judge_mean(row, f"{ratio:.1f} ({low:.1f} to {high:.1f})", ratio, (low, high), seeds)


def _of_fixed(point: dict[str, Any]) -> dict[str, Any]:
    """Return the point of the fixed clock that belongs to a dynamic one."""
    only_dynamic = ("policy", "memory_s", "tick_ms", "components_draw", "target_error")
    return {name: value for name, value in point.items() if name not in only_dynamic} | {"entries": FIXED["random"]}


PAIRED = {"times fewer violations than a fixed clock of the same mean": _times_fewer}


def _text(point: dict[str, Any]) -> dict[str, Any]:
    return {**RANDOM, **point} if point["load"] == "random" else point


def _reading(bell: dict[str, Any], random: dict[str, Any]) -> Any:
    """Return a reading with these points for the two loads of Section V-B. Section V-C is unchanged."""

    def change(point: dict[str, Any]) -> dict[str, Any]:
        own = {"bell": bell, "random": random}.get(point["load"])
        if own is None:
            return point
        return _of_shape(own, point.get("entries", 0))

    return change


def _of_shape(shape: dict[str, Any], entries: int) -> dict[str, Any]:
    only_dynamic = ("policy", "memory_s", "tick_ms", "components_draw", "target_error")
    if entries:
        return {name: value for name, value in shape.items() if name not in only_dynamic} | {"entries": entries}
    return shape


THEIRS = {**DYNAMIC[1], "components_draw": "id"}
READINGS = (
    Reading("the printed text", _text),
    Reading(
        "the authors' program",
        _reading({**SHAPES["bells"], **THEIRS}, {**SHAPES["peaks"], **THEIRS}),
    ),
    Reading(
        "ours: our bell; their peaks and table",
        lambda point: _reading({}, {**SHAPES["peaks"], **THEIRS})(point) if point["load"] == "random" else point,
    ),
)
_HERE = sys.modules[__name__]

TABLES: dict[str, Table] = {
    "scores": scores.scores(_HERE), "tried": scores.tried(_HERE), "matrix": matrix, "figure7 figure9": figure7_9,
    "complexity": complexity, "at_once": at_once, "factors": factors, "figure10": figure10,
    "figure10_scripted": figure10_scripted,
}  # fmt: skip
