"""Section V-B of dcs23: compare the violations of a dynamic clock with those of a fixed one under the same load.

    causeway run dcs23 --sweep figure7 --out DIR
    causeway run dcs23 --sweep figure9 --out DIR
    python -m causeway.studies.dcs23.factors DIR

A dynamic and a fixed run with the same seed have the same messages and delays, so the bootstrap draws them in pairs. A
factor is a ratio of sums over seeds; the paper has one run of each. Violations occur in clusters, with up to hundreds
of receivers of one message. So the factor of the number of violated messages varies less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

DRAWS = 4000
"""The number of samples of the bootstrap."""
SAME = ("load", "senders", "entries_draw", "low_rate", "rate", "duration_s", "pattern", "processes")
"""The parameters that a dynamic and a fixed run must have in common."""
COUNTED = ["violations", "messages_violated"]
"""The scalars for which factors are computed."""


def interval(values: np.ndarray, of: Callable[[np.ndarray], float]) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a statistic of rows."""
    generator = np.random.default_rng(0)
    found = [of(values[generator.integers(0, len(values), len(values))]) for _ in range(DRAWS)]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def factors(runs: pd.DataFrame) -> pd.DataFrame:
    """Compute a row per load, policy, fixed size and scalar of COUNTED.

    A fixed clock has no policy, so every policy is compared with the same fixed runs.

    Args:
        runs: Rows of load, policy, entries (0: dynamic), seed, entries_mean and COUNTED.
    """
    rows = []
    for load, of_load in runs.groupby("load"):
        dynamic_runs, plain_runs = of_load[of_load.entries == 0], of_load[of_load.entries > 0]
        fixed_sizes = sorted(set(plain_runs.entries))
        for (policy, of_policy), fixed, what in product(dynamic_runs.groupby("policy"), fixed_sizes, COUNTED):
            plain = plain_runs[plain_runs.entries == fixed].drop_duplicates("seed").set_index("seed")[what]
            both = pd.concat([of_policy.set_index("seed")[what], plain], axis=1, join="inner").to_numpy(float)
            if not len(both):
                continue
            low, high = interval(both, lambda v: v[:, 1].sum() / v[:, 0].sum())
            few, many = both.mean(axis=0)
            mean_entries = of_policy.entries_mean.mean()
            rows.append((load, policy, fixed, what, len(both), mean_entries, few, many, many / few, low, high))
    names = ["load", "policy", "fixed", "what", "seeds", "entries_mean", "dynamic", "plain", "factor", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def read_runs(folder: Path) -> pd.DataFrame:
    """Return the runs of a result folder whose load changes.

    The column `load` joins all parameters that determine the messages.
    """
    from causeway.analysis import store

    scalars = store.read_arrow(folder, "scalars").to_pandas().pivot(index="run_id", columns="name", values="value")
    wide = store.read_arrow(folder, "parameters").to_pandas().pivot(index="run_id", columns="name", values="value")
    seeds = store.read_arrow(folder, "runs").to_pandas().set_index("run_id").seed
    changing = wide[~wide.load.isin(["constant", "skewed"])]
    runs = pd.DataFrame(
        {
            "load": changing[list(SAME)].agg(" ".join, axis=1),
            "policy": changing.policy + " " + changing.target_error,
            "entries": changing.entries.astype(int),
        }
    )
    return runs.join(scalars[[*COUNTED, "entries_mean"]]).join(seeds).reset_index(drop=True)


if __name__ == "__main__":
    print(factors(read_runs(Path(sys.argv[1]))).to_string(index=False, float_format=lambda v: f"{v:.4g}"))
