"""A protocol and its study on the mobile network: a rumour, without acknowledgements or order.

    causeway run examples/rumour.py --set hosts=30

A host tells its rumour once, by UDP over the air; the station that hears it first passes it over the wires (TCP) to the
others, and every station says it aloud in its cell. What collides on the air is lost for good: see `reached`.
"""

from pydantic import Field

from causeway import (
    EVERYONE,
    S_PS,
    WIRE,
    WIRELESS,
    Headline,
    MobileNetwork,
    Node,
    Params,
    PerNode,
    Segment,
    Study,
    Workload,
    hexagonal_places,
    tree_of,
)

PLACES_MM = hexagonal_places(7, 180_000)
"""One station in the middle of six, 180 m apart."""
STATIONS = len(PLACES_MM)
WIRES = tree_of(PLACES_MM)


class Gossip(Node):
    def __init__(self) -> None:
        self.heard: set[int] = set()
        self.wires = [a + b - self.id for a, b in WIRES if self.id in (a, b)]

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        rumour = self.new_message()
        self.heard.add(rumour)
        self.deliver(rumour)
        self.send(EVERYONE, rumour, size_bytes, WIRELESS)

    def on_packet(self, rumour: int, sender: int, interface: int) -> None:
        if rumour in self.heard:
            return
        self.heard.add(rumour)
        if self.id >= STATIONS:
            self.deliver(rumour)
            return
        self.send(EVERYONE, rumour, 100, WIRELESS)
        for station in self.wires:
            if station != sender:
                self.send(station, rumour, 100, WIRE)


class RumourParams(Params):
    hosts: int = Field(30, ge=2, description="walking hosts")
    rate: float = Field(5.0, gt=0, description="rumours a second, of all hosts together")
    duration_s: int = Field(20, ge=1)


class Rumour(Study):
    name, title, Params, engines = "rumour", "a rumour on the air", RumourParams, ("omnet", "ns3")
    headlines = (
        Headline("reached", "reached", "", "share of the hosts that hear of a rumour, mean"),
        Headline("rumours", "messages", "", "told"),
        Headline("violations", "violations", "deliveries", "out of causal order"),
    )

    def network(self, params: RumourParams, seed: int) -> MobileNetwork:
        segments = (Segment(0, 0.0), Segment(S_PS, params.rate), Segment(params.duration_s * S_PS, 0.0))
        workload = Workload(params.hosts, first_node=STATIONS, size_bytes=100, segments=segments)
        return MobileNetwork(
            station_xy_mm=PLACES_MM, wires=WIRES, hosts=params.hosts, workload=workload, radio="wifi", speed_mm_s=1389
        )

    def protocol(self, params: RumourParams) -> PerNode:
        return PerNode(Gossip)

    def duration_ps(self, params: RumourParams) -> int:
        return (params.duration_s + 2) * S_PS

    def scalars(self, params: RumourParams, scalars: dict[str, float]) -> dict[str, float]:
        return {**scalars, "reached": scalars["deliveries"] / (scalars["messages"] * params.hosts)}
