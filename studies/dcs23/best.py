"""Compute an upper bound on the gain of any policy: the clock with the best size in every second, at a fixed mean size.

    causeway run dcs23 --sweep exposure --reps 5 --out rare
    python -m causeway.studies.dcs23.best rare

The errors of every size at each load, for fixed clocks and for Dynamic Clock Sets, are computed from runs of exact
clocks (`rare.py`). Under a changing load, components are assigned to seconds one by one, each to the second in which it
avoids the most violations, until the mean size is reached. No policy can have fewer violations with the same mean size.
Late changes and refused rounds only add violations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causeway.network.workload import Segment
from causeway.pycontrol.protocols.dcs.policies import table
from causeway.studies.dcs23 import loads, rare

COMPONENT = 50
"""The number of entries of a component."""
Floats = NDArray[np.float64]
Errors = Callable[[Floats, Floats], Floats]
"""Violations per delivery, by load and size. The size is in entries or in components."""
SHAPES: Mapping[str, tuple[Segment, ...]] = {
    "bell, 10 to 200, 60 s": loads.bell(10, 200, 60),
    "bells, 0 to 200, 850 s": loads.bells(0, 200, 850),
    "triangles, 20 to 220": loads.triangles(20, 220, 300),
    "peaks": loads.peaks(200, 300, 1),
}
EXPOSURE_LOADS = (25.0, 50.0, 75.0, 100.0, 125.0, 150.0, 175.0, 200.0, 220.0)
"""Loads of the runs of exact clocks; errors at other loads are interpolated."""


def per_second(segments: tuple[Segment, ...]) -> Floats:
    """Return the load in every second."""
    return np.array([s.rate_per_s for s in segments[:-1]])


def interpolated(by_load: Mapping[float, tuple[Floats, float]], weigh: Callable[..., float]) -> Errors:
    """Return a function that interpolates the errors at the simulated loads.

    Between two simulated loads, and outside their range, the error is a power of the load.

    Args:
        by_load: Waits and deliveries of the runs, by load (see `read_runs`).
        weigh: Computes the error from waits, deliveries and size, such as `rare.error`.
    """
    known = sorted(by_load)

    def errors(load: Floats, size: Floats) -> Floats:
        found = np.empty(len(load))
        for each in np.unique(size):
            level = np.log([weigh(*by_load[one], each) for one in known])
            here = size == each
            at = np.log(np.maximum(load[here], 1e-3))
            i = np.clip(np.searchsorted(np.log(known), at) - 1, 0, len(known) - 2)
            x = np.log(known)
            found[here] = np.exp(level[i] + (at - x[i]) * (level[i + 1] - level[i]) / (x[i + 1] - x[i]))
        return found

    return errors


def best(load: Floats, mean: float, errors: Errors) -> NDArray[np.int64]:
    """Return the number of components in every second with the fewest violations at this mean size in entries."""
    sizes = np.ones(len(load), np.int64)
    most = 4 * int(mean / COMPONENT * load.max() / load.mean()) + 4
    violations = np.array([load * errors(load, np.full(len(load), float(c))) for c in range(1, most + 1)])
    gains = -np.diff(violations, axis=0)
    for _ in range(round(len(load) * mean / COMPONENT) - len(load)):
        place = np.minimum(sizes - 1, most - 2)
        gain = np.where(sizes < most, gains[place, np.arange(len(load))], -1.0)
        sizes[np.argmax(gain)] += 1
    return sizes


def factor(load: Floats, components: NDArray[np.int64], sets: Errors, fixed: Errors, entries: float) -> float:
    """Return the violations of a set with these components, relative to a fixed clock.

    The result is the number of violations of the fixed clock divided by that of the set.
    """
    dynamic = (load * sets(load, components.astype(float))).sum()
    return float((load * fixed(load, np.full(len(load), entries))).sum() / dynamic)


def compare(by_load: Mapping[float, tuple[Floats, float]]) -> pd.DataFrame:
    """Compute a table of factors: a row for each shape, with components drawn at random and chosen by number.

    A row contains the best factor at the paper's mean size, and the factors of the authors' table without late changes.
    """
    fixed = interpolated(by_load, rare.error)
    drawn = interpolated(by_load, rare.error_of_components)
    by_number = interpolated(by_load, partial(rare.error_of_components, by_number=True))
    rows = []
    for (how, sets), (name, segments) in product((("drawn", drawn), ("by number", by_number)), SHAPES.items()):
        load = per_second(segments)
        mean = 97.0 if name == "peaks" else 260.0
        tabled = np.ceil(table.sizing(load) / COMPONENT).astype(np.int64)
        of_table = COMPONENT * float(tabled.mean())
        rows.append(
            (
                name, how, mean, factor(load, best(load, mean, sets), sets, fixed, mean),
                of_table, factor(load, tabled, sets, fixed, of_table), factor(load, tabled, sets, fixed, mean),
                factor(load, best(load, of_table, sets), sets, fixed, of_table),
            )
        )  # fmt: skip
    names = [
        "shape",
        "components",
        "mean",
        "best",
        "table's mean",
        "table",
        "table against the paper's",
        "best at the table's mean",
    ]
    return pd.DataFrame(rows, columns=names)


def read_runs(folder: Path) -> dict[float, tuple[Floats, float]]:
    """Return waits and deliveries, by load, of the runs of exact clocks in which senders take turns."""
    runs = rare.read_runs(folder)
    runs = runs[runs.senders == "turns"]
    return {float(load): rare.waits_of(runs[runs.rate == load]) for load in runs.rate.unique()}


if __name__ == "__main__":
    print(compare(read_runs(Path(sys.argv[1]))).to_string(index=False, float_format=lambda v: f"{v:.3g}"))
