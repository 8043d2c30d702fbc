"""A Communication-Efficient Causal Broadcast Protocol (paper icpp18).

One unit of the paper's time is 1 ms here. A packet waits in its sender's queue, takes 1 unit to send (t_t) and a
normally distributed time with mean 100 to travel (t_pp). The receiver reacts 1 unit later (t_pc), which is the reaction
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.stats import poisson

from causeway.analysis.plots import Headline, Plot
from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.random import STREAM_PROTOCOL, draw_unit
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocols.icpp18.compared import Compared
from causeway.pycontrol.protocols.icpp18.queueing import QueueingNodes
from causeway.pycontrol.protocols.icpp18.vectorized import CausalAggregation, Wire
from causeway.pycontrol.protocols.vcube.tree import dimension
from causeway.studies.limits import must_fit
from causeway.studies.study import MS_PS, Params, Study

if TYPE_CHECKING:
    from causeway.explore.checks import Checks

UNIT_PS = MS_PS
UNIT_NS = UNIT_PS // 1000


class Icpp18Params(Params):
    """The parameters of icpp18: size, variant, and values that the paper leaves open."""

    nodes: int = Field(64, ge=2, le=4096, description="number of nodes; a power of two")
    aggregation: bool = Field(True, description="send a message together with the messages that it depends on")
    trees: Literal["multi", "single"] = Field(
        "multi", description="multi: one tree per source; single: one tree for all"
    )
    message_size: int = Field(50, ge=0, le=1_000_000, description="size of a message without its clock, in bytes")
    mtu: int = Field(1500, ge=1, le=10_000_000, description="size of the largest packet, in bytes")
    messages: int = Field(1, ge=1, le=10_000, description="number of broadcasts per node")
    spread: float = Field(600.0, ge=1e-3, le=1e6, description="all broadcasts start within this time, in units")
    start: Literal["triangular", "uniform", "poisson"] = Field(
        "triangular", description="distribution of the start times; poisson: with mean spread, as printed"
    )
    delay_mean: float = Field(100.0, ge=0, le=1e6, description="mean delay of a packet, in units")
    delay_sd: float = Field(25.0, ge=0, le=1e6, description="standard deviation of the delay, in units")
    whole_units: bool = Field(False, description="truncate delays to whole units, as in the first author's VCube-PS")
    in_queue: bool = Field(
        False, description="later messages to the same child join a packet that waits for its sender's CPU"
    )
    slow: float = Field(
        0.0, ge=0, le=1e5, description="maximum additional time of a node before it sends, in units; nodes differ"
    )
    warmup: int = Field(
        0, ge=0, le=9_999, description="number of first broadcasts of each node that are left out of the dependencies"
    )
    compare: bool = Field(False, description="repeat the run without aggregation, and record the differences")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.nodes & (self.nodes - 1):
            raise ValueError(f"a VCube has 2, 4, 8, ... processes, not {self.nodes}: choose a power of two")
        if self.compare and not self.aggregation:
            raise ValueError("compare=true compares aggregation with none; set aggregation=true")
        if self.compare and (self.in_queue or self.slow or self.warmup):
            raise ValueError("compare=true needs in_queue=false, slow=0 and warmup=0")
        if self.in_queue and (self.slow or self.warmup):
            raise ValueError("in_queue=true needs slow=0 and warmup=0")
        if self.warmup >= self.messages:
            raise ValueError(f"warmup={self.warmup} leaves none of {self.messages} broadcasts of a node")
        must_fit("the times of all messages at all nodes", self.nodes * self.nodes * self.messages)
        return self


PRINTED = {"messages": 1, "message_size": 50, "delay_sd": 25.0, "start": "triangular", "compare": False}
MANY_TREES: dict[str, object] = {"trees": "multi", **PRINTED}
AGGREGATED: dict[str, object] = {"aggregation": True, **PRINTED}
COMPARED: dict[str, object] = {**AGGREGATED, "compare": True}
SIZES = [8, 16, 32, 64, 128, 256, 512, 1024]


STARTS: list[dict[str, Any]] = [
    {"start": "poisson", "spread": 1000.0},
    *({"start": "uniform", "spread": spread} for spread in (450.0, 1000.0)),
    {"start": "uniform", "spread": 500.0, "whole_units": True},
]
"""The printed start times, other random times, and those of the first author's VCube-PS."""


def _both(sizes: list[int], **fixed: Any) -> list[dict[str, Any]]:
    return [{"nodes": n, "aggregation": a, **fixed} for n in sizes for a in (True, False)]


class Icpp18Study(Study):
    """Tables 1 to 3 and Figures 6 to 11."""

    name = "icpp18"
    title = "Causal broadcast over VCube trees with aggregation"
    paper = "icpp18"
    published = "published.csv"
    Params = Icpp18Params
    sweeps: ClassVar[Mapping[str, Any]] = {
        "smallest": _both([4]),
        "demo": _both([16, 64, 256]),
        "table1": _both(SIZES),
        "table1_sd35": _both(SIZES, delay_sd=35.0),
        "table2": [{"nodes": 256}],
        "table3": _both([256]),
        "fig6": _both([256]),
        "fig7": _both(SIZES),
        "fig8": [{"nodes": n, "compare": True} for n in SIZES],
        "fig9": _both([1024]),
        "fig10": [{"nodes": 1024, "message_size": b} for b in (50, 5)],
        "deviations": [{"nodes": n, "delay_sd": sd} for n in SIZES for sd in (30.0, 40.0, 50.0)],
        "starts": [
            *({"nodes": n, "aggregation": a, **start} for n in SIZES for start in STARTS for a in (True, False)),
            *({"nodes": 256, "compare": True, **start} for start in STARTS),
        ],
        "readings": [
            *(
                {"nodes": n, **how, **start}
                for n in SIZES
                for start in (STARTS[0], STARTS[3])
                for how in ({"aggregation": True}, {"aggregation": False}, {"compare": True})
            ),
            *({"nodes": 1024, "message_size": 5, **start} for start in (STARTS[0], STARTS[3])),
            *({"nodes": n, "trees": "single", **start} for n in (32, 128) for start in (STARTS[0], STARTS[3])),
        ],
        "vcube_ps": [
            {"nodes": n, "whole_units": whole, **start}
            for n in (256, 512, 1024)
            for start in ({}, {"start": "uniform", "spread": 500.0})
            for whole in (True, False)
        ],
        "spreads": [
            {"nodes": n, "spread": spread} for n in SIZES[1:] for spread in (400.0, 450.0, 500.0, 550.0, 650.0, 700.0)
        ],
        "in_queue": [
            {"nodes": n, "in_queue": True, "aggregation": aggregation, **start}
            for n in (16, 32, 64, 128)
            for aggregation in (True, False)
            for start in ({}, STARTS[0])
        ],
        "slow": [
            {"nodes": 1024, "slow": slow, "aggregation": a} for slow in (50.0, 100.0, 200.0) for a in (True, False)
        ],
        "several": [
            {"nodes": n, "messages": 5, "warmup": 2, "aggregation": a} for n in (64, 256) for a in (True, False)
        ],
        "fig11": [{"nodes": n, "trees": t} for n in SIZES for t in ("multi", "single")],
    }
    headlines = (
        Headline("packets", "packets", "", "sent in the whole run"),
        Headline("several", "aggregated_share", "%", "share of packets that contain several messages"),
        Headline("reception", "reception_latency", "units", "mean time from broadcast to arrival"),
        Headline("delivery", "delivery_latency", "units", "mean time from broadcast to delivery"),
    )
    plots = (
        Plot("Packets", "icpp18", "packets", "nodes", "aggregation", MANY_TREES, "icpp18, Table 1",
             log_x=True, log_y=True),
        Plot("Reception latency", "icpp18", "reception_latency", "nodes", "aggregation", MANY_TREES,
             "icpp18, Fig. 7", y_label="units", log_x=True),
        Plot("Delivery latency", "icpp18", "delivery_latency", "nodes", "aggregation", MANY_TREES,
             "icpp18, Fig. 7", y_label="units", log_x=True),
        Plot("Change of reception latency by aggregation", "icpp18", "reception_change", "nodes", "trees", COMPARED,
             "icpp18, Fig. 7", y_label="%", log_x=True),
        Plot("Change of delivery latency by aggregation", "icpp18", "delivery_change", "nodes", "trees", COMPARED,
             "icpp18, Fig. 7", y_label="%", log_x=True),
        Plot("Change of reception latency in pairs by aggregation", "icpp18", "pair_reception_change", "nodes", "trees",
             COMPARED, "icpp18, Fig. 8", y_label="%", log_x=True),
        Plot("Change of delivery latency in pairs by aggregation", "icpp18", "pair_delivery_change", "nodes", "trees",
             COMPARED, "icpp18, Fig. 8", y_label="%", log_x=True),
        Plot("Change of the wait for delivery in pairs by aggregation", "icpp18", "pair_wait_change", "nodes", "trees",
             COMPARED, "icpp18, Fig. 8", y_label="%", log_x=True),
        Plot("Packets with several messages", "icpp18", "packets_aggregated", "nodes", "trees", AGGREGATED,
             "icpp18, Fig. 11", log_x=True, log_y=True),
        Plot("Messages held before delivery", "icpp18", "messages_held", "nodes", "trees", AGGREGATED,
             "icpp18, Fig. 11", log_x=True, log_y=True),
    )  # fmt: skip

    def network(self, params: Icpp18Params, seed: int) -> AbstractNetwork:
        """Return nodes with normal delays, and their broadcasts."""
        dimension(params.nodes)
        return AbstractNetwork(
            nodes=params.nodes,
            delay=_delays(params),
            workload=_workload(params, seed),
            send_ps=UNIT_PS,
        )

    def protocol(self, params: Icpp18Params) -> Protocol:
        """Return the protocol; with `compare`, one that also runs the scenario without aggregation."""
        wire = _wire(params)
        single = params.trees == "single"
        if params.in_queue:
            return QueueingNodes(params.nodes, params.aggregation, single, wire)
        if not params.compare:
            slow_ps = round(params.slow * UNIT_PS)
            return CausalAggregation(
                params.messages, params.aggregation, single, wire, slow_ps=slow_ps, warmup=params.warmup
            )
        return Compared(params.messages, single, wire, lambda seed: self._without_aggregation(params, seed))

    def _without_aggregation(self, params: Icpp18Params, seed: int) -> CausalAggregation:
        """Run the same scenario without aggregation to its end, and return its protocol.

        It runs on the inline engine, since the result is the same on every engine.
        """
        wire = _wire(params)
        protocol = CausalAggregation(params.messages, False, params.trees == "single", wire, keep_times=True)
        spec = RunSpec(self.name, {}, seed, self.network(params, seed), self.reaction_ps(params))
        run_protocol(engines.get("inline"), spec, protocol, [])
        return protocol

    def checks(self, params: Icpp18Params) -> Checks:
        """Return the settings of `causeway check icpp18`."""
        from causeway.studies.icpp18 import exploration

        return exploration.checks(params)

    def reaction_ps(self, params: Icpp18Params) -> int:
        """Return the reaction time, one unit."""
        return UNIT_PS

    def scalars(self, params: Icpp18Params, scalars: dict[str, float]) -> dict[str, float]:
        """Convert latencies and waits to units."""
        names = [name for name in scalars if name.endswith(("_latency_ps", "_latency_max_ps", "_wait_ps"))]
        for name in names:
            scalars[name.removesuffix("_ps")] = scalars.pop(name) / UNIT_PS
        return scalars


def _wire(params: Icpp18Params) -> Wire:
    return Wire(message_bytes=params.message_size, mtu_bytes=params.mtu, send_ps=UNIT_PS)


def _delays(params: Icpp18Params) -> NDArray[np.float64]:
    """Return quantiles of the delays.

    With `whole_units` they are truncated to whole units, except for one delay in eighty, which is interpolated.
    """
    delays = normal_delay(params.delay_mean, params.delay_sd)
    return np.floor(delays / UNIT_NS) * UNIT_NS if params.whole_units else delays


def _workload(params: Icpp18Params, seed: int) -> Workload:
    """Return the broadcasts: each node has `messages`, each in an interval of length `spread`."""
    rows = []
    for number in range(params.messages):
        for node in range(params.nodes):
            first, second = (draw_unit(seed, STREAM_PROTOCOL + k, node, number) for k in (0, 1))
            phase = (first + second) / 2 if params.start == "triangular" else first
            units = (phase + number) * params.spread
            if params.start == "poisson":
                units = poisson.ppf(first, params.spread) + number * params.spread
            rows.append((int(units) * UNIT_PS, node))
    rows.sort()
    script = Script(
        np.array([t for t, _ in rows], np.int64),
        np.array([node for _, node in rows], np.int32),
        np.full(len(rows), params.message_size, np.int32),
    )
    return Workload(nodes=params.nodes, messages=len(rows), script=script)
