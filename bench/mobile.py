"""The common part of benchmarks of packet-level engines: a run of mobile20, and its cost with more hosts."""

from __future__ import annotations

from typing import Any

from causeway.bridge.engine import Engine, RunSpec
from causeway.pycontrol.loop import Outcome, passive_mask, run_protocol
from causeway.studies.mobile20.study import Mobile20Params, Mobile20Study

HOSTS = (35, 70, 140, 280)
SEED = 1
PLAIN: dict[str, Any] = {"spacing_m": 180.0, "placement": "anywhere"}
"""The positions of stations and hosts in the network without a bridge (omnet/inet/omnetpp.ini)."""


def run_mobile(engine: Engine, params: Mobile20Params, seed: int = SEED) -> tuple[Outcome, float]:
    """Make one run; return it with its simulated seconds."""
    study = Mobile20Study()
    protocol, duration_ps = study.protocol(params), study.duration_ps(params)
    network = study.network(params, seed)
    spec = RunSpec(
        study.name, params.model_dump(), seed, network, study.reaction_ps(params), duration_ps,
        passive_kinds=passive_mask(protocol),
    )  # fmt: skip
    return run_protocol(engine, spec, protocol, study.observers(params, network.nodes)), duration_ps / 1e12


def cost_by_hosts(engine: Engine, radio: str) -> dict[str, float]:
    """Measure figures by number of hosts.

    The load is the same for all: 25 broadcasts per second of the whole system.
    """
    figures: dict[str, float] = {}
    for hosts in HOSTS:
        params = Mobile20Params(experiment="dynamic", **PLAIN, radio=radio, hosts=hosts, duration_s=8, drain_s=1)
        outcome, simulated_s = run_mobile(engine, params)
        figures[f"wall_s_per_simulated_s_{hosts}_hosts"] = outcome.wall_s / simulated_s
        figures[f"controller_share_{hosts}_hosts"] = outcome.controller_s / outcome.wall_s
        figures[f"simulator_events_per_simulated_s_{hosts}_hosts"] = outcome.finish.events / simulated_s
        figures[f"windows_per_simulated_s_{hosts}_hosts"] = outcome.windows / simulated_s
    return figures
