"""A protocol and its study on a mobile network: spread rumours without acknowledgements and without order.

    causeway run examples/rumour.py --set hosts=30

A host broadcasts its rumour once by radio (UDP). The first station that receives it sends it to the other stations over
the wires (TCP), and every station broadcasts it in its cell. A packet that is lost in a collision is not sent again:
see `reached`.
"""

from pydantic import Field

import causeway as cw

STATIONS, SPACING = 7, cw.metres(180)
"""One station in the middle and six around it."""
WIRES = cw.tree_of(cw.hexagonal_places(STATIONS, SPACING))


class Gossip(cw.Node):
    def __init__(self) -> None:
        self.heard: set[int] = set()
        self.wires = [a + b - self.id for a, b in WIRES if self.id in (a, b)]

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        rumour = self.new_message()
        self.heard.add(rumour)
        self.deliver(rumour)
        self.send(cw.EVERYONE, rumour, size_bytes, cw.WIRELESS)

    def on_packet(self, rumour: int, sender: int, interface: int) -> None:
        if rumour in self.heard:
            return
        self.heard.add(rumour)
        if self.id >= STATIONS:
            self.deliver(rumour)
            return
        self.send(cw.EVERYONE, rumour, 100, cw.WIRELESS)
        for station in self.wires:
            if station != sender:
                self.send(station, rumour, 100, cw.WIRE)


class RumourParams(cw.Params):
    hosts: int = Field(30, ge=2, description="walking hosts")
    rate: float = Field(5.0, gt=0, description="rumours per second, of all hosts together")
    duration_s: int = Field(20, ge=1)


class Rumour(cw.Study):
    name, title, Params, engines = "rumour", "rumours over radio and wires", RumourParams, ("omnet", "ns3")
    headlines = (
        cw.Headline("reached", "reached", "", "mean share of hosts that a rumour reaches"),
        cw.Headline("rumours", "messages", "", "broadcasts"),
        cw.Headline("violations", "violations", "deliveries", "out of causal order"),
    )

    def network(self, params: RumourParams, seed: int) -> cw.MobileNetwork:
        segments = (cw.Segment(cw.seconds(1), params.rate), cw.Segment(cw.seconds(params.duration_s), 0.0))
        workload = cw.Workload(size_bytes=100, segments=segments)
        return cw.MobileNetwork.hexagons(
            cells=STATIONS, spacing=SPACING, hosts=params.hosts, workload=workload, radio="wifi", speed_mm_s=1389
        )

    def protocol(self, params: RumourParams) -> cw.PerNode:
        return cw.PerNode(Gossip)

    def duration_ps(self, params: RumourParams) -> int:
        return cw.seconds(params.duration_s + 2)

    def scalars(self, params: RumourParams, scalars: dict[str, float]) -> dict[str, float]:
        return {**scalars, "reached": scalars["deliveries"] / (scalars["messages"] * params.hosts)}
