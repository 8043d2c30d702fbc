"""A small study on the abstract network, for the tests of the machinery around studies."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.studies.study import Params, Study


class Flood(Node):
    """Sends to all nodes and delivers at once, without any order."""

    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, content, sender, interface):
        self.deliver(content)
        if self.id == 0:
            self.record("delivered", content)


class ToyParams(Params):
    processes: int = Field(10, ge=2, le=1000, description="number of processes")
    rate: float = Field(50.0, gt=0, description="broadcasts per second in the whole system")
    messages: int = Field(200, ge=1, description="broadcasts in a run")
    order: Literal["fifo", "none"] = "none"


class ToyStudy(Study):
    name = "toy"
    title = "flooding without order"
    Params = ToyParams
    sweeps: ClassVar = {"rates": [{"rate": 20.0}, {"rate": 80.0}], "demo": [{"messages": 20}]}

    def network(self, params, seed):
        workload = Workload(params.processes, messages=params.messages, segments=(Segment(0, params.rate),))
        return AbstractNetwork(params.processes, delay=normal_delay(100, 20), workload=workload)

    def protocol(self, params):
        return PerNode(Flood, params.processes - 1)
