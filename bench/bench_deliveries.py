"""Deliveries a second with a real protocol and the checker: 1,000 processes, a clock of 260, 100 broadcasts/s."""

from __future__ import annotations

import resource
from typing import Any

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, passive_mask, run_protocol
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock

PROCESSES, CLOCK, ENTRIES, RATE = 1000, 260, 2, 100.0
MS = 10**9


def run() -> dict[str, object]:
    """The figures. Per CPU second counts the controller and the simulator together: other work here does not matter."""
    figures: dict[str, Any] = {}
    for name in ("inline", "omnet"):
        if why := engines.get(name).missing():
            figures[f"{name} not run"] = why
            continue
        _run(name, 100)  # compiles
        before = _cpu_s()
        outcome = _run(name, 5000)
        figures[f"{name} deliveries/s"] = outcome.scalars["deliveries"] / outcome.wall_s
        figures[f"{name} deliveries/CPU-s"] = outcome.scalars["deliveries"] / (_cpu_s() - before)
        figures[f"{name} controller's share of the time"] = outcome.controller_s / outcome.wall_s
    if "omnet deliveries/s" in figures:
        figures["omnet / inline"] = figures["omnet deliveries/s"] / figures["inline deliveries/s"]
    return figures


def _run(engine: str, messages: int) -> Outcome:
    workload = Workload(PROCESSES, messages=messages, segments=(Segment(0, RATE),))
    network = AbstractNetwork(PROCESSES, delay=normal_delay(100, 20), workload=workload)
    protocol = ProbabilisticClock(CLOCK, ENTRIES)
    spec = RunSpec("bench", {}, 1, network, MS, passive_kinds=passive_mask(protocol))
    return run_protocol(engines.get(engine), spec, protocol, [CausalityChecker(PROCESSES)])


def _cpu_s() -> float:
    """CPU time of this process and of the simulators that have ended."""
    return sum(
        u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
