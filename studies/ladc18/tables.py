"""The tables of docs/papers/ladc18.md."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from scipy.stats import f as f_distribution

from causeway.analysis import published
from causeway.analysis.reduce import arithmetic
from causeway.pycontrol.protocols.vcube.tree import dimension
from causeway.studies import scores
from causeway.studies.ladc18.study import CRASH_LIMITS, FITTED_SIZES, SCENARIOS, SIZES
from causeway.studies.scores import Reading, Score, Tried
from causeway.studies.tables import Measured, NotRun, Table, beside, lines, number, short

SCALARS = (
    "packets", "latency", "violations", "unfinished", "detected", "tests", "tree_messages", "ack_messages",
)  # fmt: skip
DECIMALS = {"packets": 0, "latency": 1}
"""The number of decimals that the paper prints."""


class Cell(NamedTuple):
    """A number that the paper prints, with our runs of the same point."""

    parameters: dict[str, Any]
    paper: float
    half: float
    """Half the width of the paper's interval; 0 if it prints none."""
    ours: Measured
    scalar: str

    @property
    def off(self) -> float:
        """Return the deviation from the paper in percent."""
        return 100 * (self.ours.mean(self.scalar) / self.paper - 1)

    @property
    def is_exact(self) -> bool:
        """Return whether both numbers are equal in the digits that the paper prints."""
        decimals = DECIMALS[self.scalar]
        return number(self.ours.mean(self.scalar), decimals) == number(self.paper, decimals)


def _cells(measured: Measured, where: str, scalar: str) -> list[Cell]:
    path = measured.study.published_file()
    assert path is not None
    found = []
    for row in published.read(path):
        if row["where"] == where and row["scalar"] == scalar:
            half = re.search(r"interval: ([\d.]+) either side", row["note"])
            ours = measured.at(**row["parameters"])
            found.append(Cell(row["parameters"], row["published"], float(half[1]) if half else 0.0, ours, scalar))
    return found


def summary(measured: Measured) -> list[str]:
    """Compare all numbers of Tables 2 to 5: how many are exact, within 1 % and within 5 %."""

    def crashes(cells: Iterable[Cell], n: int) -> list[Cell]:
        return [cell for cell in cells if cell.parameters["crashes"] == n]

    table3, table4 = _cells(measured, "Table 3", "latency"), _cells(measured, "Table 4", "packets")
    groups = [
        ("Table 4, packets, fault-free, 8 to 1,024 processes", crashes(table4, 0)),
        ("Table 3, latency, fault-free", crashes(table3, 0)),
        ("Table 2, packets, 1 to 16 trees", _cells(measured, "Table 2", "packets")),
        ("Table 2, latency", _cells(measured, "Table 2", "latency")),
        ("Table 4, packets, process 1 crashes", crashes(table4, 1)),
        ("Table 3, latency, process 1 crashes", crashes(table3, 1)),
        ("Table 5, latency, several random crashes", _cells(measured, "Table 5", "latency")),
    ]
    rows = [
        (what, str(len(cells)), str(sum(c.is_exact for c in cells)), str(sum(abs(c.off) <= 1 for c in cells)),
         str(sum(abs(c.off) <= 5 for c in cells)), f"{max((c.off for c in cells), key=abs):+.1f} %",
         str(max(len(c.ours.rows) for c in cells)))
        for what, cells in groups
    ]  # fmt: skip
    return lines(("", "cells", "exact", "within 1 %", "within 5 %", "worst", "runs of a cell"), rows)


def table3_4(measured: Measured) -> list[str]:
    """Compute Tables 3 and 4 for 64 and 1,024 processes."""
    rows = []
    for n in (64, 1024):
        for where, scalar in (("Table 4", "packets"), ("Table 3", "latency")):
            for crashes in (0, 1):
                cells = []
                for scenario in SCENARIOS.values():
                    point = {"processes": n, "crashes": crashes, **scenario}
                    paper = measured.paper(where, scalar, **point)
                    cells.append(beside(measured.at(**point).mean(scalar), paper, DECIMALS[scalar]))
                rows.append((crashes, scalar, [f"{scalar}{', process 1 crashes' if crashes else ' (paper)'}", *cells]))
        rows[-4:] = sorted(rows[-4:], key=lambda row: (row[0], row[1] == "latency"))
        rows[-4:] = [(*row[:2], [f"{n:,}" if k == 0 else "", *row[2]]) for k, row in enumerate(rows[-4:])]
    return lines(("processes", "", *SCENARIOS), [row[2] for row in rows])


def table5(measured: Measured) -> list[str]:
    """Compare Table 5, and the intervals of both."""
    cells = _cells(measured, "Table 5", "latency")
    rows = []
    for n in SIZES:
        here = [cell for cell in cells if cell.parameters["processes"] == n]
        inside = sum(abs(cell.ours.mean("latency") - cell.paper) <= cell.half for cell in here)
        overlap = sum(_overlap(cell) for cell in here)
        rows.append((f"{n:,}", *(f"{cell.off:+.1f}" for cell in here), str(inside), str(overlap)))
    assert all(cell.parameters["crashes"] == dimension(cell.parameters["processes"]) - 1 for cell in cells)
    ends = ("means inside the paper's intervals", "intervals that overlap")
    return lines(("processes", *SCENARIOS, *ends), rows)


def _overlap(cell: Cell) -> bool:
    low, high = cell.ours.interval("latency")
    return low <= cell.paper + cell.half and cell.paper - cell.half <= high


def table5_fit(measured: Measured) -> list[str]:
    """Fit the latest crash to some sizes of Table 5, and predict the others.

    The deviation is the mean of the absolute deviations in percent over the cells of these sizes.
    """
    cells = _cells(measured, "Table 5", "latency")
    rows = []
    for limit in CRASH_LIMITS:
        off: dict[bool, list[float]] = {True: [], False: []}
        for cell in cells:
            if (n := cell.parameters["processes"]) > max(FITTED_SIZES):
                continue
            runs = measured.at(**{**cell.parameters, "crash_within": limit})
            if runs.rows:
                off[n in FITTED_SIZES].append(abs(100 * (runs.mean("latency") / cell.paper - 1)))
        if off[True] and off[False]:
            means = [sum(values) / len(values) for values in off.values()]
            within = (sum(value <= 5 for value in values) for values in off.values())
            words = f"{limit:g} units" if limit else "n/10 units, at most 5 (the default)"
            rows.append((words, *(f"{mean:.1f} %" for mean in means), *map(str, within)))
    if not rows:
        raise NotRun("the sweep `table5_fit`")
    fitted, others = (", ".join(f"{n}" for n in SIZES if n <= max(FITTED_SIZES) and (n in FITTED_SIZES) is fit)
                      for fit in (True, False))  # fmt: skip
    head = ("crashes come within", f"deviation, {fitted} processes (fitted)", f"deviation, {others} (predicted)",
            "fitted cells within 5 %", "predicted cells within 5 %")  # fmt: skip
    return lines(head, rows)


def floating(measured: Measured) -> list[str]:
    """Count the fault-free numbers that are exact with a clock of floating-point numbers, and with the exact clock."""
    rows = []
    for where, scalar in (("Table 4", "packets"), ("Table 3", "latency")):
        cells = [cell for cell in _cells(measured, where, scalar) if not cell.parameters["crashes"]]
        both = [(cell, cell._replace(ours=measured.at(**{**cell.parameters, "clock": "float"}))) for cell in cells]
        run = [(exact, rounded) for exact, rounded in both if rounded.ours.rows]
        differ = (
            f"{_name(rounded.parameters)}: {number(rounded.ours.mean(scalar), DECIMALS[scalar])} for "
            f"{number(rounded.paper, DECIMALS[scalar])}"
            for _, rounded in run
            if not rounded.is_exact
        )
        counts = (sum(pair[which].is_exact for pair in run) for which in (0, 1))
        rows.append((f"{where}, {scalar}", str(len(run)), *map(str, counts), "; ".join(differ) or "none"))
    if all(row[1] == "0" for row in rows):
        raise NotRun("the sweep `float`")
    head = (
        "fault-free", "cells run", "exact with the exact clock", "exact with floating point",
        "cells that are not exact with floating point",
    )  # fmt: skip
    return lines(head, rows)


def _name(parameters: dict[str, Any]) -> str:
    names = (name for name, point in SCENARIOS.items() if point.items() <= parameters.items())
    return f"{next(names)}, {parameters['processes']:,}"


def detection(measured: Measured) -> list[str]:
    """Compare the time until all correct processes know all crashes with a bound of log2(n)^2 rounds of tests."""
    rows = []
    for point in measured.study.sweeps["detection"]:
        n, values = point["processes"], measured.at(**point).values("detected")
        if values:
            rounds = [max(0.0, value - point["crash_within"]) / ROUND for value in values]
            rows.append((
                str(n), str(point["crashes"]), f"{max(values):.1f}", f"{max(rounds):.1f}", str(dimension(n) ** 2),
                str(len(values)),
            ))  # fmt: skip
    if not rows:
        raise NotRun("the sweep `detection`")
    last = "most rounds of 30 units after the last possible crash"
    return lines(("processes", "crashes", "all are known after (units)", last, "bound on the rounds", "seeds"), rows)


ROUND = 30.0
"""The shortest round of tests in units, which is the pause alone."""


# ---- every printed number under three readings ----------------------------------------------------------------------

IMPOSSIBLE = {
    ("Table 2", "latency (units)", f"NO-AGGR, {trees} trees"): (
        "TREE and ACK need eight hops of at least 1.0 each, and Table 3 prints 8.7 for the same processes and trees"
    )
    for trees in (4, 8, 16)
}
_CELL = ("processes", "crashes", "max_delay", "max_payload", "tree_size", "ack_size")
TRIED = (
    Tried("Tables 2 to 4", ("table2", "table3", "float"), (*_CELL, "trees"), elsewhere=21),
    Tried("Table 5", ("table5_fit",), _CELL),
)


def is_number(_row: dict[str, Any]) -> bool:
    """Return True, since each row is a number of its own."""
    return True


def is_drawn(point: dict[str, Any]) -> bool:
    """Return whether anything is drawn: only the times of several crashes are. All other runs of a point are equal."""
    return bool(point.get("crashes", 0) > 1)


def is_fitted(row: dict[str, Any], point: dict[str, Any]) -> bool:
    """Return whether the latest crash was chosen by this number, as it was by all means of Table 5."""
    return row["where"] == "Table 5" and not point.get("crash_within")


def groups(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the numbers of each table of the paper, without and with a crash."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        crash = ", process 1 crashes" if row["where"] in ("Table 3", "Table 4") and row["parameters"]["crashes"] else ""
        found.setdefault(f"{row['where']}, {row['quantity']}{crash}", []).append(row)
    return found


def _width(measured: Measured, row: dict[str, Any]) -> Score:
    """Compare half the width of the paper's interval of ten runs with that of ours by the F test on variances."""
    values = measured.at(**row["parameters"]).values("latency")
    if len(values) < 2:
        return Score("missing", "not run", math.nan)
    *_, low, high = arithmetic.interval(values)
    half, paper = (high - low) / 2, row["published"]
    ratio = half / paper if paper else math.inf
    # Both intervals have ten runs, so the ratio of their widths is the ratio of the deviations.
    most = math.sqrt(f_distribution.ppf(0.975, len(values) - 1, 9))
    if round(half, 1) == paper:
        return Score("inside", f"{short(half)}, inside", 1.0, len(values))
    kind = "inside" if 1 / most < ratio < most else "off"
    return Score(kind, f"{short(half)}, {'inside' if kind == 'inside' else f'×{ratio:.3g}'}", ratio, len(values))


def _reduction(measured: Measured, row: dict[str, Any]) -> list[float]:
    """Return the latency that a tree for each process saves, in percent of the latency with one tree."""
    one, many = (measured.at(**{**row["parameters"], "trees": trees}).values("latency") for trees in (1, 16))
    return [100 * (one[0] / many[0] - 1)] if one and many else []


PAIRED = {
    "latency, 95 % interval either side (units)": _width,
    "reduction of the latency by a tree for each process (%)": _reduction,
}


def _text(point: dict[str, Any]) -> dict[str, Any] | None:
    return point if point.get("crashes", 0) <= 1 else None


READINGS = (
    Reading("the printed text", _text),
    Reading("the authors' program: none", lambda _: None),
    Reading("ours: the default", dict),
)
_HERE = sys.modules[__name__]

TABLES: dict[str, Table] = {
    "scores": scores.grouped(_HERE), "tried": scores.tried(_HERE), "summary": summary, "table3 table4": table3_4,
    "table5": table5, "table5_fit": table5_fit, "float": floating, "detection": detection,
}  # fmt: skip
