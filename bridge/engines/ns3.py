"""ns-3: the packet-level engine where OMNeT++ is not installed, and a second opinion where it is.

The simulator is `build/ns3/causeway-ns3` (see ns3/), built by `make ns3` against the ns-3 that PyPI offers.
"""

from __future__ import annotations

import os
from pathlib import Path

from causeway.bridge.engine import RunSpec
from causeway.bridge.errors import UserError
from causeway.bridge.network import MobileNetwork, Network
from causeway.bridge.session import PairSession, open_session

BINARY = Path(__file__).resolve().parents[2] / "build" / "ns3" / "causeway-ns3"

RADIOS = ("unitdisk", "wifi")


class Ns3Engine:
    """Runs mobile networks on ns-3."""

    name = "ns3"

    def __init__(self, binary: Path = BINARY) -> None:
        self._binary = binary

    def missing(self, network: Network | None = None) -> str | None:
        if not os.access(self._binary, os.X_OK):
            return "engine 'ns3' is not built: run `make ns3`"
        if isinstance(network, MobileNetwork) and network.radio not in RADIOS:
            there = " and ".join(RADIOS)
            return f"engine ns3 has no radio '{network.radio}', it has {there}: use one of them, or --engine omnet"
        return None

    def open(self, spec: RunSpec) -> PairSession:
        if not isinstance(spec.network, MobileNetwork):
            raise UserError(f"engine 'ns3' builds mobile networks only: run study '{spec.study}' on inline or omnet")
        if (why := self.missing(spec.network)) is not None:
            raise UserError(why)
        return open_session(spec, self.name, [str(self._binary)])
