"""A drone that carries what cars say: traces, `move` and trouble, on an ad hoc network.

    causeway run examples/drone.py --animate 0.5 --out results/drone
    causeway report results/drone

Five cars follow a trace that SUMO made (`city.ns2`). What a car says, those hear that are in reach. A drone flies from
corner to corner and says once a second all that it has heard. For a while a jammer stands in the middle.
"""

import math
from pathlib import Path

from pydantic import Field

from causeway import (
    EVERYONE,
    S_PS,
    Headline,
    Jammer,
    MobileNetwork,
    Node,
    Params,
    PerNode,
    Segment,
    Study,
    Workload,
    read_traces,
)

CARS = read_traces(Path(__file__).with_name("city.ns2"))
DRONE = len(CARS)
CORNERS_MM = ((150_000, 150_000), (150_000, 450_000), (450_000, 450_000), (450_000, 150_000))


class Car(Node):
    def __init__(self) -> None:
        self.heard: list[int] = []

    def hear(self, message: int) -> None:
        if message not in self.heard:
            self.heard.append(message)
            self.deliver(message)
            self.record("heard", float(len(self.heard)))

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.hear(message)
        self.send(EVERYONE, (message,), size_bytes)

    def on_packet(self, messages: tuple[int, ...], sender: int, interface: int) -> None:
        for message in messages:
            self.hear(message)


class Drone(Car):
    def __init__(self, speed_m_s: int) -> None:
        super().__init__()
        self.speed_m_s = speed_m_s

    def on_start(self) -> None:
        self.set_timer(("fly", 1), 0)
        self.set_timer(("say", 0), S_PS)

    def on_timer(self, key: tuple[str, int]) -> None:
        what, corner = key
        if what == "say":
            self.send(EVERYONE, tuple(self.heard), 20 + 4 * len(self.heard))
            self.set_timer(key, S_PS)
            return
        self.move(*CORNERS_MM[corner], self.speed_m_s * 1000)
        way_mm = math.dist(CORNERS_MM[corner], CORNERS_MM[corner - 1])
        self.set_timer(("fly", (corner + 1) % len(CORNERS_MM)), int(way_mm / self.speed_m_s * S_PS) // 1000)


class DroneParams(Params):
    speed_m_s: int = Field(20, ge=1, le=100, description="of the drone")
    jammed_s: int = Field(10, ge=0, description="how long the jammer stands, from 15 s on")
    duration_s: int = Field(45, ge=5)


class DroneStudy(Study):
    name, title, Params, engines = "drone", "a drone among cars", DroneParams, ("omnet", "ns3")
    headlines = (
        Headline("reached", "reached", "", "share of cars and drone that hear of what is said, mean"),
        Headline("messages", "messages", "", "said"),
    )

    def network(self, params: DroneParams, seed: int) -> MobileNetwork:
        segments = (Segment(0, 2.0), Segment((params.duration_s - 5) * S_PS, 0.0))
        jammer = Jammer(300_000, 300_000, 160_000, 15 * S_PS, (15 + params.jammed_s) * S_PS)
        return MobileNetwork(
            hosts=DRONE + 1, workload=Workload(DRONE, size_bytes=100, segments=segments), radio="wifi",
            cell_radius_mm=200_000, traces=(*CARS, None), host_xy_mm=CORNERS_MM[:1] * (DRONE + 1),
            network_faults=(jammer,) if params.jammed_s else (),
        )  # fmt: skip

    def protocol(self, params: DroneParams) -> PerNode:
        return PerNode(lambda id_: Drone(params.speed_m_s) if id_ == DRONE else Car())

    def duration_ps(self, params: DroneParams) -> int:
        return params.duration_s * S_PS

    def scalars(self, params: DroneParams, scalars: dict[str, float]) -> dict[str, float]:
        return {**scalars, "reached": scalars["deliveries"] / (scalars["messages"] * (DRONE + 1))}
