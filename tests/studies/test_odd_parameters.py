"""Arbitrary parameters: an error of one line, or a run that ends; never a traceback."""

from __future__ import annotations

import dataclasses
import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge import engines
from causeway.errors import UserError
from causeway.studies import registry
from causeway.studies.parameters import make_params
from causeway.studies.runner import Job, choose_engine, make_spec
from tests.helpers.drawn import examples

TOP = Path(__file__).parents[2]
LONGEST_S = 120
"""No run of these sizes takes a tenth of this, even where a kernel is compiled first and a machine is busy."""

WORKER = """
import json, sys, traceback
from causeway.errors import RunError, UserError
from causeway.studies.runner import Job, run_job
for line in sys.stdin:
    try:
        run_job(Job(*json.loads(line)))
        said = "ended"
    except UserError as error:
        said = "refused: " + str(error)
    except RunError as error:  # an engine of its own says what it cannot do
        said = "refused: " + str(error)
    except BaseException:
        said = traceback.format_exc()
    print(json.dumps(said), flush=True)
"""


class Worker:
    """A process that makes runs. If it hangs, it is killed and replaced."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def run(self, *job: Any) -> str:
        if self.process is None:
            environment = {**os.environ, "PYTHONPATH": str(TOP)}
            command = [sys.executable, "-c", WORKER]
            self.process = subprocess.Popen(
                command, cwd=TOP, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            if not ready.select(LONGEST_S):
                self.close()
                return f"did not end within {LONGEST_S} s"
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.process = None
            return f"the process died with status {status}"
        return json.loads(line)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@pytest.fixture(scope="module")
def worker():
    found = Worker()
    yield found
    found.close()


HUGE = [10**6, 10**9, 2**31 - 1, 2**31, 2**63, 10**30]
WHOLE = [-1, 0, 1, 2, 3, 7, 50, 51, 64, *HUGE]
REAL = [-1.0, 0.0, 1e-300, 1e-9, 1e-3, 0.05, 0.1, 1.0, 3.7, 100.0, 1e4, 1e6, 1e9, 1e18, 1e300]
WORDS = ["inf", "nan", "-inf", "", "true", "1e5", "٣", "0x10", "None"]

SMALL: dict[str, dict[str, list[Any]]] = {
    "hash": {"processes": [2, 3, 10], "messages": [1, 20, 100], "rate": [1.0, 100.0, 1e5], "remember": [1, 16, 1024]},
    "dcs23": {
        "processes": [2, 3, 20], "duration_s": [1.0, 3.5, 20.0], "rate": [1.0, 50.0, 300.0],
        "low_rate": [0.01, 10.0, 100.0], "messages": [0, 1, 500], "entries": [0, 1, 30],
        "tick_ms": [10, 150, 1000],
    },
    "ladc18": {"processes": [2, 8, 32]},
    "icpp18": {"nodes": [2, 8, 32], "messages": [1, 3]},
    "mobile20": {"hosts": [1, 2, 9], "duration_s": [1, 2], "warmup_s": [1, 3], "drain_s": [1, 5],
                 "rate": [0.0, 1.0, 30.0]},
}  # fmt: skip
"""Parameters that are always set, to keep runs short."""


def odd(study: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw small sizes of a study, and up to three parameters with odd values."""
    fields = registry.get(study).Params.model_fields
    small = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in SMALL[study].items()})
    names = st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=3, unique=True)

    def value(name: str) -> st.SearchStrategy[Any]:
        kind = fields[name].annotation
        if kind is int:
            plain: list[Any] = WHOLE
        elif kind is float:
            plain = REAL
        else:
            plain = [True, False, *getattr(kind, "__args__", ())]
        within = bounds(fields[name])
        if name in SMALL[study]:  # only what must be refused: everything else would be long, not wrong
            plain = [v for v in plain if not isinstance(v, int | float) or v <= 0 or v >= 10**9]
            within = SMALL[study][name]
        usual = st.sampled_from(within or plain)
        return st.one_of(usual, usual, usual, st.sampled_from(plain), st.sampled_from(WORDS))

    changed = names.flatmap(lambda chosen: st.fixed_dictionaries({name: value(name) for name in chosen}))
    return st.tuples(small, changed).map(lambda pair: {**pair[0], **pair[1]})


def bounds(field: Any) -> list[Any]:
    """The bounds of a number, and some values between them."""
    low = [getattr(m, what) for m in field.metadata for what in ("ge", "gt") if hasattr(m, what)]
    high = [getattr(m, what) for m in field.metadata for what in ("le", "lt") if hasattr(m, what)]
    if field.annotation not in (int, float) or not low or not high:
        return []
    between = [field.default * factor for factor in (0.1, 0.5, 1, 2, 10)]
    inside = [value for value in (*between, *WHOLE, *REAL) if low[0] <= value <= high[0]]
    return [field.annotation(value) for value in (*low, *high, *inside)]


def check(said: str) -> None:
    assert said == "ended" or (said.startswith("refused: ") and "\n" not in said), said


BOUNDED = settings(max_examples=examples(60))


@pytest.mark.hypothesis
@pytest.mark.slow
@pytest.mark.parametrize("study", ["hash", "dcs23", "ladc18", "icpp18"])
def test_random_parameters_are_refused_in_one_line_or_make_a_run_that_ends(worker: Worker, study: str) -> None:
    @BOUNDED
    @given(odd(study))
    def attempt(parameters: dict[str, Any]) -> None:
        check(worker.run(study, parameters, 1, "inline"))

    attempt()


@pytest.mark.hypothesis
@pytest.mark.slow
@pytest.mark.ns3
def test_random_parameters_of_the_mobile_study_too(worker: Worker) -> None:
    if why := engines.get("ns3").missing():
        pytest.skip(why)

    @settings(BOUNDED, max_examples=examples(40))
    @given(odd("mobile20"))
    def attempt(parameters: dict[str, Any]) -> None:
        check(worker.run("mobile20", parameters, 1, "ns3"))

    attempt()


@BOUNDED
@given(odd("mobile20"))
def test_parameters_of_a_mobile_run_are_refused_or_within_the_bounds_of_engines(
    parameters: dict[str, Any],
) -> None:
    try:
        spec = make_spec(Job("mobile20", parameters, 1, "ns3"), 0)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert 0 < spec.reaction_ps < spec.duration_ps < 2**62


@pytest.mark.parametrize(
    ("study", "parameters"),
    [
        ("dcs23", {"messages": 7000, "processes": 20, "rate": 50.0, "duration_s": 5}),
        (
            "dcs23",
            {"messages": 100, "processes": 20, "load": "random", "duration_s": 1.0, "rate": 1.0, "low_rate": 0.5},
        ),
        ("dcs23", {"messages": 9_999_999, "processes": 20, "load": "skewed", "skewed_from_s": 1, "duration_s": 2}),
    ],
)
def test_a_run_that_waits_for_more_messages_than_the_load_sends_ends_with_the_load(worker, study, parameters):
    assert worker.run(study, parameters, 1, "inline") == "ended"


@pytest.mark.parametrize(
    ("study", "parameters", "words"),
    [
        ("ladc18", {"max_delay": 0}, "max_delay=0 is shorter than the reaction of a process, 0.1"),
        ("dcs23", {"increments": 51}, "51 increments do not fit 50 entries; at most 50 do"),
        ("dcs23", {"entries": 3, "increments": 4}, "4 increments do not fit 3 entries"),
        ("ladc18", {"trees": 65}, "trees=65 is more than the 64 processes"),
        ("hash", {"delay_min_ms": 1000, "delay_mean_ms": 1}, "delay_min_ms=1000 is above delay_mean_ms=1"),
        ("dcs23", {"load": "bell", "rate": 5, "low_rate": 10}, "low_rate=10 is above rate=5, the load at the peak"),
        ("dcs23", {"entries": 30, "components": 4}, "entries=30 is a fixed clock without components"),
        ("dcs23", {"load": "skewed", "skewed_from_s": 0}, "bad value '0' for parameter skewed_from_s"),
        ("mobile20", {"rate": 0, "intervals": "staggered"}, "rate=0 gives no intervals"),
        ("mobile20", {"rate": 0, "retry": "later"}, "rate=0 gives no intervals"),
        ("mobile20", {"experiment": "faults", "duration_s": 1}, "ends before the first failure"),
        ("hash", {"rate": "inf"}, "bad value 'inf' for parameter rate"),
        ("hash", {"delay_mean_ms": 1e18}, "bad value '1e+18' for parameter delay_mean_ms"),
        ("hash", {"rate": 1e-3, "messages": 10_000_000}, "time until all messages are sent"),
        ("icpp18", {"nodes": 63}, "choose a power of two"),
        ("dcs23", {"load": "skewed", "duration_s": 10}, "skewed_from_s=50 is not before the end, 10 s"),
        ("dcs23", {"rate": 1e6, "target_error": 1e-9}, "no clock is large enough for rate=1e+06"),
        ("dcs23", {"entries": 100_000, "processes": 20_000}, "choose smaller parameters"),
    ],
)
def test_impossible_parameters_are_refused_with_the_reason(study: str, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as reported:
        make_spec(Job(study, parameters, 1, "inline"), 0)
    assert words in str(reported.value) and "\n" not in str(reported.value)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64])
def test_a_seed_that_the_tables_cannot_hold_is_refused(seed: int) -> None:
    with pytest.raises(UserError, match=r"a seed must be at least 0 and below 2\^63"):
        Job("hash", {}, seed, "inline")


@pytest.mark.parametrize("name", registry.STUDIES)
def test_every_point_of_every_sweep_is_within_the_bounds(name: str) -> None:
    study = registry.get(name)
    for points in study.sweeps.values():
        for point in points:
            assert make_params(study, point) is not None, point


def test_an_unknown_radio_is_refused_with_the_known_ones() -> None:
    study = registry.get("mobile20")
    network = dataclasses.replace(study.network(make_params(study, {}), 1), radio="foo")
    for engine in ("ns3", None):
        with pytest.raises(UserError, match=r"unknown radio of study mobile20 'foo'; known: .*unitdisk"):
            choose_engine(study, engine, network)
