"""The reductions on pandas DataFrames, for what fits in memory. `in_spark` has the same functions and answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from causeway.analysis.reduce import arithmetic

ORDER = ["time_ps", "event", "value"]


def with_time(samples: pd.DataFrame) -> pd.DataFrame:
    """Samples with `time_ps`, whole picoseconds (finer times are cut).

    64 bits hold 106 days of them. If any sample is later than that, all times are doubles, which are good to 16 digits.
    """
    raw, exponent = samples["time_raw"].to_numpy(np.int64), samples["time_exp"].to_numpy(np.int64)
    coarser = np.maximum(exponent + 12, 0)
    whole = raw // 10 ** np.maximum(-12 - exponent, 0)
    if (coarser > 18).any() or (np.abs(raw) > (2**63 - 1) // 10 ** np.minimum(coarser, 18)).any():
        return samples.assign(time_ps=whole.astype(np.float64) * 10.0**coarser)
    return samples.assign(time_ps=whole * 10**coarser)


def mean_ci(frame: pd.DataFrame, by: Sequence[str], value: str = "value", level: float = 0.95) -> pd.DataFrame:
    """Mean and Student-t interval of `value` per group: columns runs, mean, sd, ci_low, ci_high."""
    rows = [
        (*_key(key), *arithmetic.interval(group, level)) for key, group in frame.groupby(list(by), dropna=False)[value]
    ]
    return pd.DataFrame(rows, columns=[*by, *arithmetic.INTERVAL])


def _key(key: object) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def numbered(scalars: pd.DataFrame) -> pd.DataFrame:
    """Scalars in which a name that a module of a run has more than once becomes `name`, `name #2`, `name #3`, ..."""
    again = scalars.duplicated(["run_id", "module", "name"], keep=False)
    if not again.any():
        return scalars
    some = scalars[again].sort_values(["position", "value"], kind="stable", na_position="first")
    number = some.groupby(["run_id", "module", "name"], dropna=False).cumcount()
    names = some["name"].where(number == 0, some["name"] + " #" + (number + 1).astype(str))
    return scalars.assign(name=scalars["name"].where(~again, names.reindex(scalars.index)))


def group_means(frame: pd.DataFrame, by: Sequence[str], value: str = "value") -> pd.DataFrame:
    """Number and mean of the finite values per group, correctly rounded: columns rows, mean."""
    finite = frame[np.isfinite(frame[value])]
    rows = [
        (*_key(key), len(group), arithmetic.total(list(group)) / len(group))
        for key, group in finite.groupby(list(by), dropna=False)[value]
    ]
    return pd.DataFrame(rows, columns=[*by, "rows", "mean"])


def time_series(
    samples: pd.DataFrame, by: Sequence[str], width_ps: int, level: float = 0.95, run: str = "run_id"
) -> pd.DataFrame:
    """Means over time: each run's mean per bin of simulated time first, then mean and interval over the runs."""
    binned = with_time(samples)
    if binned["time_ps"].dtype == np.float64:
        binned = binned.assign(start_ps=np.floor(binned["time_ps"] / float(width_ps)) * float(width_ps))
    else:
        binned = binned.assign(start_ps=binned["time_ps"] // width_ps * width_ps)
    return mean_ci(group_means(binned, [*by, "start_ps", run]), [*by, "start_ps"], "mean", level)
