"""Measure SUMO's part of a run: 300 vehicles on a grid of roads that say hello once a second, on INET and on ns-3.

SUMO's part is the processor time of its steps (libsumo, in this process) and of what makes nodes and moves of them. The
run is the processor time of this process and of the simulator. The grid is SUMO's own (`netgenerate`), so the bench
needs libsumo and SUMO_HOME.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import causeway as cw
from causeway.bridge import engines
from causeway.errors import UserError
from causeway.pycontrol.vehicles import Traffic

CROSSINGS, BLOCK_M = 6, 200
"""Crossings a side, and the metres between two."""
VEHICLES, MORE_PER_S, LENGTH_S = 300, 2, 60
"""Vehicles at the start, those that come later, and the simulated seconds."""
STEP_MS, RANGE_M = 100, 250
COMPARED = {f"{name}, SUMO's share": "lower" for name in ("omnet", "ns3")}


class Car(cw.Node):
    """Says hello once a second."""

    def on_start(self) -> None:
        self.after(self.rng.randrange(cw.seconds(1)), self.every, cw.seconds(1), self.say)

    def say(self) -> None:
        self.send(cw.EVERYONE, "hello", 100)

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        """Hear it."""


def run(names: tuple[str, ...] = ("omnet", "ns3")) -> dict[str, Any]:
    """Return the figures of each engine."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="causeway-bench-") as folder:
        config = city(Path(folder))
        for name in names:
            if engines.get(name).missing() is None:
                figures |= _cost(name, config)
    return figures


def city(folder: Path) -> Path:
    """Write a grid of roads with its traffic, and return the .sumocfg file."""
    program = Path(os.environ.get("SUMO_HOME", "")) / "bin" / "netgenerate"
    if not program.exists():
        raise UserError("no netgenerate here: pip install eclipse-sumo libsumo, and set SUMO_HOME")
    roads, trips, config = folder / "city.net.xml", folder / "city.rou.xml", folder / "city.sumocfg"
    grid = ["--grid", f"--grid.number={CROSSINGS}", f"--grid.length={BLOCK_M}", "--seed=1", f"--output-file={roads}"]
    subprocess.run([program, *grid], check=True, capture_output=True)
    edges = [edge.get("id") for edge in ET.parse(roads).iter("edge") if edge.get("function") is None]
    drawn = random.Random(1)
    departures = [0.0] * VEHICLES + [second / MORE_PER_S for second in range(LENGTH_S * MORE_PER_S)]
    routes = ET.Element("routes")
    for number, depart in enumerate(sorted(departures)):
        begin, end = drawn.sample(edges, 2)
        trip = {"id": str(number), "depart": str(depart), "from": begin, "to": end, "departPos": "random_free"}
        ET.SubElement(routes, "trip", trip)  # type: ignore[arg-type]
    ET.ElementTree(routes).write(trips)
    config.write_text(
        f'<configuration><net-file value="{roads.name}"/><route-files value="{trips.name}"/></configuration>'
    )
    return config


def _cost(name: str, config: Path) -> dict[str, Any]:
    network = cw.MobileNetwork(
        station_xy_mm=((0, 0),),
        hosts=2 * VEHICLES,
        movement=cw.Sumo(str(config), step=cw.ms(STEP_MS), client="libsumo"),
        radio="wifi",
        cell_radius_mm=cw.metres(RANGE_M),
    )
    step, steps_s, present = Traffic.step, [], []

    def timed(traffic: Traffic, runtime: Any) -> int | None:
        began_s = _cpu_s()
        again = step(traffic, runtime)
        steps_s.append(_cpu_s() - began_s)
        present.append(len(traffic.vehicles))
        return again

    before_s = _cpu_s()
    Traffic.step = timed  # type: ignore[method-assign]
    try:
        done = cw.run(lambda: cw.PerNode(lambda id_: Car() if id_ else cw.Node()), network, engine=name, seed=1,
                      until=cw.seconds(LENGTH_S))  # fmt: skip
    finally:
        Traffic.step = step  # type: ignore[method-assign]
    whole_s = _cpu_s() - before_s
    return {
        f"{name}, SUMO's share": sum(steps_s) / whole_s,
        f"{name}, CPU s of SUMO's part": sum(steps_s),
        f"{name}, CPU s of the run": whole_s,
        f"{name}, vehicles at once": sum(present) / len(present),
        f"{name}, us a vehicle and step": 1e6 * sum(steps_s) / sum(present),
        f"{name}, packets": done.scalars["packets"],
    }


def _cpu_s() -> float:
    """Return the processor time of this process, and of the simulators that have ended. Handlers may read it, too."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


if __name__ == "__main__":
    for figure, value in run().items():
        print(f"{figure:40} {value:12,.3f}")
