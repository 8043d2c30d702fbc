"""Handlers of nodes: events a second that one process of the controller works through, inline and over OMNeT++."""

from __future__ import annotations

import resource

from bench.bench_aio import HandlerPing
from causeway.bridge import engines
from causeway.bridge.engine import Engine, RunSpec
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import PerNode

NODES, HOPS, ROUNDS = 1000, 300, 4
REACTION_PS = 10**9
SHARE = "over OMNeT++ / inline"

COMPARED = {SHARE: "higher"}


class Ping(HandlerPing):
    hops, nodes = HOPS, NODES


def run() -> dict[str, object]:
    """By processor time, the simulator's and its start's too; the quickest of some runs that take turns."""
    here = [name for name in ("inline", "omnet") if engines.get(name).missing() is None]
    best = dict.fromkeys(here, 0.0)
    for _ in range(ROUNDS):
        for name in here:
            best[name] = max(best[name], _events_per_s(engines.get(name)))
    figures: dict[str, object] = {f"handler events/CPU-s, {name}": value for name, value in best.items()}
    return figures | ({SHARE: best["omnet"] / best["inline"]} if "omnet" in best else {})


def _events_per_s(engine: Engine) -> float:
    spec = RunSpec("bench", {}, 1, AbstractNetwork(NODES, delay=constant_delay(10), workload=Workload(0)), REACTION_PS)
    before_s = _cpu_s()
    outcome = run_protocol(engine, spec, PerNode(lambda _: Ping(), NODES - 1), [])
    return outcome.events / (_cpu_s() - before_s)


def _cpu_s() -> float:
    """Return the processor time of this process and of the simulators that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
