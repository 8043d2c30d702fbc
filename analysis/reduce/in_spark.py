"""The reductions on Spark DataFrames of any size. `in_pandas` has the same functions and answers.

Spark adds doubles in whatever order rows arrive, which changes the last bits from run to run. Here sums over many rows
are made of whole numbers per binary exponent (`group_means`), and sums over few go through a list: both are correctly
rounded, so the answer is the same bit for bit on any number of workers.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from causeway.analysis.reduce import arithmetic

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


def numbered(scalars: DataFrame) -> DataFrame:
    """Scalars in which a name that a module of a run has more than once becomes `name`, `name #2`, `name #3`, ..."""
    same = Window.partitionBy("run_id", "module", "name").orderBy("position", "value")
    number = F.row_number().over(same)
    return scalars.withColumn("_n", number).withColumn(
        "name", F.when(F.col("_n") == 1, F.col("name")).otherwise(F.concat("name", F.lit(" #"), "_n"))
    ).drop("_n")  # fmt: skip


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
