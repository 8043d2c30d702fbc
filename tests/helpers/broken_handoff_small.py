"""Two stations and three hosts that walk fast between them, with the broken handoff of `broken_handoff.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from causeway.network.networks import MobileNetwork
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocols.mobile import Host, Meter, Station, Timing
from causeway.pycontrol.protocols.mobile.messages import what_about
from causeway.studies.study import S_PS, Params, Study
from tests.helpers.broken_handoff import broken


class SmallMobileParams(Params):
    duration_s: int = Field(60, ge=1, description="broadcasts end then")
    rate: float = Field(10.0, gt=0, description="broadcasts a second; with many copies are lost on the air")
    whole: bool = Field(False, description="the handoff as it should be")


class SmallMobileRun(PerNode):
    def about(self, content: Any) -> tuple[Iterable[int], Iterable[int]]:
        return what_about(content)


class SmallBrokenStudy(Study):
    name, title, Params = "broken_handoff_small", "a broken handoff between two stations", SmallMobileParams

    def network(self, params: SmallMobileParams, seed: int) -> MobileNetwork:
        load = (Segment(0, 0.0), Segment(5 * S_PS, params.rate), Segment((5 + params.duration_s) * S_PS, 0.0))
        workload = Workload(3, first_node=2, size_bytes=100, segments=load)
        places = ((0, 0), (180_000, 0))
        return MobileNetwork(
            station_xy_mm=places,
            wires=((0, 1),),
            hosts=3,
            workload=workload,
            speed_mm_s=15_000,
            position_every_ps=S_PS // 10,
        )

    def protocol(self, params: SmallMobileParams) -> PerNode:
        meter, timing = Meter(0, (5 + params.duration_s) * S_PS), Timing()

        def make(id_: int) -> Node:
            if id_ >= 2:
                return Host(timing, meter)
            station = Station(timing, meter, [1 - id_])
            return station if params.whole else broken(station)

        return SmallMobileRun(make)

    def duration_ps(self, params: SmallMobileParams) -> int:
        return (25 + params.duration_s) * S_PS
