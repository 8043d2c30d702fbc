"""The engines, by name. A new engine is one file in this folder and one line here."""

from __future__ import annotations

import importlib

from causeway.bridge.engine import Engine
from causeway.bridge.errors import unknown

ENGINES = {
    "inline": "causeway.bridge.engines.inline:InlineEngine",
    "omnet": "causeway.bridge.engines.omnet:OmnetEngine",
    "ns3": "causeway.bridge.engines.ns3:Ns3Engine",
    "replay": "causeway.bridge.engines.replay:ReplayEngine",
}
"""name -> module:class"""


def get(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    module, _, class_ = ENGINES[name].partition(":")
    return getattr(importlib.import_module(module), class_)()
