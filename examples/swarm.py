"""A swarm of drones that keeps its formation in space although packets are lost: heights, `move` and batteries.

    causeway run examples/swarm.py --animate 0.5 --out results/swarm
    causeway run examples/swarm.py --sweep relay --reps 10 --engine ns3 --out results/swarm

Drone 0 flies to a random point again and again, and tells the others ten times a second where it goes; each then flies
to its own place beside that point. With `relay=true` every drone passes on the newest plan that it knows, so it comes
to those who are out of the leader's reach or who have lost a copy; else only the leader speaks. With four copies in ten
lost, a drone is on average 0.94 m from its place on INET and 0.96 m on ns-3, and 28.5 m on both without relays.
"""

import math
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from pydantic import Field

import causeway as cw

Point = tuple[int, int, int]
LEADER_M_S, MOST_M_S = 8, 12
LOW, HIGH = cw.metres(-300), cw.metres(300)
FLOOR, CEILING = cw.metres(20), cw.metres(150)


class Plan(NamedTuple):
    """The target of the leader, and the time at which it is there."""

    number: int
    target: Point
    there_ps: int


def place_of(drone: int, spacing: int) -> Point:
    """Return a drone's place beside the leader: a pyramid that points up, with the leader on top."""
    if drone == 0:
        return 0, 0, 0
    layer, angle = (drone - 1) // 4 + 1, (drone - 1) % 4 * math.pi / 2
    return round(layer * spacing * math.cos(angle)), round(layer * spacing * math.sin(angle)), -layer * cw.metres(5)


def shifted(point: Point, by: Point) -> Point:
    return point[0] + by[0], point[1] + by[1], point[2] + by[2]


class Drone(cw.Node):
    def __init__(self, spacing: int, loss: float, relay: bool) -> None:
        self.loss, self.relay = loss, relay
        self.place = place_of(self.id, spacing)
        self.at: Point = shifted(START, self.place)
        self.plan = Plan(0, START, 0)

    def on_start(self) -> None:
        self.battery.load_w = 180.0  # the motors
        self.after(self.rng.randrange(cw.ms(100)), self.every, cw.ms(100), self.say)
        if self.id == 0:
            self.choose()

    def on_station(self, station: int, x_mm: int, y_mm: int, z_mm: int = 0) -> None:
        self.at = (x_mm, y_mm, z_mm)

    def choose(self) -> None:
        draw = self.rng.randint
        target = draw(LOW, HIGH), draw(LOW, HIGH), draw(FLOOR, CEILING)
        way_ps = round(math.dist(self.at, target) / cw.metres_per_second(LEADER_M_S) * cw.seconds(1))
        self.follow(Plan(self.plan.number + 1, target, self.now_ps + way_ps))
        self.after(min(way_ps, cw.seconds(6)), self.choose)

    def say(self) -> None:
        if self.plan.number and (self.relay or self.id == 0):
            self.send(cw.EVERYONE, self.plan, 40)

    def on_packet(self, plan: Plan, sender: int, interface: int) -> None:
        if self.rng.random() >= self.loss and plan.number > self.plan.number:
            self.follow(plan)

    def follow(self, plan: Plan) -> None:
        self.plan = plan
        goal = shifted(plan.target, self.place)
        left_s = max(0.1, (plan.there_ps - self.now_ps) / cw.seconds(1))
        speed = min(MOST_M_S * 1000, math.ceil(math.dist(self.at, goal) / left_s))
        self.move(goal[0], goal[1], max(1, speed), goal[2])


START: Point = (0, 0, cw.metres(60))


class Swarm(cw.PerNode):
    """The drones, whose formation the study measures twice a second."""

    def __init__(self, spacing: int, loss: float, relay: bool) -> None:
        super().__init__(lambda _: Drone(spacing, loss, relay))
        self.errors: list[float] = []
        self.every(cw.ms(500), self.measure)

    def measure(self, _: cw.Node) -> None:
        leader, *others = (node for node in self.nodes if isinstance(node, Drone))
        off_mm = [math.dist(drone.at, shifted(leader.at, drone.place)) for drone in others]
        self.errors.append(sum(off_mm) / len(off_mm) / 1000)
        self.context.record("run", "formation_error_m", self.now_ps, self.errors[-1])

    def scalars(self) -> Mapping[str, float]:
        return {**super().scalars(), "formation_error_m": sum(self.errors) / len(self.errors)}


class SwarmParams(cw.Params):
    drones: int = Field(13, ge=2, le=50)
    spacing_m: int = Field(40, ge=5, le=100, description="distance between neighbours")
    loss: float = Field(
        0.4, ge=0, lt=1, description="share of copies that are lost, besides those that the radio loses"
    )
    relay: bool = Field(True, description="every drone passes on the newest plan that it knows")
    duration_s: int = Field(40, ge=5)


class SwarmStudy(cw.Study):
    name, title, Params, engines = "swarm", "a swarm that keeps its formation", SwarmParams, ("omnet", "ns3")
    sweeps: ClassVar = {
        "relay": [{"relay": relay, "loss": loss} for relay in (False, True) for loss in (0.0, 0.4, 0.8)]
    }
    headlines = (
        cw.Headline("formation error", "formation_error_m", "m", "mean distance of a drone from its place"),
        cw.Headline("energy", "joules", "J", "energy of all drones"),
    )
    plots = (
        cw.Plot("Formation error by loss", "swarm", "formation_error_m", "loss", series="relay",
                x_label="share of copies that are lost", y_label="formation error (m)"),
    )  # fmt: skip

    def network(self, params: SwarmParams, seed: int) -> cw.MobileNetwork:
        places = tuple(shifted(START, place_of(drone, cw.metres(params.spacing_m))) for drone in range(params.drones))
        return cw.MobileNetwork(
            hosts=params.drones, host_xy_mm=places, radio="wifi", cell_radius_mm=cw.metres(100),
            position_every_ps=cw.ms(100), battery=cw.Battery(100_000.0, idle_w=5.0, send_j=0.002, receive_j=0.001),
        )  # fmt: skip

    def protocol(self, params: SwarmParams) -> cw.PerNode:
        return Swarm(cw.metres(params.spacing_m), params.loss, params.relay)

    def duration_ps(self, params: SwarmParams) -> int:
        return cw.seconds(params.duration_s)
