"""dcs23: Dynamic Clock Sets and probabilistic clocks of fixed size, under loads that change (Figures 5 to 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from causeway.analysis.plots import Expected, Headline, Plot
from causeway.network.networks import AbstractNetwork, Network, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.protocol import DELIVER, Observer, Protocol
from causeway.pycontrol.protocols.clocks.vector import VectorClock
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.dcs.policies import formula, measured, table
from causeway.pycontrol.protocols.dcs.policies.balance import Balance
from causeway.pycontrol.protocols.dcs.policies.base import Policy
from causeway.pycontrol.protocols.dcs.policies.program import LONGEST_TICK_MS, Program
from causeway.pycontrol.protocols.dcs.policies.scripted import Move, Scripted
from causeway.pycontrol.protocols.dcs.policies.sized import Sized, Sizing
from causeway.pycontrol.protocols.dcs.policies.table import Table
from causeway.pycontrol.protocols.dcs.vectorized import DynamicClockSet
from causeway.studies.dcs23 import loads
from causeway.studies.dcs23.best import EXPOSURE_LOADS
from causeway.studies.dcs23.rare import FIGURE5_RARE, Exposed
from causeway.studies.dcs23.sizes import FIGURE5
from causeway.studies.limits import must_fit
from causeway.studies.study import S_PS, Params, Study

if TYPE_CHECKING:
    from causeway.explore.checks import Checks

RANDOM: dict[str, Any] = {"load": "random", "duration_s": 240.0, "rate": 150.0}
"""Figure 8. The text does not give its peaks. 150 messages per second were chosen because five trial seeds of a fixed
clock of 97 entries then had about 305 violations, as in the paper. So this number proves nothing under this load."""
OWN_MEAN = 228
"""The mean number of entries of our dynamic clock under the bell. A fixed clock of this size is a fair comparison, in
addition to the paper's."""
AUTHORS = {"senders": "turns", "entries_draw": "even"}
"""The order of senders and the spread of entries in the authors' program."""
SHAPES: dict[str, dict[str, Any]] = {
    "bells": {**AUTHORS, "load": "bells", "duration_s": 850.0, "rate": 200.0, "low_rate": 0.0},
    "triangles": {**AUTHORS, "load": "triangles", "duration_s": 300.0, "rate": 220.0, "low_rate": 20.0},
    "peaks": {**AUTHORS, "load": "peaks", "duration_s": 300.0, "rate": 200.0, "low_rate": 0.0},
    "plateaus": {**AUTHORS, "load": "plateaus", "duration_s": 850.0},
    "climbs": {**AUTHORS, "load": "climbs", "duration_s": 850.0},
}
"""The loads of the authors' program."""
DYNAMIC: list[dict[str, Any]] = [{"policy": "measured"}, {"policy": "table", "memory_s": 0.5}]
"""Our policy, and the authors' table with their averaging time."""
PROGRAM: dict[str, Any] = {"policy": "program", "tick_ms": 100}
"""The authors' rules for changes of the size. They count what arrives in 0.5 s, in five ticks."""
MATRIX_SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "bell, drawn senders": ({}, "bell"), "bell, in turn": ({**AUTHORS}, "bell"),
    "bells": (SHAPES["bells"], "bell"), "triangles": (SHAPES["triangles"], "bell"),
    "random, drawn senders": (RANDOM, "random"), "random, in turn": ({**AUTHORS, **RANDOM}, "random"),
    "peaks": (SHAPES["peaks"], "random"), "plateaus": (SHAPES["plateaus"], "random"),
    "climbs": (SHAPES["climbs"], "random"),
}  # fmt: skip
"""Shapes of the load, ours and those of the authors' program, and for each the loads of the paper that it may
represent."""
FIXED = {"bell": 260, "random": 97}
"""The size of the fixed clock beside each of the paper's two loads."""
SCRIPT = ((0.0, 0, 1.0), (50.0, 1, 1.0), (70.0, 0, 0.5), (90.0, 0, 1.0))
"""Figure 10 in the authors' program: second, number of components to choose from (0: all), share of processes that
choose. All processes choose at the start; otherwise, senders that take turns would stay in one component for a quarter
of each round."""
BIN_S = 10
"""The length of the interval of a sample of violations."""
SPARE = 1.5
"""The capacity of a dynamic clock is the size for the highest load times this number."""
LOADS_WITH_LOWEST = ("bell", "bells", "triangles", "random")
"""The loads that use `low_rate`."""


class Dcs23Params(Params):
    """The parameters of dcs23."""

    processes: int = Field(1000, ge=2, le=20_000, description="number of processes, N")
    entries: int = Field(
        0, ge=0, le=100_000, description="number of entries of a fixed probabilistic clock; 0: a Dynamic Clock Set"
    )
    clock: Literal["probabilistic", "vector"] = Field(
        "probabilistic", description="vector: a vector clock with one entry per process, which is exact"
    )
    components: int = Field(0, ge=0, le=10_000, description="fixed number of components; 0: chosen by the policy")
    component_size: int = Field(50, ge=2, le=100_000, description="number of entries of a component, M")
    increments: int = Field(2, ge=1, le=100_000, description="entries that a process increments in a component, |f|")
    assigned: int = Field(1, ge=1, le=10_000, description="components that a process increments, |S_incr|")
    entries_draw: Literal["random", "even"] = Field(
        "random", description="even: equally many processes increment each entry"
    )
    components_draw: Literal["random", "id"] = Field(
        "random",
        description="component that a process increments; id: its id modulo the number, as in the authors' program",
    )
    load: Literal["constant", "bell", "random", "skewed", "bells", "triangles", "peaks", "plateaus", "climbs"] = Field(
        "bell",
        description="load over time; bells and later values: as in the authors' program, stretched to duration_s",
    )
    senders: Literal["random", "turns"] = Field(
        "random", description="order of the senders; turns: one after the other, at equal intervals"
    )
    rate: float = Field(200.0, ge=1e-3, le=1e6, description="messages per second in the whole system, at the peak")
    low_rate: float = Field(
        10.0, ge=0, le=1e6, description="lowest load of the bell, bells, triangles and random patterns"
    )
    pattern: int = Field(1, ge=0, le=2**31 - 1, description="seed of the random, peaks, plateaus and climbs patterns")
    messages: int = Field(
        0, ge=0, le=10_000_000, description="number of broadcasts after which the run ends; 0: it ends after duration_s"
    )
    duration_s: float = Field(60.0, ge=1, le=86_400, description="time in which messages are broadcast")
    target_error: float = Field(2e-5, ge=1e-9, lt=1, description="violations per delivery for which the size is chosen")
    policy: Literal["measured", "formula", "table", "program"] = Field(
        "measured",
        description="rule for the number of components; table: the authors' table; program: also one component at a "
        "time and only rounds of process 0, as in the authors' program",
    )
    remove_at_once: bool = Field(False, description="a Remove round removes all inactive components")
    margin: float = Field(
        0.2,
        ge=0,
        le=100,
        description="hysteresis: relative increase of the load for which the clock must remain large enough when a "
        "component is removed",
    )
    memory_s: float = Field(
        1.0,
        ge=1e-3,
        le=86_400,
        description="time over which a process averages the load; policy=program counts over 0.5 s instead",
    )
    tick_ms: int = Field(
        150,
        ge=1,
        le=1_000_000,
        description="interval at which a process handles messages of rounds and checks the load",
    )
    balance_every_s: float = Field(
        20.0, ge=0, le=86_400, description="fixed components: interval between balancing rounds; 0: never"
    )
    balance: Literal["own", "scripted"] = Field(
        "own",
        description="fixed components; own: by a process's own observations; scripted: at 50, 70 and 90 s, as in "
        "Figure 10",
    )
    skewed_from_s: float = Field(50.0, gt=0, le=86_400, description="time at which the skewed load becomes skewed")
    skewed_share: float = Field(
        0.75, ge=0.25, le=1, description="share of messages that increment component 0 after that"
    )
    delay_mean_ms: float = Field(100.0, gt=0, le=1e6, description="mean of the delay")
    delay_sd_ms: float = Field(20.0, ge=0, le=1e6, description="standard deviation of the delay")
    reaction_us: int = Field(1000, ge=1, le=1_000_000_000, description="reaction time of a process, L")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        within = self.entries or self.component_size
        if self.increments > within:
            raise ValueError(f"{self.increments} increments do not fit {within} entries; at most {within} do")
        if self.load in ("bell", "random") and self.low_rate <= 0:
            raise ValueError(f"load={self.load} needs a lowest load above 0; choose a larger low_rate")
        if self.load in LOADS_WITH_LOWEST and self.low_rate > self.rate:
            raise ValueError(
                f"low_rate={self.low_rate:g} is above rate={self.rate:g}, the load at the peak; choose a smaller one"
            )
        if self.entries and self.components:
            raise ValueError(
                f"entries={self.entries} is a fixed clock without components; set entries=0 or components=0"
            )
        if self.policy == "program" and self.tick_ms > LONGEST_TICK_MS:
            raise ValueError(
                f"policy=program needs ticks of at most {LONGEST_TICK_MS} ms, or no round succeeds; give tick_ms=100"
            )
        if self.senders == "turns" and self.load == "skewed":
            raise ValueError("load=skewed needs senders=random; with senders=turns all processes send equally often")
        if self.load == "skewed" and self.skewed_from_s >= self.duration_s:
            raise ValueError(f"skewed_from_s={self.skewed_from_s:g} is not before the end, {self.duration_s:g} s")
        if self.components and self.assigned > self.components:
            raise ValueError(f"{self.assigned} assigned components do not fit {self.components}")
        entries = self.entries or (self.components or capacity(self)) * self.component_size
        entries = self.processes if self.clock == "vector" else entries
        must_fit("clocks", self.processes * entries)
        return self


class ViolationsOverTime(CausalityChecker):
    """A causality checker that also counts violations over time: a sample every 10 s, for the 10 s before it."""

    def __init__(self, nodes: int) -> None:
        super().__init__(nodes)
        self.bins: dict[int, int] = {}

    def observe(self, op: Any, time_ps: Any, node: Any, message: Any) -> None:
        """Check rows of observations, and count their violations by time."""
        super().observe(op, time_ps, node, message)
        if len(time_ps):
            self.bins.setdefault(int(time_ps[-1]) // (BIN_S * S_PS), 0)
        for time in time_ps[(op == DELIVER) & self.last_violating]:
            bin_ = int(time) // (BIN_S * S_PS)
            self.bins[bin_] = self.bins.get(bin_, 0) + 1

    @property
    def samples(self) -> Mapping[tuple[str, str], tuple[list[int], list[float]]]:
        """Return the time series of violations."""
        rows = sorted(self.bins.items())
        return {("checker", "violations"): ([(b + 1) * BIN_S * S_PS for b, _ in rows], [float(v) for _, v in rows])}

    def scalars(self) -> Mapping[str, float]:
        """Return the checker's scalars, and the violations of every 10 s."""
        return {**super().scalars(), **{f"violations_until_{(b + 1) * BIN_S}s": float(v) for b, v in self.bins.items()}}


class Dcs23Study(Study):
    """Clocks that grow and shrink with the load."""

    name = "dcs23"
    title = "Dynamic Clock Sets: clocks that grow and shrink with the load"
    paper = "dcs23"
    published = "published.csv"
    Params = Dcs23Params
    sweeps: ClassVar[Mapping[str, Sequence[Mapping[str, Any]]]] = {
        "smallest": [
            {"processes": 20, "duration_s": 1, "entries": entries, **how}
            for entries in (0, 20)
            for how in ({}, AUTHORS)
        ],
        "demo": [{"processes": 100}, {"processes": 100, "entries": 260}],
        "figure5": FIGURE5,
        "figure5_rare": FIGURE5_RARE,
        "exposure": [
            {**AUTHORS, "load": "constant", "rate": load, "clock": "vector", "messages": 3_000}
            for load in EXPOSURE_LOADS
        ],
        "figure7": [{"entries": entries} for entries in (0, 260, OWN_MEAN)],
        "figure9": [{**RANDOM, "entries": entries} for entries in (0, 97)],
        "figure10": [
            {"load": "skewed", "rate": 100, "components": 4, "duration_s": 120, "balance_every_s": every}
            for every in (20.0, 0.0)
        ],
        "figure10_scripted": [
            {**AUTHORS, "load": "constant", "rate": 100, "components": 4, "duration_s": 120, "balance": "scripted"},
        ],
        "program": [
            {**SHAPES[shape], **PROGRAM, "components_draw": draw}
            for shape in ("peaks", "bells", "climbs", "plateaus")
            for draw in ("id", "random")
        ],
        "at_once": [{"remove_at_once": at_once} for at_once in (False, True)],
        "complexity": [
            *({"processes": n, "duration_s": 30.0} for n in (125, 250, 500, 1000)),
            *({"processes": 250, "duration_s": 30.0, "component_size": size} for size in (25, 100)),
        ],
        "shapes": [{**shape, **dynamic} for shape in SHAPES.values() for dynamic in DYNAMIC],
        "shapes_fixed": [
            *({**SHAPES["bells"], "entries": entries} for entries in (260,)),
            *({**SHAPES["triangles"], "entries": entries} for entries in (260,)),
            *({**SHAPES["peaks"], "entries": entries} for entries in (97,)),
        ],
        "matrix": [
            *(
                {**shape, **dynamic, "components_draw": draw}
                for shape, _ in MATRIX_SHAPES.values()
                for draw in ("random", "id")
                for dynamic in DYNAMIC
            ),
            *({**shape, "entries": FIXED[paper]} for shape, paper in MATRIX_SHAPES.values()),
        ],
        "bell_stricter": [
            {**how, "load": "bell", "target_error": 1e-5, "entries": entries}
            for how in ({}, AUTHORS)
            for entries in (0, 260)
        ],
        "table_errors": [
            {**AUTHORS, "load": "constant", "rate": rate, "entries": int(size), "messages": 20_000}
            for rate, size in zip(table.ABOVE_PER_S.tolist(), table.ENTRIES, strict=False)
        ],
    }
    expected: ClassVar[Sequence[Expected]] = (Expected("violations", "probabilistic clocks allow some violations"),)
    headlines: ClassVar[Sequence[Headline]] = (
        Headline("entries", "entries_mean", "", "mean number of entries of the clock, over processes and time"),
        Headline("violations", "violations", "deliveries", "out of causal order"),
        Headline("violated", "messages_violated", "messages", "delivered out of causal order by at least one process"),
        Headline("error", "violations/deliveries", "", "violations per delivery"),
    )
    plots: ClassVar[Sequence[Plot]] = (
        Plot("Entries of the clock under the bell load", "dcs23", "entries", kind="time",
             where={"load": "bell", "entries": 0, "processes": 1000}, paper="dcs23, Fig. 7", y_label="entries"),
        Plot("Entries of the clock under the random load", "dcs23", "entries", kind="time",
             where={"load": "random", "entries": 0, "processes": 1000}, paper="dcs23, Fig. 9", y_label="entries"),
        Plot("Violations before and after balancing", "dcs23", "violations", kind="time", series="balance_every_s",
             where={"load": "skewed"}, paper="dcs23, Fig. 10", y_label="deliveries out of causal order in 10 s"),
        Plot("Violations of a dynamic and a fixed clock", "dcs23", "violations", x="entries", series="load",
             where={"processes": 1000, "components": 0}, paper="dcs23, Section V-B", kind="bar",
             x_label="entries (0: dynamic)"),
        Plot("Violations per delivery by size and load", "dcs23", "violations/deliveries", x="entries", series="rate",
             where={"load": "constant", "processes": 2000}, paper="dcs23, Fig. 5", log_x=True, log_y=True,
             x_label="entries", y_label="violations per delivery"),
    )  # fmt: skip

    def network(self, params: Dcs23Params, seed: int) -> Network:
        """Return processes with normal delays, and the broadcasts of the chosen load."""
        n, rows = params.processes, segments(params)
        script = loads.in_turn(rows, n, params.messages) if params.senders == "turns" else None
        rows = rows if script is None else ()
        workload = Workload(n, messages=params.messages, segments=rows, script=script)
        delay = normal_delay(params.delay_mean_ms, params.delay_sd_ms)
        return AbstractNetwork(params.processes, delay=delay, workload=workload)

    def protocol(self, params: Dcs23Params) -> Protocol:
        """Return a vector clock, a probabilistic clock of fixed size or a Dynamic Clock Set."""
        if params.clock == "vector":
            return VectorClock()
        if params.entries:
            return ProbabilisticClock(params.entries, params.increments, even=params.entries_draw == "even")
        fixed = params.components
        return DynamicClockSet(
            policy(params),
            component_size=params.component_size,
            components=fixed or 1,
            capacity=fixed or capacity(params),
            increments=params.increments,
            assigned=params.assigned,
            period_ps=params.tick_ms * 10**9,
            memory_ps=params.tick_ms * 10**9 if params.policy == "program" else int(params.memory_s * S_PS),
            messages=params.messages,
            until_ps=0 if endless(params) else int(params.duration_s * S_PS),
            even=params.entries_draw == "even",
            by_id=params.components_draw == "id",
            remove_at_once=params.remove_at_once,
        )

    def checks(self, params: Dcs23Params) -> Checks:
        """Return the settings of `causeway check dcs23`."""
        from causeway.studies.dcs23 import exploration

        return exploration.checks(params)

    def reaction_ps(self, params: Dcs23Params) -> int:
        """Return the reaction time, which is a parameter."""
        return params.reaction_us * 10**6

    def observers(self, params: Dcs23Params, nodes: int) -> list[Observer]:
        """Return the checker and, in a run of exact clocks, the counter of exposed waits."""
        checker: list[Observer] = [ViolationsOverTime(nodes)]
        return [*checker, Exposed(nodes)] if params.clock == "vector" else checker

    def scalars(self, params: Dcs23Params, scalars: dict[str, float]) -> dict[str, float]:
        """Add the size of a fixed clock, which has no rounds."""
        if entries := params.processes if params.clock == "vector" else params.entries:
            scalars |= {"entries_mean": entries, "entries_max": entries, "rounds": 0, "rounds_refused": 0}
        return scalars


def capacity(params: Dcs23Params) -> int:
    """Return the maximum number of components of a dynamic clock."""
    most = float(_sizing(params)(np.array([params.rate * SPARE]))[0])
    if not most < 1e9:  # NaN is refused, too
        raise ValueError(f"no clock is large enough for rate={params.rate:g} and target_error={params.target_error:g}")
    return max(4, int(np.ceil(most / params.component_size)))


def policy(params: Dcs23Params) -> Policy:
    """Return the policy by which processes change the size of their clocks."""
    if params.components and params.balance == "scripted":
        return Scripted([_move(params, *move) for move in SCRIPT])
    if params.components:
        if params.components == 1 or not params.balance_every_s:
            return Policy()
        every = max(1, round(params.balance_every_s * 1000 / params.tick_ms))
        return Balance(every, offset=every // 2)
    if params.policy == "program":
        return Program(params.component_size, capacity(params), params.tick_ms)
    if params.policy == "table":
        return Table(params.component_size, capacity(params))
    return Sized(_sizing(params), params.component_size, capacity(params), params.margin)


def _move(params: Dcs23Params, at_s: float, below: int, share: float) -> Move:
    """Return a move at the first tick that is not before this second."""
    return Move(max(0, int(np.ceil(at_s * 1000 / params.tick_ms)) - 1), below or params.components, share)


def _sizing(params: Dcs23Params) -> Sizing:
    if params.policy == "measured":
        return measured.sizing(params.target_error)
    if params.policy in ("table", "program"):
        return table.sizing
    mean_s, sd_s = params.delay_mean_ms / 1000, params.delay_sd_ms / 1000
    early = formula.early_s(mean_s, sd_s, params.processes)
    return formula.sizing(params.target_error, params.increments, mean_s, early)


def endless(params: Dcs23Params) -> bool:
    """Return whether the load has no end, so that the run ends after a number of messages."""
    return params.load == "constant" and params.messages > 0


def segments(params: Dcs23Params) -> tuple[Segment, ...]:
    """Return the load over time."""
    if params.load == "bell":
        return loads.bell(params.low_rate, params.rate, params.duration_s)
    if params.load == "bells":
        return loads.bells(params.low_rate, params.rate, params.duration_s)
    if params.load == "triangles":
        return loads.triangles(params.low_rate, params.rate, params.duration_s)
    if params.load in ("plateaus", "climbs"):
        return (loads.plateaus if params.load == "plateaus" else loads.climbs)(params.duration_s, params.pattern)
    if params.load == "peaks":
        return loads.peaks(params.rate, params.duration_s, params.pattern)
    if params.load == "random":
        return loads.random(params.low_rate, params.rate, params.duration_s, params.pattern)
    if params.load == "skewed":
        hot = int(np.ceil(params.processes / max(params.components, 1)))
        return loads.skewed(params.rate, params.duration_s, params.skewed_from_s, hot, params.skewed_share)
    if endless(params):
        return loads.constant(params.rate)
    return (*loads.constant(params.rate), Segment(int(params.duration_s * S_PS), 0.0))
