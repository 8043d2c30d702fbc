"""Measure the cost of a simulated second on ns-3 with more hosts (mobile20, dynamic), and the controller's share."""

from __future__ import annotations

from bench.mobile import cost_by_hosts
from causeway.bridge.engines.ns3 import Ns3Engine
from causeway.errors import UserError


def run() -> dict:
    """Measure all figures by number of hosts."""
    engine = Ns3Engine()
    if (why := engine.missing()) is not None:
        raise UserError(why)
    return cost_by_hosts(engine, "wifi")
