"""Operations on series: computed by hand, and compared with omnetpp.scave if OMNeT++ is installed."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.errors import UserError
from causeway.results import Series
from tests.helpers.omnetpp_tools import environment, need_home

OPERATIONS = [
    "mean()", "crop(2, 6)", "diffquot()", "integrate()", "integrate('linear')", "integrate('backward-sample-hold')",
    "timeavg('sample-hold')", "timeavg('linear')", "movingavg(0.3)", "timewinavg(2)", "timewinthruput(2)", "winavg(3)",
]  # fmt: skip
TIMES = [0.0, 0.5, 1.0, 2.5, 2.75, 4.0, 7.25, 7.5, 9.0, 9.5, 12.0]
VALUES = [1.0, 1.0, 5.0, 4.0, -2.0, -2.0, 8.0, 3.0, 3.0, 0.0, 6.0]

THEIRS = """
import json, sys, types
needed = types.ModuleType("pkg_resources")  # it only looks whether pandas is new enough
needed.parse_requirements, needed.working_set = lambda text: [], types.SimpleNamespace(resolve=lambda given: [])
needed.DistributionNotFound = needed.VersionConflict = ImportError
sys.modules["pkg_resources"] = needed
import numpy as np
from omnetpp.scave import vectorops
out = {}
for operation in json.loads(sys.argv[1]):
    row = {"vectime": np.array(json.loads(sys.argv[2])), "vecvalue": np.array(json.loads(sys.argv[3]))}
    row = eval("vectorops." + operation.replace("(", "(row, ", 1))
    out[operation] = [list(map(float, row["vectime"])), list(map(float, row["vecvalue"]))]
print(json.dumps(out))
"""


def series() -> Series:
    return Series(np.array(TIMES), np.array(VALUES), "x", "m")


@pytest.mark.omnet
def test_every_operation_is_that_of_omnetpp() -> None:
    root = need_home()
    given = [json.dumps(what) for what in (OPERATIONS, TIMES, VALUES)]
    theirs = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", THEIRS, *given], env=environment(root), capture_output=True, text=True
    )
    if "No module named" in theirs.stderr:
        pytest.skip("omnetpp.scave needs Python packages that are not here: " + theirs.stderr.splitlines()[-1])
    assert theirs.returncode == 0, theirs.stderr
    for operation, (times, values) in json.loads(theirs.stdout).items():
        ours = eval(f"series().{operation}")
        np.testing.assert_allclose(ours.time_s, times, err_msg=operation)
        np.testing.assert_allclose(ours.value, values, err_msg=operation, rtol=1e-12)


def test_averages_over_time_by_hand() -> None:
    held = Series(np.array([0.0, 1.0, 4.0]), np.array([2.0, 6.0, 0.0]))
    assert held.integrate().value.tolist() == [0, 2, 20]
    assert held.timeavg().value.tolist() == [0, 2, 5]
    assert held.timewinavg(2.0).time_s.tolist() == [0, 4]
    assert held.timewinavg(2.0).value.tolist() == [4, 0]
    assert held.timewinthruput(2.0).value.tolist() == [4, 0]


def test_an_operation_converts_the_unit() -> None:
    assert series().integrate().unit == "m*s"
    assert series().timewinthruput(1.0).unit == "m/s"


def test_an_unknown_interpolation_is_refused() -> None:
    with pytest.raises(UserError, match="cannot be 'cubic' between its samples; allowed: sample-hold, backward"):
        series().integrate("cubic")


@given(st.sampled_from(OPERATIONS))
def test_an_empty_series_stays_empty(operation: str) -> None:
    assert len(eval(f"empty.{operation}", {"empty": Series(np.empty(0), np.empty(0))})) == 0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50).map(sorted), st.floats(0.1, 1e3))
def test_windows_lose_no_sample(times: list[float], window: float) -> None:
    one = Series(np.array(times), np.ones(len(times)))
    assert one.timewinavg(window).value.tolist() == [1.0] * len(one.timewinavg(window))
    assert one.winavg(7).value.tolist() == [1.0] * -(-len(times) // 7)


def settling(rows: int, seed: int) -> Series:
    draw = np.random.default_rng(seed)
    value = np.concatenate([np.linspace(30, 0, rows // 10), np.zeros(rows - rows // 10)]) + draw.normal(0, 1, rows)
    return Series(np.arange(float(rows)), value)


def test_the_steady_part_begins_where_the_series_settles() -> None:
    steady = settling(3000, 3).steady()
    assert 200 <= steady.time_s[0] <= 400 and len(steady) == 3000 - steady.time_s[0]


def test_a_series_without_warmup_loses_little() -> None:
    draw = np.random.default_rng(4)
    lost = [2000 - len(Series(np.arange(2000.0), draw.normal(0, 1, 2000)).steady()) for _ in range(50)]
    assert np.median(lost) <= 200


def test_the_warmup_is_that_of_the_plain_formula() -> None:
    value = np.random.default_rng(5).normal(0, 1, 203).cumsum()
    means = value[:200].reshape(40, 5).mean(axis=1)
    plain = [np.var(means[cut:]) / (40 - cut) for cut in range(21)]
    assert Series(np.arange(203.0), value).steady().time_s[0] == 5 * int(np.argmin(plain))


def test_a_short_series_is_left_alone() -> None:
    assert len(Series(np.arange(19.0), np.arange(19.0)).steady()) == 19
