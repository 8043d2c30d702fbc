"""Figure 5 of dcs23: the sizes to simulate, and the size for each target error, computed from the runs.

    causeway run dcs23 --sweep figure5 --spark 'local[2]' --out DIR        (resumable: finished runs are kept)
    python -m causeway.studies.dcs23.sizes DIR

For each load, runs at sizes around the expected ones give violations per delivery. The error is a power of the size,
and the size for a target is computed from the fitted line. Violations occur in clusters: if a process sends twice
within a short time, hundreds of others may get the second message first. Therefore sizes are weighted by the number of
violated messages, and the bootstrap of intervals draws runs and not deliveries.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LOADS = (25.0, 50.0, 100.0, 150.0, 200.0)
TARGETS = (1e-4, 5e-5, 1e-5, 5e-6, 1e-6)
PROCESSES = 2000
EXPECTED = 4.9e-4
"""The approximate number of entries at load 1 and error 1. It only determines the sizes to simulate."""
VIOLATIONS_WANTED = 60
"""The number of violations that a run should have at the expected error, so that the error can be estimated."""
MOST_MESSAGES, FEWEST_MESSAGES = 30_000, 3_000
SMALLEST_FITTED = 40
"""The smallest number of entries in the fit. In smaller clocks, a few messages cover every entry, and the error is not
a power of the size."""
COUNTS = ["violations", "deliveries", "messages_violated"]


def expected_entries(load: float, error: float) -> int:
    """Estimate the size for an error, by error ~ load^3 / entries^2.

    One factor of the load is for the missing message, two are for two covered entries.
    """
    return max(4, round(EXPECTED * load**1.5 * error**-0.5))


def _point(load: float, error: float) -> dict[str, Any]:
    messages = round(VIOLATIONS_WANTED / error / PROCESSES)
    return {
        "load": "constant", "rate": load, "processes": PROCESSES, "entries": expected_entries(load, error),
        "messages": int(np.clip(messages, FEWEST_MESSAGES, MOST_MESSAGES)),
    }  # fmt: skip


FIGURE5 = [_point(load, error) for error in TARGETS for load in LOADS]


def size_for(runs: pd.DataFrame, target: float) -> float:
    """Return the size at which the runs of one load (COUNTS, entries) would have the target error."""
    sums = runs.groupby("entries")[COUNTS].sum()
    seen = sums[sums.violations > 0]
    if len(seen) < 2:
        return float("nan")
    weights = np.sqrt(seen.messages_violated)
    x, y = np.log(seen.index.to_numpy(float)), np.log(seen.violations / seen.deliveries)
    slope, level = np.polyfit(x, y, 1, w=weights)
    return float(np.exp((np.log(target) - level) / slope))


def interval(runs: pd.DataFrame, target: float, draws: int = 400) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of `size_for`, drawing among the runs of each size."""
    generator = np.random.default_rng(0)
    groups = [g for _, g in runs.groupby("entries")]
    sizes = [
        size_for(pd.concat([g.iloc[generator.integers(0, len(g), len(g))] for g in groups]), target)
        for _ in range(draws)
    ]
    low, high = np.nanquantile(sizes, [0.025, 0.975])
    return float(low), float(high)


def sizes(runs: pd.DataFrame, targets: Sequence[float] = TARGETS, draws: int = 400) -> pd.DataFrame:
    """Compute Figure 5, a row per load and target. Targets below the lowest simulated error are extrapolated."""
    rows = []
    for load, of_load in runs.groupby("rate"):
        sums = of_load.groupby("entries")[COUNTS].sum()
        lowest = (sums.violations / sums.deliveries).min()
        for target in targets:
            low, high = interval(of_load, target, draws)
            rows.append((load, target, size_for(of_load, target), low, high, lowest))
    return pd.DataFrame(rows, columns=["load", "target", "entries", "low", "high", "lowest_error_seen"])


def fit(runs: pd.DataFrame) -> tuple[float, float, float]:
    """Fit SCALE, LOAD_POWER and ERROR_POWER of `policies.measured`.

    The fit is linear, of log error over log load and log entries, for clocks of at least SMALLEST_FITTED entries.
    """
    runs = runs[runs.entries >= SMALLEST_FITTED]
    sums = runs.groupby(["rate", "entries"], as_index=False)[COUNTS].sum()
    sums = sums[sums.violations > 0]
    error = np.log(sums.violations / sums.deliveries)
    x = np.column_stack([np.ones(len(sums)), np.log(sums.rate), np.log(sums.entries)])
    weights = np.sqrt(sums.messages_violated).to_numpy()[:, None]
    (level, of_load, of_entries), *_ = np.linalg.lstsq(x * weights, error * weights[:, 0], rcond=None)
    return float(np.exp(-level / of_entries)), float(-of_load / of_entries), float(1 / of_entries)


def read_runs(folder: Path) -> pd.DataFrame:
    """Return the runs of fixed clocks in a result folder: rate, entries, seed and COUNTS."""
    from causeway.analysis import store

    scalars = store.read_arrow(folder, "scalars").to_pandas().pivot(index="run_id", columns="name", values="value")
    parameters = store.read_arrow(folder, "parameters").to_pandas()
    wide = parameters.pivot(index="run_id", columns="name", values="value")
    fixed = wide[(wide.load == "constant") & (wide.entries.astype(int) > 0)]
    seeds = store.read_arrow(folder, "runs").to_pandas().set_index("run_id").seed
    runs = fixed[["rate", "entries"]].astype(float).join(scalars[COUNTS]).join(seeds)
    # Runs that differ only in parameters that a fixed clock ignores are duplicates.
    return runs.drop_duplicates(["rate", "entries", "seed"]).reset_index(drop=True)


if __name__ == "__main__":
    found = read_runs(Path(sys.argv[1]))
    print(sizes(found).to_string(index=False, float_format=lambda v: f"{v:.4g}"))
    print("SCALE, LOAD_POWER, ERROR_POWER =", ", ".join(f"{v:.4g}" for v in fit(found)))
