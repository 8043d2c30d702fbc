"""Reductions over runs: the arithmetic against what is known, and Spark against pandas."""

import math
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from causeway.analysis.reduce import arithmetic, expression, in_pandas
from causeway.bridge.errors import UserError


def scalars(groups: int = 3, runs: int = 8, seed: int = 1) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    value = draw.lognormal(0, 3, groups * runs)
    return pd.DataFrame({"point": np.repeat([f"p{i}" for i in range(groups)], runs), "value": value})


def samples(runs: int = 3, rows: int = 700, seed: int = 2) -> pd.DataFrame:
    """Series that start high and settle, times not in order, a few values missing."""
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


def test_time_series_means_runs_equally_whatever_their_sample_counts():
    frame = pd.DataFrame({
        "run_id": ["a", "a", "a", "b"], "time_raw": [0, 1, 11, 2], "time_exp": [-12] * 4, "value": [1.0, 3.0, 7.0, 4.0],
    })  # fmt: skip
    found = in_pandas.time_series(frame.assign(study="s"), ["study"], 10)
    assert found[["start_ps", "runs", "mean"]].values.tolist() == [[0, 2, 3.0], [10, 1, 7.0]]


def test_times_of_any_exponent_become_picoseconds():
    frame = pd.DataFrame({"time_raw": [5, -5, 1999, -1999], "time_exp": [-9, -9, -15, -15]})
    assert in_pandas.with_time(frame).time_ps.tolist() == [5000, -5000, 1, -2]


def test_times_beyond_106_days_are_doubles():
    frame = pd.DataFrame({"time_raw": [10**10, 5], "time_exp": [0, -9]})
    assert in_pandas.with_time(frame).time_ps.tolist() == [1e22, 5000.0]


def years() -> pd.DataFrame:
    """Samples of four years at a resolution of nanoseconds."""
    draw = np.random.default_rng(4)
    return pd.DataFrame({
        "run_id": np.repeat(["a", "b"], 200), "vector_id": 0, "event": pd.array([None] * 400, "Int64"),
        "time_raw": draw.integers(0, 4 * 365 * 86400 * 10**9, 400), "time_exp": np.int8(-9),
        "value": draw.normal(0, 1, 400),
    })  # fmt: skip


def test_series_of_years_are_binned():
    width = 30 * 86400 * 10**12
    found = in_pandas.time_series(years().assign(study="s"), ["study"], width)
    assert len(found) == 49 and found["start_ps"].max() == 48.0 * width


def odd_groups() -> pd.DataFrame:
    """Groups without a key, and values that are infinite."""
    return pd.DataFrame({
        "g": ["a", None, "a", None, "b", "b", "b", "c", "c", "d", "d"],
        "value": [1.0, 2.0, 3.0, 4.0, -math.inf, 5.0, math.inf, 1.0, math.inf, -math.inf, math.inf],
    })  # fmt: skip


def test_a_group_without_a_key_is_a_group():
    frame = odd_groups()
    found = in_pandas.mean_ci(frame, ["g"]).set_index("g")
    assert found["runs"].tolist() == [2, 3, 2, 2, 2] and found.loc[np.nan, "mean"].item() == 3.0
    assert in_pandas.group_means(frame, ["g"])["rows"].tolist() == [2, 1, 1, 2]


def test_scalars_of_one_name_are_numbered():
    frame = pd.DataFrame({
        "run_id": ["r"] * 4, "module": ["m"] * 4, "name": ["x", "y", "x", "x"], "value": [3.0, 1.0, 1.0, 2.0],
        "position": [5, 1, 0, 9],
    })  # fmt: skip
    assert in_pandas.numbered(frame)["name"].tolist() == ["x #2", "y", "x", "x #3"]


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


def assert_same(spark_frame, pandas_frame, by) -> None:
    """The two frames hold the same rows, the numbers bit for bit."""
    ours = spark_frame.toPandas().sort_values(list(by)).reset_index(drop=True)[list(pandas_frame.columns)]
    theirs = pandas_frame.sort_values(list(by)).reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, check_exact=True)


def spread(spark, frame, parts: int = 7):
    return spark.createDataFrame(frame).repartition(parts)


@pytest.mark.spark
def test_spark_gives_the_same_intervals(spark):
    frame = scalars()
    from causeway.analysis.reduce import in_spark

    assert_same(in_spark.mean_ci(spread(spark, frame), ["point"]), in_pandas.mean_ci(frame, ["point"]), ["point"])


@pytest.mark.spark
def test_spark_sums_are_correctly_rounded_for_every_magnitude(spark):
    from causeway.analysis.reduce import in_spark

    draw = np.random.default_rng(6)
    value = draw.normal(0, 1, 4000) * 2.0 ** draw.integers(-1074, 960, 4000)
    value[:7] = [5e-324, -5e-324, 0.0, -0.0, np.inf, np.nan, 2.0**1000]
    frame = pd.DataFrame({"g": draw.integers(0, 3, 4000), "value": value})
    assert_same(in_spark.group_means(spread(spark, frame), ["g"]), in_pandas.group_means(frame, ["g"]), ["g"])


@pytest.mark.spark
def test_a_plain_spark_sum_would_be_caught(spark):
    """The check above sees the last bits: an ordinary average fails it."""
    from pyspark.sql import functions as F

    draw = np.random.default_rng(7)
    frame = pd.DataFrame({"g": 0, "value": draw.normal(0, 1, 4000) * 10.0 ** draw.integers(-20, 20, 4000)})
    plain = spread(spark, frame).groupBy("g").agg(F.count("value").alias("rows"), F.avg("value").alias("mean"))
    with pytest.raises(AssertionError):
        assert_same(plain, in_pandas.group_means(frame, ["g"]), ["g"])


@pytest.mark.spark
def test_spark_gives_the_same_series(spark):
    from causeway.analysis.reduce import in_spark

    frame = samples().assign(study="s")
    there, width = spread(spark, frame), 10**11
    assert_same(
        in_spark.time_series(there, ["study"], width), in_pandas.time_series(frame, ["study"], width), ["start_ps"]
    )


@pytest.mark.spark
def test_spark_gives_the_same_for_keys_that_are_missing_infinities_and_years(spark):
    from causeway.analysis.reduce import in_spark

    odd = odd_groups()
    there = spread(spark, odd)
    for name in ("mean_ci", "group_means"):
        assert_same(getattr(in_spark, name)(there, ["g"]), getattr(in_pandas, name)(odd, ["g"]), ["g"])
    late = years().assign(study=None)
    there = spread(spark, late.assign(study="x")).selectExpr("*", "cast(null as string) as s2").drop("study")
    late = late.rename(columns={"study": "s2"})
    width = 30 * 86400 * 10**12
    assert_same(in_spark.time_series(there, ["s2"], width), in_pandas.time_series(late, ["s2"], width), ["start_ps"])


@pytest.mark.spark
def test_spark_numbers_scalars_of_one_name(spark):
    from causeway.analysis.reduce import in_spark

    frame = pd.DataFrame({
        "run_id": ["r"] * 4, "module": ["m"] * 4, "name": ["x", "y", "x", "x"], "value": [3.0, 1.0, 1.0, 2.0],
        "position": [5, 1, 0, 9],
    })  # fmt: skip
    assert_same(in_spark.numbered(spread(spark, frame)), in_pandas.numbered(frame), ["position"])


@pytest.mark.spark
def test_a_session_handed_in_keeps_its_settings(spark, tmp_path):
    """Time zone and shuffle partitions are of queries of ours only."""
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
