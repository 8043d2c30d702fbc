"""The registry of engines. A new engine is one file in this folder and one line here.

The file declares the networks and radios that the engine builds; a study declares the network that it needs, and so
runs on every engine that builds it. Of several, the first one here is the default.
"""

from __future__ import annotations

import importlib

from causeway.bridge.engine import Engine
from causeway.errors import unknown
from causeway.network.networks import MobileNetwork, Network

ENGINES = {
    "inline": "causeway.bridge.engines.inline:InlineEngine",
    "omnet": "causeway.bridge.engines.omnet:OmnetEngine",
    "ns3": "causeway.bridge.engines.ns3:Ns3Engine",
    "replay": "causeway.bridge.engines.replay:ReplayEngine",
}
"""name -> module:class"""


def get(name: str) -> Engine:
    """Return the engine of that name."""
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    module, _, class_ = ENGINES[name].partition(":")
    return getattr(importlib.import_module(module), class_)()


def builds(engine: Engine, network: Network) -> bool:
    """Return whether an engine can build such a network, here or on a machine with the software that it needs."""
    if not isinstance(network, engine.networks):
        return False
    return not isinstance(network, MobileNetwork) or network.radio in getattr(engine, "radios", ())
