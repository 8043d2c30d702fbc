"""Count how many measured numbers of a study agree with the published ones. Start here: `tallies`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from causeway.analysis.published import ANOTHER_READING, NOT_COMPARED
from causeway.analysis.report.verdict import FEW, KINDS, Verdict, judge, worst

HIT = ("exact", "inside")
"""The kinds of verdict that count as reproduced."""
BOTH = "exact or inside the interval"


@dataclass(frozen=True)
class Tally:
    """The verdicts on the numbers that one engine measured for a study."""

    study: str
    engine: str
    counts: Mapping[str, int]
    """kind of verdict -> how many numbers"""
    worst: str
    """The largest relative difference among the numbers that are off, as a factor."""
    missing: int
    """The number of published numbers that were not run."""

    @property
    def total(self) -> int:
        """The number of published numbers that were measured."""
        return sum(self.counts.values())

    @property
    def head(self) -> str:
        """The beginning of the line: the number of reproduced ones out of the total."""
        hits = [kind for kind in HIT if self.counts.get(kind)]
        where = "exact" if hits == ["exact"] else "inside the interval" if hits == ["inside"] else BOTH
        return f"{sum(self.counts.get(kind, 0) for kind in HIT)} of {self.total} published numbers {where}"

    @property
    def rest(self) -> list[tuple[str, str]]:
        """The rest of the line: (kind, text) for each other kind of verdict. The kind "" means that it was not run."""
        parts = [
            (kind, f"{self.counts[kind]} {'with ' * (kind == FEW)}{kind}{self._worst(kind)}")
            for kind in KINDS
            if kind not in HIT and self.counts.get(kind)
        ]
        return parts + ([("", f"{self.missing} not run")] if self.missing > 0 else [])

    def _worst(self, kind: str) -> str:
        return f" (worst {self.worst})" if kind == "off" and self.worst else ""

    @property
    def line(self) -> str:
        """The whole line."""
        return ", ".join([self.head, *(text for _, text in self.rest)])

    @property
    def shares(self) -> list[tuple[str, float]]:
        """The CSS class and the percentage of each kind."""
        return [
            (Verdict(kind, "").css, 100 * self.counts[kind] / self.total) for kind in KINDS if self.counts.get(kind)
        ]


def judged(compared: pd.DataFrame) -> pd.DataFrame:
    """Add to a comparison the kind of each verdict, its text and its CSS class."""
    found = [
        judge(row, row["measured"], row["ci95_low"], row["ci95_high"], row["runs"])
        for row in compared.to_dict("records")
    ]
    return compared.assign(
        verdict=pd.Series([one.kind for one in found], compared.index, dtype=object),
        verdict_text=pd.Series([one.text for one in found], compared.index, dtype=object),
        verdict_css=pd.Series([one.css for one in found], compared.index, dtype=object),
    )


def tallies(compared: pd.DataFrame, published: pd.DataFrame) -> list[Tally]:
    """Return a tally for each study and engine with measured numbers. Each published number is counted once.

    Args:
        compared: The judged comparison.
        published: All published numbers.
    """
    found = []
    for (study, engine), rows in _counted(compared).groupby(["study", "engine"]):
        there = _counted(published[published["study"] == study])
        total = int((there["scalar"] != NOT_COMPARED).sum())
        counts = {kind: int((rows["verdict"] == kind).sum()) for kind in KINDS}
        factor = worst(rows["ratio"][rows["verdict"] == "off"].tolist())
        found.append(Tally(str(study), str(engine), counts, factor, total - len(rows)))
    return found


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["remark"] != ANOTHER_READING]


def lines(found: Sequence[Tally]) -> list[str]:
    """Return a line for each tally, with the engine if a study has several."""
    several = {one.study for one in found if sum(other.study == one.study for other in found) > 1}
    return [f"{one.study}{f' on {one.engine}' if one.study in several else ''}: {one.line}" for one in found]
