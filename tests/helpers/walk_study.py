"""The study of the walk in CONTRIBUTING.md: flooding between five processes, and one figure."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from causeway import EVERYONE, AbstractNetwork, Node, Params, PerNode, Plot, Segment, Study, Workload, normal_delay


class Flooder(Node):
    """A process that delivers every message when it arrives."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, message: int, sender: int, interface: int) -> None:
        self.deliver(message)


class WalkParams(Params):
    rate: float = Field(50.0, gt=0, description="broadcasts per second of the whole system")


class WalkStudy(Study):
    name, title, Params = "walk", "flooding", WalkParams
    sweeps: ClassVar = {"rates": [{"rate": 20.0}, {"rate": 80.0}]}
    plots = (Plot("Violations of causal order", "walk", "violations", "rate"),)

    def network(self, params: WalkParams, seed: int) -> AbstractNetwork:
        workload = Workload(5, messages=20, segments=(Segment(0, params.rate),))
        return AbstractNetwork(5, delay=normal_delay(100, 20), workload=workload)

    def protocol(self, params: WalkParams) -> PerNode:
        return PerNode(Flooder)
