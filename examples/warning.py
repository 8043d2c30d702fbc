"""Cars that warn each other of an accident, and take another road: SUMO's traffic and the radio, step by step.

    causeway run examples/warning.py --engine ns3 --animate 1
    causeway run examples/warning.py --sweep warned --reps 5 --out results/warning

The first car on the road `main` stops for two minutes. With `warned=true` it says so by radio, once a second; each car
passes the warning on while it is fresh, and who still can takes the detour. It needs SUMO: pip install libsumo, or
eclipse-sumo and traci.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field

import causeway as cw

STREETS = Path(__file__).with_name("streets")
TROUBLE = "main"
FRESH_S = 5.0
"""A warning is heeded and passed on for so long after the car in trouble has said it."""


class RoadSide(cw.Node):
    """The station beside the road. It only has the clock of SUMO's steps."""


class Car(cw.Node):
    """A car that passes each fresh warning on, once a second, and adds the time of its journey to `journeys_s`."""

    def __init__(self, warned: bool, journeys_s: list[float]) -> None:
        self.warned, self.journeys_s = warned, journeys_s
        self.came_s, self.said_s = 0.0, -math.inf
        self.halted = False

    def on_start(self) -> None:
        self.came_s = self.now
        self.record("knows", 0)
        if self.id == 1 and self.now < 30:  # later, another car has this number
            self.after(cw.seconds(45), self.halt)
        if self.warned:
            self.after(self.rng.randrange(cw.seconds(1)), self.every, cw.seconds(1), self.say)

    def halt(self) -> None:
        self.halted = True
        self.vehicle.hold(0)
        self.after(cw.seconds(120), self.go_on)

    def go_on(self) -> None:
        self.halted = False
        self.vehicle.hold(-1)

    def say(self) -> None:
        if self.halted:
            self.said_s = self.now
        if self.now - self.said_s < FRESH_S:
            self.send(cw.EVERYONE, self.said_s, 100)

    def on_packet(self, said_s: float, sender: int, interface: int) -> None:
        if self.now - said_s < FRESH_S and said_s > self.said_s:
            if math.isinf(self.said_s):
                self.record("knows", 1)
                self.vehicle.avoid(TROUBLE)  # those who have passed the fork stay on their way
            self.said_s = said_s

    def on_finish(self) -> None:
        self.journeys_s.append(self.now - self.came_s)
        self.record("travel_s", self.journeys_s[-1])


class Traffic(cw.PerNode):
    """All cars, and the mean time of their journeys."""

    def __init__(self, warned: bool) -> None:
        super().__init__(lambda id_: Car(warned, self.journeys_s) if id_ else RoadSide())
        self.journeys_s: list[float] = []

    def scalars(self) -> Mapping[str, float]:
        count = len(self.journeys_s)
        return {**super().scalars(), "journeys": count, "travel_time_s": sum(self.journeys_s) / max(1, count)}


class WarningParams(cw.Params):
    warned: bool = Field(True, description="tell others of the accident by radio")
    duration_s: float = Field(700.0, ge=1, description="length of the run; the last car is there before its end")


class Warning(cw.Study):
    name, title, Params, engines = "warning", "an accident, and who is warned", WarningParams, ("omnet", "ns3")
    files: ClassVar = tuple(f"streets/streets.{end}" for end in ("sumocfg", "net.xml", "rou.xml"))
    sweeps: ClassVar = {"warned": [{"warned": False}, {"warned": True}]}
    headlines = (
        cw.Headline("travel time", "travel_time_s", "s", "mean of all journeys"),
        cw.Headline("journeys", "journeys", "", "cars that came and left"),
    )
    plots = (
        cw.Plot(
            "Travel times",
            "warning",
            "travel_s",
            kind="cdf",
            series="warned",
            x_label="travel time (s)",
            y_label="share of journeys",
            more={"of": "samples"},
        ),
    )

    def network(self, params: WarningParams, seed: int) -> cw.MobileNetwork:
        movement = cw.Sumo(str(STREETS / "streets.sumocfg"), step=cw.ms(100))
        return cw.MobileNetwork(
            station_xy_mm=((900_000, 450_000),),
            hosts=80,
            movement=movement,
            radio="wifi",
            cell_radius_mm=300_000,
        )

    def protocol(self, params: WarningParams) -> Traffic:
        return Traffic(params.warned)

    def duration_ps(self, params: WarningParams) -> int:
        return cw.seconds(params.duration_s)
