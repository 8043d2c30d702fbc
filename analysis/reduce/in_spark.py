"""The reductions on Spark DataFrames of any size. `in_pandas` has the same functions and answers.

Spark adds doubles in whatever order rows arrive, which changes the last bits from run to run. Here sums over many rows
are made of whole numbers per binary exponent (`group_means`), and sums over few go through a list: both are correctly
rounded, so the answer is the same bit for bit on any number of workers.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, LongType, StructField, StructType

from causeway.analysis.reduce import arithmetic
from causeway.analysis.reduce.in_pandas import ORDER, in_order

_INTERVAL = StructType(
    [StructField("runs", LongType())] + [StructField(name, DoubleType()) for name in arithmetic.INTERVAL[1:]]
)


def with_time(samples: DataFrame) -> DataFrame:
    """Samples with `time_ps`, whole picoseconds (finer times are cut). Nearly all are given so: powers and
    divisions are for the others."""
    in_ps = F.col("time_exp") == -12
    finer = F.expr("cast(pow(10, greatest(-12 - time_exp, 0)) as bigint)")
    whole = _floor_divide(F.col("time_raw"), finer)
    if _has_long_times(samples):
        coarse = whole.cast("double") * F.expr("pow(10D, greatest(time_exp + 12, 0))")
        return samples.withColumn("time_ps", F.when(in_ps, F.col("time_raw").cast("double")).otherwise(coarse))
    coarse = whole * F.expr("cast(pow(10, greatest(time_exp + 12, 0)) as bigint)")
    return samples.withColumn("time_ps", F.when(in_ps, F.col("time_raw")).otherwise(coarse))


def _has_long_times(samples: DataFrame) -> bool:
    """Whether 64 bits of picoseconds do not hold every time. Looks at exponents first: they cost little."""
    coarse = samples.where("time_exp > -12")
    if coarse.isEmpty():
        return False
    longest = F.expr("9223372036854775807 div cast(pow(10, least(time_exp + 12, 18)) as bigint)")
    return not coarse.where((F.col("time_exp") > 6) | (F.abs("time_raw") > longest)).isEmpty()


def _joined(left: DataFrame, right: DataFrame, by: Sequence[str]) -> DataFrame:
    """An inner join to a small frame in which a missing key equals a missing key, as it does in a group."""
    renamed = right.select(*(F.col(name).alias(f"_r_{name}" if name in by else name) for name in right.columns))
    same = [F.col(name).eqNullSafe(F.col(f"_r_{name}")) for name in by]
    return left.join(F.broadcast(renamed), same).drop(*(f"_r_{name}" for name in by))


def _floor_divide(a: Column, b: Column | int) -> Column:
    """Whole division downwards; `div` alone goes towards zero."""
    b = F.lit(b) if isinstance(b, int) else b
    return F.call_function("div", a - F.pmod(a, b), b)


def mean_ci(frame: DataFrame, by: Sequence[str], value: str = "value", level: float = 0.95) -> DataFrame:
    """Mean and Student-t interval of `value` per group: columns runs, mean, sd, ci_low, ci_high. One value a run: a
    group's values are held as one list."""

    @F.pandas_udf(_INTERVAL)  # type: ignore[call-overload, attr-defined]
    def interval(lists: pd.Series) -> pd.DataFrame:
        return pd.DataFrame([arithmetic.interval(values, level) for values in lists], columns=arithmetic.INTERVAL)

    lists = frame.groupBy(*by).agg(F.collect_list(value).alias("_values"))
    return lists.select(*by, interval("_values").alias("_i")).select(*by, "_i.*")


def group_means(frame: DataFrame, by: Sequence[str], value: str = "value") -> DataFrame:
    """Number and mean of the finite values per group, correctly rounded: columns rows, mean.

    Values are sorted into scales, each 2**30 wide. Divided by its scale a value is below 2**30 and has no bit beyond
    2**-54, so it is three whole numbers: what is before the point, and twice 27 bits behind it. Those are summed as
    64-bit integers, which is exact for 2**33 rows; the few sums left are put together without rounding.
    """
    finite = F.col(value).isNotNull() & ~F.isnan(value) & (F.abs(value) != float("inf"))
    known = frame.where(finite).select(*by, F.col(value).alias("_v"), _root(F.abs(value)).alias("_root"))
    scaled = known.select(*by, "_root", (F.col("_v") * F.col("_root") * F.col("_root")).alias("_x"))
    whole = F.floor("_x")
    upper = (F.col("_x") - whole) * 2.0**27
    lower = (upper - F.floor(upper)) * 2.0**27
    digits = {"_a": whole, "_b": F.floor(upper), "_c": lower}
    sums = [F.sum(digit.cast("bigint")).alias(name) for name, digit in digits.items()]
    scales = scaled.groupBy(*by, "_root").agg(F.count(F.lit(1)).alias("_n"), *sums)
    parts = F.collect_list(F.struct("_root", "_a", "_b", "_c")).alias("_parts")
    whole_groups = scales.groupBy(*by).agg(F.sum("_n").alias("rows"), parts)
    return whole_groups.select(*by, "rows", (_total("_parts") / F.col("rows")).alias("mean"))


def _root(size: Column) -> Column:
    """A power of two whose square brings a value of this size between 1 and 2**30. (The square may overflow alone.)"""
    chosen = F.when(size == 0, 1.0)
    for scale in (-1, 0, -2, 1, -3, 2):  # nearly all values; the others cost a logarithm
        inside = (size >= 2.0 ** (30 * scale)) & (size < 2.0 ** (30 * scale + 30))
        chosen = chosen.when(inside, F.lit(2.0 ** (-15 * scale)))
    return chosen.otherwise(F.pow(F.lit(2.0), F.lit(-15) * F.floor(F.log2(size) / 30)))


@F.pandas_udf(DoubleType())  # type: ignore[call-overload, attr-defined]
def _total(groups: pd.Series) -> pd.Series:
    sums = [[tuple(part[name] for name in ("_root", "_a", "_b", "_c")) for part in parts] for parts in groups]
    return pd.Series(np.array([arithmetic.exact_total(parts) for parts in sums], np.float64))


def percentiles(frame: DataFrame, by: Sequence[str], levels: Sequence[float], value: str = "value") -> DataFrame:
    """Exact percentiles per group, a row each: columns level (0 to 100), percentile. Sorts, so memory is bounded."""
    known = frame.where(F.col(value).isNotNull() & ~F.isnan(value))
    counts = known.groupBy(*by).agg(F.count(F.lit(1)).alias("_n"))
    wanted = counts.withColumn("level", F.explode(F.array(*(F.lit(float(level)) for level in levels))))
    wanted = wanted.withColumn("_place", F.col("level") / 100 * (F.col("_n") - 1))
    wanted = wanted.withColumn("_below", F.floor("_place")).withColumn("_at", F.col("_place") - F.col("_below"))
    ends = wanted.withColumn("_rank", F.explode(F.array("_below", F.least(F.col("_below") + 1, F.col("_n") - 1))))
    ranked = known.select(
        *by, F.col(value).alias("_v"), (F.row_number().over(Window.partitionBy(*by).orderBy(value)) - 1).alias("_rank")
    )
    found = _joined(ranked, ends.drop("_n"), [*by, "_rank"]).groupBy(*by, "level", "_at")
    ends_found = found.agg(F.min("_v").alias("_low"), F.max("_v").alias("_high"))
    return ends_found.select(*by, "level", _interpolated(F.col("_low"), F.col("_high"), F.col("_at")))


def _interpolated(low: Column, high: Column, fraction: Column) -> Column:
    """`arithmetic.interpolated`."""
    infinite = float("inf")
    width, half = high - low, F.lit(2.0)
    found = F.when((fraction == 0.0) | (low == high), low)
    found = found.when((F.abs(high) == infinite) & (F.abs(low) == infinite), F.lit(float("nan")))
    found = found.when(F.abs(high) == infinite, high).when(F.abs(low) == infinite, low)
    found = found.when(F.abs(width) == infinite, (low / half + (high / half - low / half) * fraction) * half)
    return found.otherwise(low + width * fraction).alias("percentile")


def numbered(scalars: DataFrame) -> DataFrame:
    """Scalars in which a name that a module of a run has more than once becomes `name`, `name #2`, `name #3`, ..."""
    same = Window.partitionBy("run_id", "module", "name").orderBy("position", "value")
    number = F.row_number().over(same)
    return scalars.withColumn("_n", number).withColumn(
        "name", F.when(F.col("_n") == 1, F.col("name")).otherwise(F.concat("name", F.lit(" #"), "_n"))
    ).drop("_n")  # fmt: skip


def histogram(
    frame: DataFrame, by: Sequence[str], low: float, width: float, bins: int, value: str = "value"
) -> DataFrame:
    """Counts per group and bin: bin -1 holds what is below `low`, bin `bins` what is not below the last edge."""
    known = frame.where(F.col(value).isNotNull() & ~F.isnan(value))
    place = (F.col(value) - F.lit(float(low))) / F.lit(float(width))
    clipped = F.floor(F.greatest(F.lit(-1.0), F.least(F.lit(float(bins)), place)))
    return known.groupBy(*by, clipped.cast("bigint").alias("bin")).agg(F.count(F.lit(1)).alias("rows"))


def time_series(
    samples: DataFrame, by: Sequence[str], width_ps: int, level: float = 0.95, run: str = "run_id"
) -> DataFrame:
    """Means over time: each run's mean per bin of simulated time first, then mean and interval over the runs."""
    timed = with_time(samples)
    start = F.col("time_ps") - F.pmod(F.col("time_ps"), F.lit(width_ps))
    if isinstance(timed.schema["time_ps"].dataType, DoubleType):
        start = F.floor(F.col("time_ps") / F.lit(float(width_ps))).cast("double") * F.lit(float(width_ps))
    binned = timed.withColumn("start_ps", start)
    return mean_ci(group_means(binned, [*by, "start_ps", run]), [*by, "start_ps"], "mean", level)


def batch_means(samples: DataFrame, by: Sequence[str], batches: int = 30, level: float = 0.95) -> DataFrame:
    """An interval from one run: its samples in order of time, in equal batches whose means count as observations."""

    def cut(key: tuple[Any, ...], ordered: pd.DataFrame) -> list[tuple[Any, ...]]:
        means = arithmetic.batch_means(ordered["value"].to_numpy(np.float64), batches)
        return [(*key, *arithmetic.interval(means, level))] if means else []

    return _each_series(samples, by, cut, lambda kind: _INTERVAL.fields)


def warmup(samples: DataFrame, by: Sequence[str]) -> DataFrame:
    """Per series, where its steady state begins (MSER-5): columns dropped (samples before it), from_ps."""

    def cut(key: tuple[Any, ...], ordered: pd.DataFrame) -> list[tuple[Any, ...]]:
        dropped = arithmetic.warmup_rows(ordered["value"].to_numpy(np.float64))
        return [(*key, dropped, ordered["time_ps"].iloc[dropped])]

    return _each_series(
        samples, by, cut, lambda kind: [StructField("dropped", LongType()), StructField("from_ps", kind)]
    )


def _each_series(
    samples: DataFrame,
    by: Sequence[str],
    cut: Callable[[tuple[Any, ...], pd.DataFrame], list[tuple[Any, ...]]],
    columns: Callable[[DataType], list[StructField]],
) -> DataFrame:
    """The rows that `cut` makes of each series, in order of time.

    A series is held in memory whole, by the task that looks at it: 24 bytes a sample. It comes from few files, in which
    its samples lie in order, so nothing is sorted as a rule: a window of Spark's would sort every time.
    """
    timed = with_time(samples)
    keys = [samples.schema[name] for name in by]
    form = StructType([*keys, *columns(timed.schema["time_ps"].dataType)])

    def of_one(key: tuple[Any, ...], group: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(cut(key, in_order(group)), columns=form.names)

    return timed.select(*by, *ORDER).groupBy(*by).applyInPandas(of_one, form)


def steady(samples: DataFrame, by: Sequence[str]) -> DataFrame:
    """The samples without each series' warm-up."""
    joined = _joined(with_time(samples), warmup(samples, by), list(by))
    return joined.where(F.col("time_ps") >= F.col("from_ps")).drop("dropped", "from_ps")
