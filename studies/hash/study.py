"""hash: probabilistic clocks alone, with the Mostefaoui detector, and with the hash error detector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from causeway.analysis.plots import Expected, Headline, Plot
from causeway.network.networks import AbstractNetwork, Network, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.protocol import Observer, Protocol
from causeway.pycontrol.protocols.clocks.vector import VectorClock
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.hash.state import Choices
from causeway.pycontrol.protocols.hash.vectorized import HashDetector
from causeway.studies.hash.readings import DirectErrors, entries_of, reach_of, staggered, steady
from causeway.studies.limits import must_fit
from causeway.studies.study import MS_PS, Params, Study

if TYPE_CHECKING:
    from causeway.explore.checks import Checks

SMALL = 500
"""The maximum number of processes for which errors are also counted as in the authors' program, in N steps per
delivery."""
DETECTORS = ("none", "mostefaoui", "hash")
AUTHORS: dict[str, Any] = {"intervals": "staggered", "entries_draw": "even"}
"""The order of senders and the spread of entries in the authors' program, which is the reading for Tables 1 and 2."""
SCRIPTS = {"staggered": staggered, "steady": steady}
PROCESSES = (500, 1000, 2000, 3000, 5000)
LIMITS = (100, 200, 400, 1000)
"""The limits of hashes per test in Table 2. The authors' program uses 200."""
TABLE2: dict[str, Any] = {"rate": 110, "detector": "hash", "messages": 5000}
SEARCH: dict[str, Any] = {"search": "near", "hash_limit": 200, "one_request": True, "quiet": True, "retest": False}
"""The search of the authors' program, and its rule for requests."""
NEAR_READINGS: list[dict[str, Any]] = [
    *({"hash_limit": limit} for limit in (100, 400, 1000, 10_000)),
    {"quiet": False},
    {"one_request": False, "quiet": False},
    {"retest": True},
    {"reach": 40.0},
    {"entries": 4},
]
READINGS: list[dict[str, Any]] = [
    *({"entries": entries} for entries in (1, 2, 3, 4, 6)),
    *({"entries": entries, "intervals": "steady"} for entries in (2, 3)),
    *({"delay_sd_ms": sd} for sd in (4.472, 10.0, 15.0)),
    *({**AUTHORS, "entries": entries} for entries in (2, 3, 4)),
    {"intervals": "staggered", "entries": 4},
    {"entries_draw": "even", "entries": 4},
    {**AUTHORS, "entries": 0, "delay_sd_ms": 30.0},
]
TESTED_ONCE: list[dict[str, Any]] = [
    *({"processes": processes, "rate": 110, "messages": 5000} for processes in (500, 1000)),
    *({"clock_size": 25, "rate": rate, "messages": 2500} for rate in (25, 50, 75)),
]


class HashParams(Params):
    """The parameters of hash."""

    processes: int = Field(200, ge=2, le=20_000, description="number of processes, N")
    rate: float = Field(100.0, ge=1e-3, le=1e6, description="broadcasts per second in the whole system")
    clock: Literal["probabilistic", "vector"] = Field(
        "probabilistic", description="vector: a vector clock with one entry per process, which is exact"
    )
    clock_size: int = Field(50, ge=1, le=100_000, description="number of entries of the probabilistic clock, M")
    entries: int = Field(2, ge=0, description="distinct entries that a process increments, k; 0: min(4, ceil(ln2 M/X))")
    entries_draw: Literal["random", "even"] = Field(
        "random", description="even: equally many processes increment each entry"
    )
    messages: int = Field(
        100_000, ge=1, le=10_000_000, description="number of broadcasts; the run ends when all are delivered"
    )
    detector: Literal["none", "mostefaoui", "hash"] = Field(
        "none", description="error detector that tests a message before its delivery"
    )
    hash_limit: int = Field(1000, ge=1, le=1_000_000, description="maximum number of hashes in one test, l")
    search: Literal["counts", "near"] = Field(
        "counts",
        description="order of the search; near: omit the nearest messages first, in binary order, as the authors' "
        "program",
    )
    reach: float = Field(
        0.0,
        ge=0,
        le=1e5,
        description="search=near: number of recent messages to search; 0: those of 0.15 s, and ten more",
    )
    one_request: bool = Field(False, description="a process has at most one open request")
    quiet: bool = Field(False, description="one_request: a process with an open request skips its broadcasts")
    hash_bits: int = Field(64, ge=1, le=64, description="length of a hash in bits")
    remember: int = Field(
        1024, ge=1, le=2**20, description="number of deliveries that a process stores; a power of two"
    )
    retest: bool = Field(
        True, description="test a suspected message again after every delivery; false: only once, as printed"
    )
    delay_mean_ms: float = Field(100.0, gt=0, le=1e6, description="mean of the delay")
    delay_sd_ms: float = Field(20.0, ge=0, le=1e6, description="standard deviation of the delay")
    delay_min_ms: float = Field(0.0, ge=0, le=1e6, description="lower bound of the delay")
    intervals: Literal["exponential", "steady", "staggered"] = Field(
        "exponential",
        description="intervals between a process's broadcasts; steady: Poisson-distributed in ms; staggered: processes "
        "take turns",
    )
    payload_bytes: int = Field(100, ge=0, le=1_000_000, description="size of a message without its clock")
    reaction_ms: float = Field(1.0, ge=1e-6, le=1e6, description="reaction time of a process, L")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.entries > self.clock_size:
            raise ValueError(f"{self.entries} entries per process do not fit a clock_size of {self.clock_size}")
        if self.delay_min_ms > self.delay_mean_ms:
            raise ValueError(
                f"delay_min_ms={self.delay_min_ms:g} is above delay_mean_ms={self.delay_mean_ms:g}, so the delays "
                f"would have a larger mean; choose a smaller minimum"
            )
        if self.remember & (self.remember - 1):
            raise ValueError(f"remember={self.remember} is not a power of two")
        if self.quiet and not self.one_request:
            raise ValueError("quiet=true needs one_request=true: a process is quiet while it waits for one answer")
        if self.near:
            must_fit("what is near each message", 2 * self.remember**2)
            if self.near > self.remember * self.k / 2:
                raise ValueError(f"remember={self.remember} is below twice the reach, {self.near // self.k} messages")
        entries = self.processes if self.clock == "vector" else self.clock_size
        kept = self.remember if self.detector == "hash" else 0
        must_fit("clocks and the memory of detectors", self.processes * (entries + kept))
        if self.processes <= SMALL and self.intervals != "exponential":
            must_fit("the script of broadcasts", 2 * (self.messages + 20 * self.processes))
        return self

    @property
    def k(self) -> int:
        """Return the number of entries that a process increments."""
        return self.entries or min(self.clock_size, entries_of(self.clock_size, self.rate, self.delay_mean_ms))

    @property
    def near(self) -> int:
        """Return the number of counts that the search among near messages covers; 0 for the search by counts."""
        messages = self.reach or reach_of(self.rate)
        return max(1, int(self.k * messages)) if self.search == "near" else 0


class HashStudy(Study):
    """The error detectors."""

    name = "hash"
    title = "Error detectors on probabilistic clocks"
    paper = "hash"
    published = "published.csv"
    Params = HashParams
    sweeps: ClassVar[Mapping[str, Sequence[Mapping[str, Any]]]] = {
        "smallest": [
            {"processes": 20, "messages": 100, "clock_size": 8, "detector": detector, **how}
            for detector in DETECTORS
            for how in ({}, AUTHORS)
        ],
        "demo": [
            *({"messages": 2000, "detector": detector} for detector in DETECTORS),
            *({"messages": 2000, "detector": "hash", "rate": rate} for rate in (50, 75)),
        ],
        "table1": [{**AUTHORS, "entries": 4, "detector": detector} for detector in DETECTORS],
        "table1_exponential": [{"detector": detector} for detector in DETECTORS],
        "table1_sd30": [{**AUTHORS, "entries": 4, "delay_sd_ms": 30.0, "detector": "mostefaoui"}],
        "table2": [
            {**AUTHORS, **TABLE2, "processes": processes, "hash_limit": limit}
            for limit in LIMITS
            for processes in PROCESSES
        ],
        "table2_exponential": [{**TABLE2, "processes": processes} for processes in PROCESSES],
        "table2_near": [{**AUTHORS, **TABLE2, **SEARCH, "processes": processes} for processes in PROCESSES],
        "table2_program": [
            {**AUTHORS, **TABLE2, **SEARCH, "processes": processes, "entries": 4, "delay_sd_ms": sd}
            for sd in (20.0, 30.0)
            for processes in PROCESSES
        ],
        "table2_near_readings": [{**AUTHORS, **TABLE2, **SEARCH, **how, "processes": 1000} for how in NEAR_READINGS],
        "figure1": [
            {"clock_size": clock_size, "rate": rate, "detector": "hash", "messages": 2500}
            for clock_size in (20, 25, 50)
            for rate in (20, 40, 60, 80, 100)
        ],
        "figure1_staggered": [
            {**AUTHORS, "clock_size": clock_size, "rate": rate, "detector": "hash", "messages": 2500, "entries": 0}
            for clock_size in (20, 25, 50)
            for rate in (20, 40, 60, 80, 100)
        ],
        "readings": [{"detector": "mostefaoui", "messages": 20_000, **reading} for reading in READINGS],
        "tested_once": [{"detector": "hash", "retest": False, **point} for point in TESTED_ONCE],
    }
    expected: ClassVar[Sequence[Expected]] = (
        Expected("violations", "probabilistic clocks do not detect every message that arrives too early"),
    )
    headlines: ClassVar[Sequence[Headline]] = (
        Headline("violated", "messages_violated", "messages", "delivered out of causal order by at least one process"),
        Headline("undetected", "messages_violated_undetected", "messages", "violated, and no detector reported it"),
        Headline("violations", "violations", "deliveries", "out of causal order"),
        Headline(
            "requests", "requests/(messages*processes)", "", "requests to other processes, per message and process"
        ),
    )
    plots: ClassVar[Sequence[Plot]] = (
        Plot("Deliveries out of causal order", "hash", "violations", x="detector", kind="bar",
             where={"processes": 200, "rate": 100, "messages": 100_000, "intervals": "staggered"},
             paper="hash, Table 1",
             y_label="deliveries out of causal order"),
        Plot("Requests against the number of processes", "hash", "requests/(messages*processes)", x="processes",
             series="hash_limit", paper="hash, Table 2",
             where={"detector": "hash", "rate": 110, "retest": True, "intervals": "staggered"},
             x_label="processes", y_label="requests per message and process"),
        Plot("Requests against the load", "hash", "requests/(messages*processes)", x="rate", series="clock_size",
             where={"detector": "hash", "processes": 200, "retest": True, "intervals": "exponential"},
             paper="hash, Fig. 1", log_y=True,
             x_label="messages per second", y_label="requests per message and process"),
    )  # fmt: skip

    def network(self, params: HashParams, seed: int) -> Network:
        """Return processes with normal delays, and their broadcasts."""
        n, size_bytes = params.processes, params.payload_bytes
        if params.intervals in SCRIPTS:
            script = SCRIPTS[params.intervals](n, params.rate, params.messages, size_bytes, seed)
            workload = Workload(n, messages=params.messages, script=script)
        else:
            segments = (Segment(0, params.rate),)
            workload = Workload(n, messages=params.messages, size_bytes=size_bytes, segments=segments)
        delay = normal_delay(params.delay_mean_ms, params.delay_sd_ms, params.delay_min_ms)
        return AbstractNetwork(n, delay=delay, workload=workload)

    def protocol(self, params: HashParams) -> Protocol:
        """Return a vector clock, or a probabilistic clock with the chosen detector."""
        if params.clock == "vector":
            return VectorClock()
        even = params.entries_draw == "even"
        if params.detector == "hash":
            return HashDetector(
                params.clock_size, params.k, params.hash_limit, params.remember, params.retest, even,
                Choices(params.near, params.one_request, params.quiet, params.hash_bits),
            )  # fmt: skip
        return ProbabilisticClock(params.clock_size, params.k, params.detector == "mostefaoui", even)

    def checks(self, params: HashParams) -> Checks:
        """Return the settings of `causeway check hash`."""
        from causeway.studies.hash import exploration

        return exploration.checks(params)

    def reaction_ps(self, params: HashParams) -> int:
        """Return the reaction time, which is a parameter."""
        return round(params.reaction_ms * MS_PS)

    def observers(self, params: HashParams, nodes: int) -> list[Observer]:
        """Return the checker and, for few processes, the counter of errors as in the authors' program."""
        checker: list[Observer] = [CausalityChecker(nodes)]
        return [*checker, DirectErrors(nodes)] if nodes <= SMALL else checker

    def scalars(self, params: HashParams, scalars: dict[str, float]) -> dict[str, float]:
        """Add zero requests for protocols without a detector."""
        return {"requests": 0.0, "skipped": 0.0, **scalars}
