"""Bundling Messages to Reduce the Cost of Tree-Based Broadcast Algorithms (paper ladc18).

One unit of the paper's time is 1 ms here. A sender's CPU takes 0.1 units for each packet, one after the other.
Transmission takes 0.8 and reception 0.1 units, without queues. A process reacts to a packet 0.1 units later, which is
its reaction time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from causeway.analysis.plots import Headline, Plot
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.random import STREAM_PROTOCOL, draw_unit
from causeway.network.workload import Faults, Script, Workload
from causeway.pycontrol.protocol import Observer, Protocol
from causeway.pycontrol.protocols.ladc18.audit import BestEffortAudit
from causeway.pycontrol.protocols.ladc18.floating import FloatingBroadcast
from causeway.pycontrol.protocols.ladc18.vectorized import BundledBroadcast, Limits
from causeway.pycontrol.protocols.vcube.tree import dimension
from causeway.studies.study import MS_PS, Params, Study

if TYPE_CHECKING:
    from causeway.explore.checks import Checks

UNIT_PS = MS_PS
SEND_PS = REACTION_PS = UNIT_PS // 10
TRAVEL_MS = 0.9
"""tt + tr: reception takes time, but has no queue."""
REPLY_TIMEOUT_PS = 4 * UNIT_PS
"""4 * (ts + tr + tt)"""

LATEST_CRASH = 5.0
"""Random crashes occur within n/10 units, but not later than this. The paper does not give the times; this number was
fitted to its Table 5."""

SCENARIOS: dict[str, dict[str, Any]] = {
    "NO-AGGR": {"max_delay": 0.0, "max_payload": 1, "tree_size": 1, "ack_size": 1},
    "SMALL2": {"max_delay": 2.0, "max_payload": 1460, "tree_size": 24, "ack_size": 20},
    "BIG2": {"max_delay": 2.0, "max_payload": 1460, "tree_size": 500, "ack_size": 20},
    "SMALL10": {"max_delay": 10.0, "max_payload": 1460, "tree_size": 24, "ack_size": 20},
    "BIG10": {"max_delay": 10.0, "max_payload": 1460, "tree_size": 500, "ack_size": 20},
}
"""The paper's Table 1."""


class Ladc18Params(Params):
    """The parameters of ladc18: a column of Table 1, a size, and the crashes."""

    processes: int = Field(64, ge=2, le=4096, description="number of processes; a power of two")
    max_delay: float = Field(2.0, ge=0, le=1e6, description="maximum time that a bundle waits, in units")
    max_payload: int = Field(1460, ge=1, le=10_000_000, description="size of a full bundle, in bytes")
    tree_size: int = Field(24, ge=1, le=1_000_000, description="size of a TREE message, in bytes")
    ack_size: int = Field(20, ge=1, le=1_000_000, description="size of an ACK message, in bytes")
    trees: int = Field(
        0, ge=0, le=4096, description="number of processes that broadcast, with processes/trees messages each; 0: all"
    )
    crashes: int = Field(
        0,
        ge=0,
        le=4095,
        description="number of crashes; 1: process 1 at time 0; more: random processes at random times",
    )
    crash_within: float = Field(
        0.0, ge=0, le=1e6, description="random crashes happen within this time, in units; 0: processes/10, at most 5"
    )
    test_until: float = Field(
        0.0, ge=0, le=1e6, description="time, in units, until which detectors test even if all broadcasts are complete"
    )
    clock: Literal["exact", "float"] = Field(
        "exact",
        description="float: times are sums of floating-point numbers, as in the paper's simulator; only "
        "without crashes",
    )
    test_interval: float = Field(
        30.0, ge=0.1, le=1e6, description="pause of the failure detector between rounds, in units"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.processes & (self.processes - 1):
            raise ValueError(f"a VCube has 2, 4, 8, ... processes, not {self.processes}: choose a power of two")
        if self.trees > self.processes:
            raise ValueError(
                f"trees={self.trees} is more than the {self.processes} processes; choose at most this number, or 0 "
                f"for all"
            )
        if self.clock == "float" and self.crashes:
            raise ValueError("clock=float has no failure detector; set crashes=0, or choose clock=exact")
        if self.crashes >= self.processes:
            raise ValueError(f"{self.crashes} crashes of {self.processes} processes leave none; choose fewer crashes")
        if self.max_delay < REACTION_PS / UNIT_PS and self.max_payload > min(self.tree_size, self.ack_size):
            raise ValueError(
                f"max_delay={self.max_delay:g} is shorter than the reaction of a process, {REACTION_PS / UNIT_PS:g}; "
                "to send without delay, choose a max_payload that one message fills"
            )
        return self


def _grid(sizes: list[int], **fixed: Any) -> list[dict[str, Any]]:
    return [{"processes": n, **s, **fixed} for n in sizes for s in SCENARIOS.values()]


FAULT_FREE = {"crashes": 0, "trees": 0}
SIZES = [8, 16, 32, 64, 128, 256, 512, 1024]


CRASH_LIMITS = (0.0, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
"""Latest crashes that were tried for Table 5; 0: n/10 units, at most 5."""
FITTED_SIZES = (16, 64, 256)
"""The sizes of Table 5 by which the latest crash is chosen. The numbers for 8, 32 and 128 processes are predicted."""


class Ladc18Study(Study):
    """Tables 2 to 5 and Figures 3 and 4."""

    name = "ladc18"
    title = "Best-effort broadcast over VCube trees with bundled messages"
    paper = "ladc18"
    published = "published.csv"
    Params = Ladc18Params
    sweeps: ClassVar[Mapping[str, Any]] = {
        "smallest": [{"processes": 8, "crashes": crashes} for crashes in (0, 1)],
        "demo": [{"processes": n, **SCENARIOS[s]} for n in (8, 16, 64) for s in ("NO-AGGR", "SMALL2")],
        "table2": [{**p, "trees": t} for t in (1, 2, 4, 8, 16) for p in _grid([16])],
        "table3": [*_grid(SIZES), *_grid(SIZES, crashes=1)],
        "table4": [*_grid(SIZES), *_grid(SIZES, crashes=1)],
        "table5": [p for n in SIZES for p in _grid([n], crashes=dimension(n) - 1)],
        "table5_fit": [
            {**point, "crash_within": limit}
            for limit in CRASH_LIMITS
            for n in SIZES
            if n <= max(FITTED_SIZES)
            for point in _grid([n], crashes=dimension(n) - 1)
        ],
        "detection": [
            {
                "processes": n,
                **SCENARIOS["SMALL2"],
                "crashes": crashes,
                "crash_within": 30.0,
                "test_until": 34.0 * (dimension(n) ** 2 + 1),
            }
            for n in SIZES[:4]
            for crashes in (dimension(n) - 1, n // 2)
        ],
        "float": _grid(SIZES, clock="float"),
        "fig3": _grid(SIZES),
        "fig4": [{"processes": 1024, **SCENARIOS[s]} for s in ("SMALL2", "BIG2")],
        "small": _grid(SIZES[:5]) + _grid(SIZES[:5], crashes=1),
    }
    headlines = (
        Headline("latency", "latency", "units", "time of the last packet's arrival"),
        Headline("packets", "packets", "", "sent in the whole run"),
    )
    plots = (
        Plot("Latency, fault-free", "ladc18", "latency", "processes", "max_delay", {**FAULT_FREE, "tree_size": 24},
             "ladc18, Table 3", y_label="units", log_x=True, log_y=True),
        Plot("Packets, fault-free", "ladc18", "packets", "processes", "tree_size", {**FAULT_FREE, "max_delay": 2.0},
             "ladc18, Table 4", log_x=True, log_y=True),
        Plot("Messages in a packet of p0", "ladc18", "bundled", series="tree_size", where={"processes": 1024},
             paper="ladc18, Fig. 4", kind="time"),
    )  # fmt: skip

    def network(self, params: Ladc18Params, seed: int) -> AbstractNetwork:
        """Return a network with constant delays; with crashes, each process has a failure detector as a second node."""
        n = params.processes
        dimension(n)
        if params.clock == "float":
            return AbstractNetwork(nodes=n, delay=constant_delay(TRAVEL_MS), workload=Workload(nodes=n))
        node = _sources(params)
        script = Script(np.zeros(len(node), np.int64), node, np.full(len(node), params.tree_size, np.int32))
        with_detectors = n if params.crashes else 0
        return AbstractNetwork(
            nodes=n + with_detectors,
            delay=constant_delay(TRAVEL_MS),
            workload=Workload(nodes=n, messages=len(node), script=script),
            send_ps=SEND_PS,
            faults=_faults(params, seed),
        )

    def protocol(self, params: Ladc18Params) -> Protocol:
        """Return the broadcast protocol with the limits of the parameters."""
        limits = Limits(
            params.processes, round(params.max_delay * UNIT_PS), params.max_payload, params.tree_size,
            params.ack_size, round(params.test_interval * UNIT_PS), REPLY_TIMEOUT_PS,
            round(params.test_until * UNIT_PS),
        )  # fmt: skip
        if params.clock == "float":
            return FloatingBroadcast(limits, params.max_delay, _sources(params).tolist())
        return BundledBroadcast(limits)

    def checks(self, params: Ladc18Params) -> Checks:
        """Return the settings of `causeway check ladc18`."""
        from causeway.studies.ladc18 import exploration

        return exploration.checks(params)

    def reaction_ps(self, params: Ladc18Params) -> int:
        """Return the reaction time, 0.1 units."""
        return REACTION_PS

    def observers(self, params: Ladc18Params, nodes: int) -> list[Observer]:
        """Return the audit of best-effort broadcast."""
        return [BestEffortAudit(params.processes)] if params.clock == "exact" else []

    def scalars(self, params: Ladc18Params, scalars: dict[str, float]) -> dict[str, float]:
        """Replace the time of the last arrival by the latency in units."""
        if params.clock == "float":
            return {**scalars, "latency": round(scalars.pop("last_arrival"), 9)}
        scalars["detected"] = scalars.pop("learned_ps") / UNIT_PS
        # The application's call takes effect one reaction time after its event, which is the paper's time 0.
        # If no packet arrives, the last arrival is 0.
        latency = max(0.0, (scalars.pop("last_arrival_ps") - REACTION_PS) / UNIT_PS)
        return {**scalars, "latency": round(latency, 9)}


def _sources(params: Ladc18Params) -> NDArray[np.int32]:
    """Return the source of each message: each of the first `trees` processes has the same number."""
    n = params.processes
    sources = min(params.trees or n, n)
    return np.repeat(np.arange(sources, dtype=np.int32), max(1, n // sources))


def _faults(params: Ladc18Params, seed: int) -> Faults:
    """Return the crashes: a process and its detector crash together."""
    n = params.processes
    if params.crashes == 0:
        return Faults()
    if params.crashes == 1:
        when = {1: 0}
    else:
        within_ps = round((params.crash_within or min(n / 10, LATEST_CRASH)) * UNIT_PS)
        when = {}
        for attempt in range(100 * n):
            if len(when) == min(params.crashes, n - 1):
                break
            process = int(draw_unit(seed, STREAM_PROTOCOL, 0, attempt) * n)
            when.setdefault(process, int(draw_unit(seed, STREAM_PROTOCOL, 1, attempt) * within_ps))
    rows = sorted((t, node) for process, t in when.items() for node in (process, process + n))
    return Faults(
        np.array([t for t, _ in rows], np.int64),
        np.array([node for _, node in rows], np.int32),
        np.zeros(len(rows), np.uint8),
    )
