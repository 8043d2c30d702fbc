"""A study for clusters: it reads a file beside it, and a worker cannot run it from the user's own folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

import causeway
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.studies.study import Params, Study

HERE = Path(__file__).parent
PACKAGE = Path(causeway.__path__[0])
if "pyspark.worker" in sys.modules or "pyspark.daemon" in sys.modules:
    assert "users-own" not in HERE.parts, f"the worker took the study from {HERE}"
    assert "unpacked" in PACKAGE.parts, f"the worker took Causeway from {PACKAGE}"


class Flood(Node):
    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, content, sender, interface):
        self.deliver(content)
        if self.id == 0:
            self.record("delivered", content)


class ShippedParams(Params):
    messages: int = 100


class ShippedStudy(Study):
    name = "shipped"
    title = "a study that goes along"
    Params = ShippedParams
    files = ("data/*.txt",)
    sweeps: ClassVar = {"sizes": [{"messages": 300}, {"messages": 600}]}

    def network(self, params, seed):
        workload = Workload(5, messages=params.messages, segments=(Segment(0, 50.0),))
        return AbstractNetwork(5, delay=normal_delay(100, 20), workload=workload)

    def protocol(self, params):
        return PerNode(Flood, 4)

    def scalars(self, params, scalars):
        return {**scalars, "factor": float((HERE / "data" / "factor.txt").read_text())}
