"""Measure clocks and checker inline: 200 processes, a clock of 50, with and without the hash error detector.

In plain C++, simulation and check together make 5.4 million deliveries of such a clock per second on one core.
"""

from __future__ import annotations

import time

import numpy as np

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.pycontrol.protocol import Observer, Protocol
from causeway.pycontrol.protocols.clocks.vectorized import ProbabilisticClock
from causeway.pycontrol.protocols.hash.vectorized import HashDetector

PROCESSES, CLOCK, ENTRIES, RATE, REACTION_PS = 200, 50, 2, 100.0, 10**9


class Tape(Observer):
    """An observer that keeps all rows."""

    def __init__(self) -> None:
        self.parts: list[tuple[np.ndarray, ...]] = []

    def observe(self, op, time_ps, node, message) -> None:
        self.parts.append((op.copy(), time_ps.copy(), node.copy(), message.copy()))

    def scalars(self) -> dict[str, float]:
        return {}


def run() -> dict[str, object]:
    """Measure deliveries per second of processor time."""
    figures: dict[str, object] = {}
    makers = {
        "probabilistic": lambda: ProbabilisticClock(CLOCK, ENTRIES),
        "hash detector": lambda: HashDetector(CLOCK, ENTRIES, 1000, 1024, retest=True),
    }
    for name, make in makers.items():
        _run(make(), 50, CausalityChecker(PROCESSES))  # compiles the kernels
        began = time.process_time()
        _run(make(), 5000, CausalityChecker(PROCESSES))
        figures[f"{name}, simulated and checked: deliveries/CPU-s"] = 5000 * PROCESSES / (time.process_time() - began)
    tape = Tape()
    _run(makers["probabilistic"](), 5000, tape)
    checker = CausalityChecker(PROCESSES)
    began = time.process_time()
    for part in tape.parts:
        checker.observe(*part)
    figures["checker alone: deliveries/CPU-s"] = 5000 * PROCESSES / (time.process_time() - began)
    return figures


def _run(protocol: Protocol, messages: int, observer: Observer) -> None:
    workload = Workload(PROCESSES, messages=messages, segments=(Segment(0, RATE),))
    network = AbstractNetwork(PROCESSES, delay=normal_delay(100, 20), workload=workload)
    spec = RunSpec("bench", {}, 1, network, REACTION_PS, passive_kinds=passive_mask(protocol))
    run_protocol(InlineEngine(), spec, protocol, [observer])
