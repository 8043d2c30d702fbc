"""Means of groups of rows, their intervals, and means over simulated time."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from causeway.analysis.reduce import arithmetic
from causeway.analysis.reduce.spread import INTEGER, REAL, Frame, each_part, in_memory, together

_LARGEST = 2**63 - 1
_INTERVAL = {name: INTEGER if name == "runs" else REAL for name in arithmetic.INTERVAL}


def mean_ci(frame: Frame, by: Sequence[str], value: str = "value", level: float = 0.95) -> Frame:
    """Return mean and Student-t interval of `value` per group: columns runs, mean, sd, ci_low and ci_high."""
    intervals = partial(_intervals, by=by, value=value, level=level)
    return together(frame[[*by, value]], by, intervals, [*by, *_INTERVAL], _INTERVAL)


def _intervals(frame: pd.DataFrame, by: Sequence[str], value: str, level: float) -> pd.DataFrame:
    keys, lists = groups(frame, by, value)
    found = [arithmetic.interval(values, level) for values in lists]
    return keys.join(pd.DataFrame(found, columns=list(_INTERVAL), dtype=float).astype({"runs": "int64"}))


def groups(frame: pd.DataFrame, by: Sequence[str], value: str) -> tuple[pd.DataFrame, list[list[float]]]:
    """Return the keys of each group of rows, in order, and its values. Rows without a key form a group, too."""
    number = frame.groupby(list(by), dropna=False).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    begins = np.flatnonzero(np.diff(number[order], prepend=-1))
    values = frame[value].to_numpy(float)[order].tolist()
    ends = [*begins[1:].tolist(), len(values)]
    lists = [values[begin:end] for begin, end in zip(begins.tolist(), ends, strict=False)]
    return frame[list(by)].iloc[order[begins]].reset_index(drop=True), lists


def group_means(frame: Frame, by: Sequence[str], value: str = "value") -> Frame:
    """Return number and mean of the finite values per group, correctly rounded: columns rows, mean."""
    return _means(each_part(frame[[*by, value]], partial(_partial_sums, by=by, value=value), *_sums(by)), by)


def _sums(by: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    return [*by, "rows", "part"], {"bin": INTEGER, "rows": INTEGER, "part": REAL}


def _partial_sums(frame: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Return for each group a few numbers (`part`) whose sum is exactly the sum of its finite values.

    `rows` is the number of these values in the first row of a group, and 0 in its other rows.
    """
    keys, lists = groups(frame[np.isfinite(frame[value].to_numpy(float))], by, value)
    parts = [arithmetic.parts(values) for values in lists]
    number = np.repeat(np.arange(len(parts)), [len(one) for one in parts])
    counts = np.array([len(values) for values in lists], np.int64)[number]
    counts[np.diff(number, prepend=-1) == 0] = 0
    return keys.iloc[number].assign(rows=counts, part=[part for one in parts for part in one])


def _means(sums: Frame, by: Sequence[str]) -> Frame:
    return together(sums, by, partial(_total, by=by), [*by, "rows", "mean"], {"rows": INTEGER, "mean": REAL})


def _total(sums: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    keys, parts = groups(sums, by, "part")
    rows = [int(sum(counts)) for counts in groups(sums, by, "rows")[1]]
    means = [arithmetic.total(one) / count for one, count in zip(parts, rows, strict=True)]
    return keys.assign(rows=np.array(rows, np.int64), mean=np.array(means, float))


def time_series(samples: Frame, by: Sequence[str], width_ps: int, level: float = 0.95, run: str = "run_id") -> Frame:
    """Return means over time: the mean of each run in each bin of simulated time, then mean and interval over runs.

    The column `bin` counts the bins, each of `width_ps`, from time 0.
    """
    keys = [*by, "bin", run]
    binned = partial(_binned_sums, by=keys, width_ps=width_ps)
    sums = each_part(samples[[*by, run, "time_raw", "time_exp", "value"]], binned, *_sums(keys))
    return mean_ci(_means(sums, keys), [*by, "bin"], "mean", level)


def _binned_sums(samples: pd.DataFrame, by: Sequence[str], width_ps: int) -> pd.DataFrame:
    times = times_ps(samples)
    bins = (times if width_ps <= _LARGEST else times.astype(object)) // width_ps
    return _partial_sums(samples.assign(bin=bins.astype(np.int64)), by, "value")


def times_ps(samples: pd.DataFrame) -> np.ndarray:
    """Return the times as whole picoseconds; finer times are truncated.

    64 bits hold 106 days in picoseconds. If any time is later, all are returned as Python's integers.
    """
    raw, exponent = samples["time_raw"].to_numpy(np.int64), samples["time_exp"].to_numpy(np.int64)
    coarser, finer = np.maximum(exponent + 12, 0), np.maximum(-12 - exponent, 0)
    longest = _LARGEST // 10 ** np.minimum(coarser, 18)
    if (np.maximum(coarser, finer) > 18).any() or (raw > longest).any() or (raw < -longest).any():
        raw, coarser, finer = raw.astype(object), coarser.astype(object), finer.astype(object)
    return raw // 10**finer * 10**coarser


def last_ps(samples: Frame) -> int:
    """Return the latest time, 0 where there are no samples."""
    last = in_memory(samples.groupby("time_exp").agg({"time_raw": "max"}))
    last = last if "time_exp" in last else last.reset_index()  # Spark has keys as columns, pandas has them as the index
    return max(map(int, times_ps(last.set_axis(["time_exp", "time_raw"], axis=1))), default=0)
