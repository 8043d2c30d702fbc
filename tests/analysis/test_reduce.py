"""Reductions over runs: the arithmetic against what is known, and Spark against pandas."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from causeway.analysis.reduce import arithmetic, expression, means
from causeway.analysis.reduce.scalars import numbered, run_values
from causeway.errors import UserError


def samples(runs: int = 3, rows: int = 700, seed: int = 2) -> pd.DataFrame:
    """Return series that start high and settle, with unordered times and a few missing values."""
    draw = np.random.default_rng(seed)
    parts = []
    for run in range(runs):
        time = np.sort(draw.integers(0, 10**12, rows))
        value = 10 * np.exp(-np.arange(rows) / 60) + draw.normal(0, 1, rows) * 10.0 ** draw.integers(-8, 3, rows)
        value[draw.integers(0, rows, 3)] = np.nan
        parts.append(pd.DataFrame({
            "run_id": f"r{run}", "vector_id": 0, "event": pd.array(np.arange(rows), "Int64"), "time_raw": time,
            "time_exp": np.int8(-12), "value": value,
        }))  # fmt: skip
    return pd.concat(parts).sample(frac=1, random_state=seed).reset_index(drop=True)


def test_an_interval_is_students(tmp_path):
    values = [3.1, 2.9, 3.6, 3.3, 2.2]
    runs, mean, sd, low, high = arithmetic.interval(values)
    expected = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert runs == 5 and sd == pytest.approx(np.std(values, ddof=1))
    assert (mean, low, high) == pytest.approx((np.mean(values), *expected))


def test_a_normal_quantile_would_be_caught():
    """The same check with 1.96 in place of Student's quantile fails."""
    values = [3.1, 2.9, 3.6, 3.3, 2.2]
    _, mean, sd, low, _ = arithmetic.interval(values)
    assert mean - low != pytest.approx(1.96 * sd / math.sqrt(5), rel=0.05)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@example([1.7e308, 1.7e308, -1.7e308])
@example([1e308, 1.0, 5e-324, -1e308])
@example([-0.0])
def test_parts_have_the_exact_sum(values):
    assert sum(map(Fraction, arithmetic.parts(values))) == sum(map(Fraction, values))


def test_many_values_have_few_parts():
    values = np.random.default_rng(3).exponential(1.0, 10_000).tolist()
    assert len(arithmetic.parts(values)) <= 3


def test_infinities_of_both_signs_have_no_sum():
    assert math.isnan(arithmetic.total([math.inf, 1.0, -math.inf]))
    assert arithmetic.interval([1.7e308, 1.7e308, -math.inf])[1] == -math.inf


def test_about_95_of_100_intervals_hold_the_true_mean():
    draw = np.random.default_rng(11)
    hits = sum(low <= 5 <= high for _, _, _, low, high in map(arithmetic.interval, draw.normal(5, 2, (4000, 4))))
    assert abs(hits / 4000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4000)


def test_one_run_has_a_mean_and_no_interval():
    runs, mean, *rest = arithmetic.interval([4.0])
    assert (runs, mean) == (1, 4.0) and all(map(math.isnan, rest))


def test_missing_values_are_left_out():
    assert arithmetic.interval([1.0, None, math.nan, 3.0])[:2] == (2, 2.0)
    assert arithmetic.interval([])[0] == 0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e160])
def test_the_deviation_of_very_large_and_very_small_values_is_not_lost(scale):
    deviation = arithmetic.interval([1.0 * scale, 2.0 * scale, 3.0 * scale])[2]
    assert math.isclose(deviation, scale, rel_tol=1e-12)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20), st.randoms())
@example([0.0, 0.0, 2.8442255724327534e154], Random(1))
@example([1.7e308, 1.7e308, -1.7e308], Random(1))
def test_the_order_of_the_runs_does_not_matter(values, random):
    shuffled = values.copy()
    random.shuffle(shuffled)
    assert str(arithmetic.interval(values)) == str(arithmetic.interval(shuffled))


def test_time_series_weight_runs_equally_for_any_number_of_samples():
    frame = pd.DataFrame({
        "run_id": ["a", "a", "a", "b"], "time_raw": [0, 1, 11, 2], "time_exp": [-12] * 4, "value": [1.0, 3.0, 7.0, 4.0],
    })  # fmt: skip
    found = means.time_series(frame.assign(study="s"), ["study"], 10)
    assert found[["bin", "runs", "mean"]].values.tolist() == [[0, 2, 3.0], [1, 1, 7.0]]


def test_times_of_any_exponent_become_picoseconds():
    frame = pd.DataFrame({"time_raw": [5, -5, 1999, -1999], "time_exp": [-9, -9, -15, -15]})
    assert means.times_ps(frame).tolist() == [5000, -5000, 1, -2]
    assert means.last_ps(frame) == 5000


@pytest.mark.parametrize("exponent", [0, 7, 20])
def test_times_beyond_106_days_are_whole_picoseconds_too(exponent):
    frame = pd.DataFrame({"time_raw": [10**10 + 1, 5, 7], "time_exp": [exponent, -9, -40]})
    assert means.times_ps(frame).tolist() == [(10**10 + 1) * 10 ** (exponent + 12), 5000, 0]
    assert means.last_ps(frame) == (10**10 + 1) * 10 ** (exponent + 12)


def test_no_samples_end_at_0():
    assert means.last_ps(samples().head(0)) == 0


def years() -> pd.DataFrame:
    """Return samples of four years at a resolution of nanoseconds."""
    draw = np.random.default_rng(4)
    return pd.DataFrame({
        "run_id": np.repeat(["a", "b"], 200), "vector_id": 0, "event": pd.array([None] * 400, "Int64"),
        "time_raw": draw.integers(0, 4 * 365 * 86400 * 10**9, 400), "time_exp": np.int8(-9),
        "value": draw.normal(0, 1, 400),
    })  # fmt: skip


def test_series_of_years_are_binned():
    width = 30 * 86400 * 10**12
    found = means.time_series(years().assign(study="s"), ["study"], width)
    assert found["bin"].tolist() == list(range(49))


def test_bins_may_be_wider_than_64_bits_of_picoseconds():
    frame = pd.DataFrame({"run_id": "a", "time_raw": [5, 10**9], "time_exp": [0, 0], "value": [1.0, 3.0], "study": "s"})
    assert means.time_series(frame, ["study"], 2**64)[["bin", "mean"]].values.tolist() == [[0, 1.0], [54, 3.0]]


def odd_groups() -> pd.DataFrame:
    """Return groups without a key, and infinite values."""
    return pd.DataFrame({
        "g": ["a", None, "a", None, "b", "b", "b", "c", "c", "d", "d"],
        "value": [1.0, 2.0, 3.0, 4.0, -math.inf, 5.0, math.inf, 1.0, math.inf, -math.inf, math.inf],
    })  # fmt: skip


def test_a_group_without_a_key_is_a_group():
    frame = odd_groups()
    found = means.mean_ci(frame, ["g"]).set_index("g")
    assert found["runs"].tolist() == [2, 3, 2, 2, 2] and found[found.index.isna()]["mean"].item() == 3.0
    assert means.group_means(frame, ["g"])["rows"].tolist() == [2, 1, 1, 2]


def test_scalars_of_one_name_are_numbered():
    frame = pd.DataFrame({
        "run_id": ["r"] * 4, "module": ["m"] * 4, "name": ["x", "y", "x", "x"], "value": [3.0, 1.0, 1.0, 2.0],
        "position": [5, 1, 0, 9],
    })  # fmt: skip
    assert numbered(frame)["name"].tolist() == ["x #2", "y", "x", "x #3"]


def test_expressions_are_arithmetic():
    values = {"requests": 12.0, "messages": 3.0, "processes": 2.0}
    assert expression.evaluate("requests/(messages*processes)-1", values.__getitem__, lambda a, b: a / b) == 1.0
    assert expression.names("requests/(messages*processes)") == ["messages", "processes", "requests"]


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b", "a[0]", "a if b else c", "a %", "b'x'", "a // b", "f(a)", ""]
)
def test_expressions_are_nothing_else(text):
    with pytest.raises(UserError):
        expression.parse(text)


# --- Spark against pandas ---


def assert_same(reduction: Callable[[Any], Any], frame: pd.DataFrame, spark: Any, by: Sequence[str]) -> None:
    """Check that a reduction returns the same rows for a pandas frame and a Spark frame, with equal bits."""
    here = reduction(frame)
    there = reduction(spark.createDataFrame(frame).repartition(7)).toPandas()[list(here.columns)]
    first, second = (one.sort_values(list(by)).reset_index(drop=True) for one in (here, there))
    for column in by:
        assert first[column].isna().tolist() == second[column].isna().tolist()
    pd.testing.assert_frame_equal(second, first, check_dtype=False, check_exact=True)


def drawn(seed: int, rows: int = 1500) -> pd.DataFrame:
    """Draw rows with missing keys, values of all magnitudes, NaN, infinities and ties, for scalars and samples."""
    draw = np.random.default_rng(seed)
    value = draw.normal(0, 1, rows) * 2.0 ** draw.integers(-1074, 960, rows)
    value[draw.integers(0, rows, 300)] = draw.choice([0.0, -0.0, 1.0, 5e-324, math.inf, -math.inf, math.nan], 300)
    texts = {
        "g": ["a", "b", None],
        "run_id": ["r0", "r1", "r2"],
        "module": ["run", "m", "n"],
        "name": ["x", "y", "z.w"],
    }
    return pd.DataFrame({
        **{name: draw.choice(np.array(some, object), rows) for name, some in texts.items()},
        "position": pd.array(draw.choice([*range(rows), None], rows), "Int64"), "value": value,
        "time_raw": draw.integers(-(10**9), 10**15, rows),
        "time_exp": draw.choice(np.array([-15, -12, -9, 6 if seed % 2 else -3], np.int8), rows),
    })  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("seed", [1, 2])
def test_spark_gives_the_same_for_drawn_tables(spark, seed):
    frame = drawn(seed)
    assert_same(lambda f: means.mean_ci(f, ["g", "name"]), frame, spark, ["g", "name"])
    assert_same(lambda f: means.group_means(f, ["g", "run_id"]), frame, spark, ["g", "run_id"])
    width = -(-means.last_ps(frame) // 20)
    assert means.last_ps(frame) == means.last_ps(spark.createDataFrame(frame))
    assert_same(lambda f: means.time_series(f, ["g"], width), frame, spark, ["g", "bin"])
    names = {"x", "y", "m.z.w", "**.z.w", "*.nothing"}
    assert_same(lambda f: run_values(f, names), frame, spark, ["run_id", "name"])
    assert_same(lambda f: run_values(f, {"x", "y"}), frame, spark, ["run_id", "name"])
    assert_same(numbered, frame.drop(columns="g"), spark, ["run_id", "module", "name"])


@pytest.mark.spark
def test_spark_gives_the_same_where_there_are_no_rows(spark):
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    schema = StructType([StructField("g", StringType()), StructField("value", DoubleType())])
    for reduction in (means.mean_ci, means.group_means):
        none = reduction(pd.DataFrame({"g": pd.Series([], dtype=object), "value": pd.Series([], dtype=float)}), ["g"])
        there = reduction(spark.createDataFrame([], schema), ["g"]).toPandas()
        assert none.empty and there.empty and list(none.columns) == list(there.columns)


@pytest.mark.spark
def test_a_plain_spark_sum_would_be_caught(spark):
    """The check above compares all bits, so that an ordinary average fails."""
    from pyspark.sql import functions as F

    draw = np.random.default_rng(7)
    frame = pd.DataFrame({"g": 0, "value": draw.normal(0, 1, 4000) * 10.0 ** draw.integers(-20, 20, 4000)})

    def plain(rows: Any) -> Any:
        if isinstance(rows, pd.DataFrame):
            return means.group_means(rows, ["g"])
        return rows.groupBy("g").agg(F.count("value").alias("rows"), F.avg("value").alias("mean"))

    with pytest.raises(AssertionError):
        assert_same(plain, frame, spark, ["g"])


@pytest.mark.spark
def test_a_session_handed_in_keeps_its_settings(spark, tmp_path):
    """Our time zone and shuffle partitions apply to our own queries only."""
    from causeway.analysis import report, store
    from causeway.analysis.spark import session
    from tests.analysis.test_store import tables

    store.write_run(tmp_path, tables("one"))
    theirs = spark.newSession()
    for name, value in (
        settings := {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.shuffle.partitions": "7"}
    ).items():
        theirs.conf.set(name, value)
    report.write(tmp_path, master=theirs)
    assert {name: theirs.conf.get(name) for name in settings} == settings
    assert session(theirs).conf.get("spark.sql.session.timeZone") == "UTC"
    assert session(theirs) is not theirs and session(theirs).sparkContext is theirs.sparkContext
