"""Short runs of clock protocols on the inline engine, for tests."""

from __future__ import annotations

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, passive_mask, run_protocol
from causeway.pycontrol.protocol import Protocol

MS_PS = 10**9


def run(
    protocol: Protocol, nodes: int = 20, rate_per_s: float = 200, messages: int = 300, seed: int = 1, cap: int = 0,
    loss: float = 0.0, engine: str = "inline",
) -> Outcome:  # fmt: skip
    """Make a run with delays of N(100 ms, 20 ms), checked for causality."""
    workload = Workload(nodes, messages=messages, size_bytes=100, segments=(Segment(0, rate_per_s),))
    network = AbstractNetwork(nodes, delay=normal_delay(100, 20, 1), workload=workload, loss=loss)
    spec = RunSpec("test", {}, seed, network, MS_PS, passive_kinds=passive_mask(protocol), cap=cap)
    return run_protocol(engines.get(engine), spec, protocol, [CausalityChecker(nodes)])
