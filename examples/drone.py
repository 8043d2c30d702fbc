"""A drone carries messages between cars on an ad hoc network: an example of traces, `move` and faults.

    causeway run examples/drone.py --animate 0.5 --out results/drone
    causeway report results/drone

Five cars follow a trace of SUMO (`city.ns2`). A message of a car reaches only the nodes within radio reach. A drone
flies from corner to corner, and once a second it sends the numbers of all messages that it has received. For some time
a jammer is active in the middle.
"""

import math
from pathlib import Path

from pydantic import Field

import causeway as cw

CARS = cw.read_traces(Path(__file__).with_name("city.ns2"))
DRONE = len(CARS)
NEAR, FAR = cw.metres(150), cw.metres(450)
CORNERS = ((NEAR, NEAR), (NEAR, FAR), (FAR, FAR), (FAR, NEAR))


class Car(cw.Node):
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
        self.send(cw.EVERYONE, (message,), size_bytes)

    def on_packet(self, messages: tuple[int, ...], sender: int, interface: int) -> None:
        for message in messages:
            self.hear(message)


class Drone(Car):
    def __init__(self, speed_m_s: int) -> None:
        super().__init__()
        self.speed_m_s = speed_m_s

    def on_start(self) -> None:
        self.after(0, self.fly, 1)
        self.after(cw.seconds(1), self.say)

    def say(self) -> None:
        self.send(cw.EVERYONE, tuple(self.heard), 20 + 4 * len(self.heard))
        self.after(cw.seconds(1), self.say)

    def fly(self, corner: int) -> None:
        self.move(*CORNERS[corner], cw.metres_per_second(self.speed_m_s))
        way_mm = math.dist(CORNERS[corner], CORNERS[corner - 1])
        self.after(cw.ms(round(way_mm / self.speed_m_s)), self.fly, (corner + 1) % len(CORNERS))


class DroneParams(cw.Params):
    speed_m_s: int = Field(20, ge=1, le=100, description="speed of the drone")
    jammed_s: int = Field(10, ge=0, description="duration of the jammer, which starts at 15 s")
    duration_s: int = Field(45, ge=5)


class DroneStudy(cw.Study):
    name, title, Params, engines = "drone", "a drone among cars", DroneParams, ("omnet", "ns3")
    headlines = (
        cw.Headline("reached", "reached", "", "mean share of cars and drone that receive a message"),
        cw.Headline("messages", "messages", "", "broadcasts"),
    )

    def network(self, params: DroneParams, seed: int) -> cw.MobileNetwork:
        segments = (cw.Segment(0, 2.0), cw.Segment(cw.seconds(params.duration_s - 5), 0.0))
        middle, reach, end_ps = cw.metres(300), cw.metres(160), cw.seconds(15 + params.jammed_s)
        jammer = cw.Jammer(middle, middle, reach, cw.seconds(15), end_ps)
        return cw.MobileNetwork(
            hosts=DRONE + 1, workload=cw.Workload(DRONE, size_bytes=100, segments=segments), radio="wifi",
            cell_radius_mm=cw.metres(200), traces=(*CARS, None), host_xy_mm=CORNERS[:1] * (DRONE + 1),
            network_faults=(jammer,) if params.jammed_s else (),
        )  # fmt: skip

    def protocol(self, params: DroneParams) -> cw.PerNode:
        return cw.PerNode(lambda id_: Drone(params.speed_m_s) if id_ == DRONE else Car())

    def duration_ps(self, params: DroneParams) -> int:
        return cw.seconds(params.duration_s)

    def scalars(self, params: DroneParams, scalars: dict[str, float]) -> dict[str, float]:
        return {**scalars, "reached": scalars["deliveries"] / (scalars["messages"] * (DRONE + 1))}
