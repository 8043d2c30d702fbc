"""Rare violations: the error of a clock of any size, computed from runs of exact clocks. Start here: `Exposed`.

    causeway run dcs23 --sweep figure5_rare --reps 10 --out rare
    python -m causeway.studies.dcs23.rare rare

A probabilistic clock delivers every message that an exact clock delivers, at the same time. So until its first error, a
run equals the run of exact clocks, independently of the entries of the processes. An error occurs if message m waits at
process p for message u and, before u arrives, every entry of u is incremented by other messages that p has delivered
and the sender of m had not. The entries of the processes are independent of the waits, so one run is enough for all
choices of entries. Let `others` processes each increment `increments` of `size` entries, drawn at random. Then
`covered` is the probability that together they increment all entries of one more process.

`Exposed` counts the waits, by number of other processes, in a run of vector clocks; `error` weights them. Two effects
of second order are ignored: messages that wait for two messages (counted in `exposed_several`), and the messages that a
process sends between a wrong delivery and the arrival of the missing message.
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
"""The size of the window of recent messages, a power of two. Older messages must have been delivered everywhere."""
MOST = 256
"""Waits with more other processes than this are counted as waits with this number."""
LARGEST = 1e7
"""The largest size of a clock, in entries, that `size_for` considers."""
MESSAGES = {25.0: 12_000, 50.0: 6_000, 100.0: 3_000, 150.0: 3_000, 200.0: 3_000}
"""The number of broadcasts of a run by load. At low loads, a message causes fewer waits."""
FIGURE5_RARE: list[dict[str, Any]] = [
    {"load": "constant", "rate": load, "processes": PROCESSES, "clock": "vector", "messages": MESSAGES[load]}
    for load in LOADS
]


class Exposed(Observer):
    """Counts, in a run of exact clocks, the messages that wait for one other message.

    Waits are counted by the number of other processes whose messages could have covered the missing message before it
    arrived.
    """

    def __init__(self, nodes: int) -> None:
        words = RECENT // 64
        self._s = RareState(
            delivered=np.zeros((nodes, words), np.uint64), past=np.zeros((RECENT, words), np.uint64),
            sender=np.zeros(RECENT, np.int32), owed=np.zeros(RECENT, np.int64), stamp=np.zeros(nodes + 1, np.int64),
            waiting=np.zeros(nodes, np.int64), queue=np.zeros((nodes, 4, 3), np.int64),
            counts=np.zeros(MOST + 2, np.int64),
        )  # fmt: skip

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        """Pass observations to the kernel, after enlarging the queues if necessary.

        Raises:
            RunError: A message is not yet delivered everywhere after RECENT more broadcasts.
        """
        old = self._s.queue
        room = int(self._s.waiting.max() + np.count_nonzero(op == HELD))
        if room > old.shape[1]:
            queue = np.zeros((len(old), 2 * room, 3), np.int64)
            queue[:, : old.shape[1]] = old
            self._s = self._s._replace(queue=queue)
        if not watch(self._s, op, node, message):
            raise RunError(
                f"a message is not delivered everywhere after {RECENT} more broadcasts: exact clocks lag behind"
            )

    def scalars(self) -> Mapping[str, float]:
        """Return the waits by number of other processes, and the waits for several messages."""
        rows = {f"exposed_{d}": float(n) for d, n in enumerate(self._s.counts[:-1]) if n}
        return {**rows, "exposed_several": float(self._s.counts[-1])}


def covered(size: float, increments: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability that `others` processes together increment all entries of one more process.

    The sum is by inclusion and exclusion over the entries that they do not increment.
    """
    total = np.zeros(len(others))
    for left_out in range(increments + 1):
        each = np.prod([max(size - left_out - i, 0.0) / (size - i) for i in range(increments)])
        total += (-1) ** left_out * comb(increments, left_out) * each ** others.astype(float)
    return np.maximum(total, 0.0)


def error(waits: NDArray[np.float64], deliveries: float, size: float, increments: int = 2) -> float:
    """Return the violations per delivery of a clock of this size.

    Args:
        waits: Number of waits with 0, 1, 2, ... other processes.
        deliveries: Deliveries of the same runs.
        size: Entries of the clock.
        increments: Entries that a process increments.
    """
    return float(waits @ covered(size, increments, np.arange(len(waits))) / deliveries)


def error_of_components(
    waits: NDArray[np.float64], deliveries: float, components: float, size: int = 50, increments: int = 2,
    by_number: bool = False,
) -> float:  # fmt: skip
    """Return the violations per delivery of a Dynamic Clock Set whose processes increment one component each.

    Only processes of the same component can cover a message.

    Args:
        waits: Number of waits with 0, 1, 2, ... other processes.
        deliveries: Deliveries of the same runs.
        components: Components of the clock.
        size: Entries of a component.
        increments: Entries that a process increments.
        by_number: Distribute the other processes evenly over the components, instead of drawing components at random.
            This is nearly exact for senders that take turns, since the others are then neighbours, except for a few.
    """
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
    """Return the size at which the error equals the target."""
    low, high = 3.0, LARGEST
    while high / low > 1 + 1e-9:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if error(waits, deliveries, middle) > target else (low, middle)
    return high


def interval(waits: NDArray[np.float64], deliveries: NDArray[np.float64], of: Any, draws: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a statistic over runs.

    Args:
        waits: A row of waits for each run (see `table_of`).
        deliveries: Deliveries of each run.
        of: Computes the statistic from the sums of waits and deliveries.
        draws: The number of samples of the bootstrap.
    """
    generator = np.random.default_rng(0)
    picks = [generator.integers(0, len(waits), len(waits)) for _ in range(draws)]
    low, high = np.quantile([of(waits[i].sum(axis=0), deliveries[i].sum()) for i in picks], [0.025, 0.975])
    return float(low), float(high)


def table_of(runs: pd.DataFrame) -> NDArray[np.float64]:
    """Return a row for each run: the numbers of waits with 0, 1, 2, ... other processes."""
    names = [str(c) for c in runs if str(c).removeprefix("exposed_").isdigit()]
    waits = np.zeros((len(runs), MOST + 1))
    waits[:, [int(name.removeprefix("exposed_")) for name in names]] = runs[names].fillna(0.0).to_numpy()
    return waits


def waits_of(runs: pd.DataFrame) -> tuple[NDArray[np.float64], float]:
    """Return sums over runs: the waits by number of other processes, and the deliveries."""
    return table_of(runs).sum(axis=0), float(runs.deliveries.sum())


def sizes(runs: pd.DataFrame, draws: int = 1000) -> pd.DataFrame:
    """Compute Figure 5, a row per load and target, from runs of exact clocks (rate, deliveries, exposed_0, ...)."""
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
    """Return the runs of exact clocks in a result folder."""
    from causeway.analysis import store

    scalars = store.read_arrow(folder, "scalars").to_pandas().pivot(index="run_id", columns="name", values="value")
    wide = store.read_arrow(folder, "parameters").to_pandas().pivot(index="run_id", columns="name", values="value")
    exact = wide[(wide.load == "constant") & (wide.clock == "vector")]
    counts = scalars[[c for c in scalars if c.startswith("exposed_")] + ["deliveries"]]
    return exact[["rate"]].astype(float).join(exact[["senders", "processes"]]).join(counts)


if __name__ == "__main__":
    found = read_runs(Path(sys.argv[1]))
    print(sizes(found[found.senders == "random"]).to_string(index=False, float_format=lambda v: f"{v:.4g}"))
