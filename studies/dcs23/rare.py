"""Rare violations: how often a clock of any size would be wrong, from runs of exact clocks.

    causeway run dcs23 --sweep figure5_rare --reps 10 --out rare
    python -m causeway.studies.dcs23.rare rare

A probabilistic clock never holds back what an exact one delivers. So up to its first error a run is the run of exact
clocks, whatever entries the processes have, and an error there is this: m waits at p for u, and other messages that p
has delivered and the sender of m had not increment every entry of u before u comes. Which entries a process increments
has nothing to do with who waits for whom. So the run need not be split into many that go on with other entries: the
share of them that would err is known. Of `others` processes that increment `increments` of `size` entries each, drawn
at random, `covered` is the probability that they increment all the entries of one more.

`Exposed` counts the waits by `others` in a run of vector clocks; `error` weighs them. Two things are left out, both of
second order: a message that lacks two others, neither of which has come (counted in `exposed_several`), and what a
process sends between a wrong delivery and the arrival of what it lacked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causeway.errors import RunError
from causeway.pycontrol.protocol import HELD, Observer
from causeway.studies.dcs23.rare_kernel import RareState, watch
from causeway.studies.dcs23.sizes import LOADS, PROCESSES, TARGETS

RECENT = 1 << 10
"""Messages looked back on; all before them must have been delivered everywhere. A power of two."""
MOST = 256
"""Waits with more others than this are counted as this many."""
LARGEST = 1e7
"""Size of a clock."""
MESSAGES = {25.0: 12_000, 50.0: 6_000, 100.0: 3_000, 150.0: 3_000, 200.0: 3_000}
FIGURE5_RARE: list[dict[str, Any]] = [
    {"load": "constant", "rate": load, "processes": PROCESSES, "clock": "vector", "messages": MESSAGES[load]}
    for load in LOADS
]


class Exposed(Observer):
    """Sees a run of exact clocks. For every message that had to wait: what for, and how many other processes' messages
    could have covered it before it came."""

    def __init__(self, nodes: int) -> None:
        words = RECENT // 64
        self._s = RareState(
            delivered=np.zeros((nodes, words), np.uint64), past=np.zeros((RECENT, words), np.uint64),
            sender=np.zeros(RECENT, np.int32), owed=np.zeros(RECENT, np.int64), stamp=np.zeros(nodes + 1, np.int64),
            waiting=np.zeros(nodes, np.int64), line=np.zeros((nodes, 4, 3), np.int64),
            counts=np.zeros(MOST + 2, np.int64),
        )  # fmt: skip

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        old = self._s.line
        room = int(self._s.waiting.max() + np.count_nonzero(op == HELD))
        if room > old.shape[1]:
            line = np.zeros((len(old), 2 * room, 3), np.int64)
            line[:, : old.shape[1]] = old
            self._s = self._s._replace(line=line)
        if not watch(self._s, op, node, message):
            raise RunError(f"a message is missing somewhere {RECENT} broadcasts later: exact clocks lag behind")

    def scalars(self) -> Mapping[str, float]:
        rows = {f"exposed_{d}": float(n) for d, n in enumerate(self._s.counts[:-1]) if n}
        return {**rows, "exposed_several": float(self._s.counts[-1])}


def covered(size: float, increments: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability that all entries of one process are among those of so many others (inclusion and exclusion over
    its entries that are not)."""
    total = np.zeros(len(others))
    for left_out in range(increments + 1):
        each = np.prod([max(size - left_out - i, 0.0) / (size - i) for i in range(increments)])
        total += (-1) ** left_out * comb(increments, left_out) * each ** others.astype(float)
    return np.maximum(total, 0.0)


def error(waits: NDArray[np.float64], deliveries: float, size: float, increments: int = 2) -> float:
    """Violations per delivery of a clock of this size. `waits`: how many waits had so many others."""
    return float(waits @ covered(size, increments, np.arange(len(waits))) / deliveries)


def error_of_components(
    waits: NDArray[np.float64], deliveries: float, components: float, size: int = 50, increments: int = 2,
    by_number: bool = False,
) -> float:  # fmt: skip
    """The same of a Dynamic Clock Set, where each process increments one component: only those of the same component
    can cover a message. It is drawn at random; or (`by_number`, senders in turn) the others are spread evenly over
    components, which is nearly so: they are neighbours but for some that came early or late."""
    others, total = np.arange(len(waits)), np.zeros(len(waits))
    each_has, part = others // components, others / components - others // components
    for left_out in range(increments + 1):
        each = np.prod([max(size - left_out - i, 0.0) / (size - i) for i in range(increments)])
        if by_number:
            none = each**each_has * (1 - part + part * each)
        else:
            none = (1 - (1 - each) / components) ** others.astype(float)
        total += (-1) ** left_out * comb(increments, left_out) * none
    return float(waits @ np.maximum(total, 0.0) / deliveries)


def size_for(waits: NDArray[np.float64], deliveries: float, target: float) -> float:
    """The size whose error is the target."""
    low, high = 3.0, LARGEST
    while high / low > 1 + 1e-9:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if error(waits, deliveries, middle) > target else (low, middle)
    return high


def interval(waits: NDArray[np.float64], deliveries: NDArray[np.float64], of: Any, draws: int) -> tuple[float, float]:
    """95% bootstrap interval over runs of a figure of (waits, deliveries)."""
    generator = np.random.default_rng(0)
    picks = [generator.integers(0, len(waits), len(waits)) for _ in range(draws)]
    low, high = np.quantile([of(waits[i].sum(axis=0), deliveries[i].sum()) for i in picks], [0.025, 0.975])
    return float(low), float(high)


def table_of(runs: pd.DataFrame) -> NDArray[np.float64]:
    """A row a run: how many waits had 0, 1, 2, ... others."""
    names = [str(c) for c in runs if str(c).removeprefix("exposed_").isdigit()]
    waits = np.zeros((len(runs), MOST + 1))
    waits[:, [int(name.removeprefix("exposed_")) for name in names]] = runs[names].fillna(0.0).to_numpy()
    return waits


def waits_of(runs: pd.DataFrame) -> tuple[NDArray[np.float64], float]:
    """Waits by others, and deliveries, of all these runs together."""
    return table_of(runs).sum(axis=0), float(runs.deliveries.sum())


def sizes(runs: pd.DataFrame, draws: int = 1000) -> pd.DataFrame:
    """Figure 5 from runs of exact clocks (rate, deliveries, exposed_0, ...): a row per load and target."""
    rows = []
    for load, of_load in runs.groupby("rate"):
        waits = table_of(of_load)
        deliveries = of_load.deliveries.to_numpy(float)
        for target in TARGETS:
            found = size_for(waits.sum(axis=0), deliveries.sum(), target)
            low, high = interval(waits, deliveries, lambda w, n, t=target: size_for(w, n, t), draws)
            rows.append((load, target, len(of_load), found, low, high))
    return pd.DataFrame(rows, columns=["load", "target", "runs", "entries", "low", "high"])


def read_runs(folder: Path) -> pd.DataFrame:
    """The runs of exact clocks in a result folder."""
    from causeway.analysis import store

    scalars = store.read_arrow(folder, "scalars").to_pandas().pivot(index="run_id", columns="name", values="value")
    wide = store.read_arrow(folder, "parameters").to_pandas().pivot(index="run_id", columns="name", values="value")
    mine = wide[(wide.load == "constant") & (wide.clock == "vector")]
    counts = scalars[[c for c in scalars if c.startswith("exposed_")] + ["deliveries"]]
    return mine[["rate"]].astype(float).join(mine[["senders", "processes"]]).join(counts)


if __name__ == "__main__":
    found = read_runs(Path(sys.argv[1]))
    print(sizes(found[found.senders == "random"]).to_string(index=False, float_format=lambda v: f"{v:.4g}"))
