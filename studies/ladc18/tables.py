"""The tables of docs/papers/ladc18.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from causeway.analysis import published
from causeway.pycontrol.protocols.vcube.tree import dimension
from causeway.studies.ladc18.study import SCENARIOS, SIZES
from causeway.studies.tables import Measured, Table, beside, lines, number

SCALARS = ("packets", "latency", "violations", "unfinished")
DECIMALS = {"packets": 0, "latency": 1}
"""The digits that the paper prints."""


class Cell(NamedTuple):
    """A number that the paper prints, with our runs of the same point."""

    parameters: dict[str, Any]
    paper: float
    half: float
    """Half the width of the paper's interval; 0 where it gives none."""
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


TABLES: dict[str, Table] = {"summary": summary, "table3 table4": table3_4, "table5": table5}
