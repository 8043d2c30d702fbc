"""Runs of best-effort broadcast on the inline engine, for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Faults, Script, Workload
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocols.ladc18.audit import BestEffortAudit
from causeway.pycontrol.protocols.ladc18.node import BundledProcesses, Process
from causeway.pycontrol.protocols.ladc18.vectorized import BundledBroadcast, Limits
from causeway.studies.ladc18.study import REACTION_PS, REPLY_TIMEOUT_PS, SEND_PS, TRAVEL_MS, UNIT_PS

Crashes = Mapping[int, int]
"""process -> time in ps"""


def limits(n: int, scenario: Mapping[str, Any], test_until_ps: int = 0) -> Limits:
    """Return a column of Table 1, with failure detectors."""
    delay_ps = round(scenario["max_delay"] * UNIT_PS)
    sizes = (scenario["max_payload"], scenario["tree_size"], scenario["ack_size"])
    return Limits(n, delay_ps, *sizes, 30 * UNIT_PS, REPLY_TIMEOUT_PS, test_until_ps)


def as_in_the_paper(limits: Limits, make: Callable[..., Process] = Process) -> BundledProcesses:
    """Return the reference implementation of the protocol, or a broken one."""
    protocol = BundledProcesses(limits)
    protocol.make_process = lambda i: make(i, limits, protocol.tally)  # type: ignore[method-assign]
    return protocol


def run(
    limits: Limits,
    broadcasts: list[tuple[int, int]],
    crashes: Crashes,
    seed: int = 1,
    delay: np.ndarray | None = None,
    protocol: Protocol | None = None,
    units: int = 3000,
    cap: int = 0,
) -> Outcome:
    """Make a run, vectorized by default; `broadcasts` are (time in ps, process)."""
    n = limits.processes
    broadcasts = sorted(broadcasts)
    script = Script(
        np.array([t for t, _ in broadcasts], np.int64),
        np.array([i for _, i in broadcasts], np.int32),
        np.full(len(broadcasts), 24, np.int32),
    )
    rows = sorted((t, node) for i, t in crashes.items() for node in (i, i + n))
    faults = Faults(
        np.array([t for t, _ in rows], np.int64),
        np.array([node for _, node in rows], np.int32),
        np.zeros(len(rows), np.uint8),
    )
    network = AbstractNetwork(
        2 * n, delay=constant_delay(TRAVEL_MS) if delay is None else delay,
        workload=Workload(n, messages=len(broadcasts), script=script), send_ps=SEND_PS, faults=faults,
    )  # fmt: skip
    spec = RunSpec("test", {}, seed, network, REACTION_PS, duration_ps=units * UNIT_PS, cap=cap)
    return run_protocol(InlineEngine(), spec, protocol or BundledBroadcast(limits), [BestEffortAudit(n)])
