"""The engine ns3: mobile networks on ns-3, for machines without OMNeT++ and for comparison with INET.

The simulator is a program of Causeway's own (see ns3/), compiled at its first use against the ns-3 that
`toolchain/ns3_find.py` finds.
"""

from __future__ import annotations

from causeway.bridge.engine import RunSpec
from causeway.bridge.session import PairSession, open_session
from causeway.errors import UserError
from causeway.network.networks import MobileNetwork, Network
from causeway.toolchain.adapters import Adapter, build, missing_tools
from causeway.toolchain.ns3_find import find_ns3, missing_ns3

PROGRAM = "ns3/causeway-ns3"


class Ns3Engine:
    """Runs mobile networks on ns-3."""

    name = "ns3"
    networks = (MobileNetwork,)
    radios = ("unitdisk", "wifi")

    def missing(self, network: Network | None = None) -> str | None:
        """See `causeway.bridge.engine.Engine`."""
        adapters = self.adapters()
        if not adapters:
            return missing_ns3()
        if isinstance(network, MobileNetwork) and network.radio not in self.radios:
            there = " and ".join(self.radios)
            return f"engine ns3 has no radio '{network.radio}', it has {there}: use one of them, or --engine omnet"
        return None if adapters[0].is_built() else missing_tools() or adapters[0].failure()

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return the adapter for the installed ns-3, if there is one."""
        found = find_ns3()
        if found is None or found.refusal:
            return []
        return [Adapter("ns-3", f"ns3-{found.version}", "ns3", (PROGRAM,), found.variables)]

    def open(self, spec: RunSpec) -> PairSession:
        """Begin a run. Compile the adapter first if it is out of date."""
        if not isinstance(spec.network, MobileNetwork):
            raise UserError(f"engine 'ns3' builds mobile networks only: run study '{spec.study}' on inline or omnet")
        if (why := self.missing(spec.network)) is not None:
            raise UserError(f"engine ns3 cannot run here: {why}")
        adapter, found = self.adapters()[0], find_ns3()
        assert found is not None
        build(adapter)
        return open_session(
            spec, self.name, [str(adapter.product(PROGRAM))], {"CAUSEWAY_ENGINE_VERSION": found.text}
        )  # fmt: skip
