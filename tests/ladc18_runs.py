"""Runs of best-effort broadcast on the inline engine, for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bridge.engine import RunSpec
from bridge.engines.inline import InlineEngine
from bridge.network import AbstractNetwork, constant_delay
from bridge.workload import Faults, Script, Workload
from pycontrol.loop import run_protocol
from pycontrol.protocols.ladc18 import BundledBroadcast, Limits, Process
from pycontrol.protocols.ladc18_audit import BestEffortAudit
from studies.ladc18 import REACTION_PS, REPLY_TIMEOUT_PS, SEND_PS, TRAVEL_MS, UNIT_PS

Crashes = Mapping[int, int]
"""process -> time in ps"""


def limits(n: int, scenario: Mapping[str, Any], test_until_ps: int = 0) -> Limits:
    """A column of Table 1, with failure detectors."""
    delay_ps = round(scenario["max_delay"] * UNIT_PS)
    sizes = (scenario["max_payload"], scenario["tree_size"], scenario["ack_size"])
    return Limits(n, delay_ps, *sizes, 30 * UNIT_PS, REPLY_TIMEOUT_PS, test_until_ps)


def run(
    limits: Limits,
    broadcasts: list[tuple[int, int]],
    crashes: Crashes,
    seed: int = 1,
    delay: np.ndarray | None = None,
    make: Callable[..., Process] = Process,
    units: int = 3000,
    cap: int = 0,
) -> dict[str, float]:
    """The scalars of a run; `broadcasts` are (time in ps, process)."""
    n = limits.processes
    protocol = BundledBroadcast(limits)
    protocol.make_process = lambda i: make(i, limits, protocol.tally)  # type: ignore[method-assign]
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
        2 * n, constant_delay(TRAVEL_MS) if delay is None else delay,
        Workload(n, messages=len(broadcasts), script=script), send_ps=SEND_PS, faults=faults,
    )  # fmt: skip
    spec = RunSpec("test", {}, seed, network, REACTION_PS, duration_ps=units * UNIT_PS, cap=cap)
    return dict(run_protocol(InlineEngine(), spec, protocol, [BestEffortAudit(n)]).scalars)
