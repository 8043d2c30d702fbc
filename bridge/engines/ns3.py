"""The engine ns3: mobile networks on ns-3, where OMNeT++ is not installed or as a second opinion.

The simulator is a program of Causeway's own (see ns3/), compiled at its first use against the ns-3 package of PyPI.
"""

from __future__ import annotations

import os
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from causeway.bridge.engine import RunSpec
from causeway.bridge.session import PairSession, open_session
from causeway.errors import UserError
from causeway.network.networks import MobileNetwork, Network
from causeway.toolchain.adapters import Adapter, build, missing_tools

HOW_TO_GET_IT = "no ns-3 found: pip install --no-deps ns3==3.44.post0 (or set NS3_ROOT=...)"
PROGRAM = "ns3/causeway-ns3"


def find_ns3() -> tuple[Path, str] | None:
    """Return the folder of the installed ns-3 package and its version; None if there is none."""
    root = Path(os.environ.get("NS3_ROOT") or Path(sysconfig.get_paths()["platlib"]) / "ns3")
    if not (root / "include" / "ns3").is_dir():
        return None
    try:
        return root, version("ns3")
    except PackageNotFoundError:
        return root, "unknown"


class Ns3Engine:
    """Runs mobile networks on ns-3."""

    name = "ns3"
    networks = (MobileNetwork,)
    radios = ("unitdisk", "wifi")

    def missing(self, network: Network | None = None) -> str | None:
        """See `causeway.bridge.engine.Engine`."""
        adapters = self.adapters()
        if not adapters:
            return HOW_TO_GET_IT
        if isinstance(network, MobileNetwork) and network.radio not in self.radios:
            there = " and ".join(self.radios)
            return f"engine ns3 has no radio '{network.radio}', it has {there}: use one of them, or --engine omnet"
        return None if adapters[0].is_built() else missing_tools()

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return the adapter for the installed ns-3, if there is one."""
        found = find_ns3()
        if found is None:
            return []
        root, version_ = found
        return [Adapter(self.name, f"ns3-{version_}", "ns3", (PROGRAM,), {"NS3_ROOT": str(root)})]

    def open(self, spec: RunSpec) -> PairSession:
        """Begin a run; compile the adapter before if it is out of date."""
        if not isinstance(spec.network, MobileNetwork):
            raise UserError(f"engine 'ns3' builds mobile networks only: run study '{spec.study}' on inline or omnet")
        if (why := self.missing(spec.network)) is not None:
            raise UserError(f"engine ns3 cannot run here: {why}")
        adapter = self.adapters()[0]
        build(adapter)
        return open_session(spec, self.name, [str(adapter.product(PROGRAM))])
