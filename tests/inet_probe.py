"""The probe of the mobile network (tests/ns3_probe.py) on OMNeT++ with INET."""

from __future__ import annotations

from typing import Any

import pytest
from ns3_probe import MS, Log, Probe, S

from bridge.engine import RunSpec
from bridge.engines.omnet import OmnetEngine
from bridge.engines.omnet_find import find_omnetpp
from bridge.engines.omnet_inet import missing_inet
from bridge.network import MobileNetwork
from pycontrol.loop import Outcome, run_protocol
from pycontrol.node import PerNode

ENGINE = OmnetEngine()


def why_not() -> str | None:
    """Why these tests cannot run here."""
    found = find_omnetpp()
    return ENGINE.missing() or (missing_inet(found) if found else None)


needs_inet = [pytest.mark.omnet, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]


def run(
    net: MobileNetwork, duration_s: float, node: type[Probe] = Probe, seed: int = 1, cap: int = 0, **options: Any
) -> tuple[Log, Outcome]:
    """One run of nodes that log what they see."""
    log = Log()
    probe = type("Logged", (node,), {"log": log})
    spec = RunSpec("test", {}, seed, net, MS, int(duration_s * S), cap=cap, options=options)
    return log, run_protocol(ENGINE, spec, PerNode(lambda _: probe()), [])
