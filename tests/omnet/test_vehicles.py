"""SUMO's vehicles as hosts of a user's own INET project: they come, drive and go, and absent hosts are out of reach."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.edits import edited
from tests.helpers.inet_probe import needs_inet

pytestmark = needs_inet
TOP = Path(__file__).resolve().parents[2]
STREETS = TOP / "examples" / "streets"
CONFIG = str(STREETS / "streets.sumocfg")
SENDING, SILENT = 2.0, {0.0, 1.0}
"""INET's numbers of a radio's states: a transmission; a reception state UNDEFINED or IDLE."""

NED = """
import inet.networklayer.configurator.ipv4.Ipv4NetworkConfigurator;
import inet.node.inet.AdhocHost;
import inet.physicallayer.wireless.ieee80211.packetlevel.Ieee80211RadioMedium;

network Road
{
    parameters:
        int cars;
    submodules:
        configurator: Ipv4NetworkConfigurator;
        radioMedium: Ieee80211RadioMedium;
        car[cars]: AdhocHost;
        unit: AdhocHost;
}
"""
INI = """
[General]
network = Road
*.cars = 16
*.car[*].mobility.typename = "SumoMobility"
*.unit.mobility.typename = "StationaryMobility"
**.mobility.initFromDisplayString = false
**.mobility.initialX = 100m
**.mobility.initialY = 480m
**.mobility.initialZ = 0m
**.mobility.constraintAreaMaxX = 600m
**.mobility.constraintAreaMaxY = 600m
**.mobility.constraintAreaMaxZ = 600m
**.wlan[*].mgmt.typename = "Ieee80211MgmtAdhoc"
**.wlan[*].agent.typename = ""
**.radio.*State:vector.vector-recording = true
**.vector-recording = false
"""
PROGRAM = """
import json, sys
import causeway as cw
from causeway.analysis.convert import pandas_tables
from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.protocol import JOINED, LEFT

class Unit(cw.Node):
    def on_start(self):
        self.heard, self.lost = [], 0
        self.every(cw.ms(200), self.ask)

    def ask(self):
        for car in range(ROAD.nodes - 1):
            self.send(car, "unicast", 200)

    def on_packet(self, content, sender, interface):
        self.heard.append((sender, content, interface))

    def on_lost(self, content, interface):
        self.lost += 1

class Car(cw.Node):
    def on_start(self):
        self.asked = 0
        cars.append([self.id, self.vehicle.name, self.now, None, 0])
        self.row = cars[-1]
        self.every(cw.ms(500), self.say)
        if ask.get("tcp"):
            self.every(cw.seconds(2), self.stream)

    def say(self):
        assert self.vehicle.road.startswith(("entry", ":", "main"))
        self.send(cw.EVERYONE, self.vehicle.name, 100)

    def stream(self):
        self.send(self.node_count - 1, self.vehicle.name, 3000, cw.WIRE)

    def on_packet(self, content, sender, interface):
        self.row[4] += content == "unicast"

    def on_broadcast(self, number, size_bytes):
        self.deliver(self.new_message())

    def on_finish(self):
        self.row[3] = self.now

class Spy:
    "Notes who joins and leaves."
    scalars = dict

    def observe(self, op, time_ps, node, message):
        for o, t, n in zip(op.tolist(), time_ps.tolist(), node.tolist()):
            if o in (JOINED, LEFT):
                joins.append([n, o == JOINED, t / 1e12])

ask, cars, joins = json.loads(sys.argv[1]), [], []
movement = cw.Sumo(ask["config"], client=ask["client"])
ROAD = cw.InetNetwork(ask.get("nodes", 17), ini="omnetpp.ini", hosts=ask["hosts"], movement=movement,
                      vehicles=range(ask["vehicles"]) if ask.get("vehicles") else (),
                      places_every_ps=cw.ms(25))
units = ROAD.nodes - 1 if ask.get("vehicles") else -1
options = {"results": "own", "result_name": "own"} if ask.get("radios") else {}
spec = RunSpec("test", {}, ask["seed"], ROAD, cw.ms(1), cw.seconds(ask["until"]), options=options)
protocol = cw.PerNode(lambda id_: Unit() if id_ == units else Car())
found = run_protocol(engines.get("omnet"), spec, protocol, [Spy()])
places, radios = {}, {}
for (module, name), (times, values) in found.samples.items():
    places.setdefault(module, {})[name] = [[time / 1e12 for time in times], values]
if ask.get("radios"):
    tables = pandas_tables(["own/own.vec"])
    joined = tables["samples"].merge(tables["vectors"], on=["run_id", "vector_id"])
    for (module, name), rows in joined.groupby(["module", "name"]):
        radios.setdefault(module, {})[name.split(":")[0]] = [
            (rows.time_raw * 10.0**rows.time_exp).tolist(), rows.value.tolist()]
unit = protocol.nodes[units]
print(json.dumps({"digest": found.digest, "cars": cars, "places": places, "radios": radios, "joins": joins,
                  "heard": getattr(unit, "heard", []), "lost": getattr(unit, "lost", 0)}))
"""


def environment(client: str = "libsumo") -> dict[str, str]:
    found = {**os.environ, "PYTHONPATH": f"{TOP}{os.pathsep}{os.environ.get('CAUSEWAY_SUMO_DEPS', '')}"}
    probe = [sys.executable, "-c", f"import {client}"]
    if subprocess.run(probe, env=found, cwd="/", capture_output=True, check=False).returncode:
        pytest.skip(f"{client} is not here: make test installs libsumo; traci needs SUMO_HOME")
    if client == "traci" and "SUMO_HOME" not in os.environ:
        pytest.skip("no program sumo here: set SUMO_HOME")
    return found


def short_route(folder: Path, rises: bool = False) -> str:
    """Write a configuration whose vehicles leave after 400 m; on the road that rises, they climb one metre in 20."""
    net, routes = ((STREETS / f"streets.{end}").read_text() for end in ("net.xml", "rou.xml"))
    if rises:
        point = re.compile(r"(-?\d+\.\d+),(-?\d+\.\d+)(?=[ \"])")
        lanes = re.compile(r"(?<=<lane )[^>]*")
        net = lanes.sub(lambda m: point.sub(lambda p: f"{p[0]},{float(p[1]) / 20:.2f}", m[0]), net)
    (folder / "streets.net.xml").write_text(net)
    (folder / "streets.rou.xml").write_text(edited(routes, ("entry main exit", "entry")))
    (folder / "streets.sumocfg").write_text(Path(CONFIG).read_text())
    return str(folder / "streets.sumocfg")


def drive(folder: Path, ini: str = INI, ned: str = NED, **ask: Any) -> subprocess.CompletedProcess[str]:
    asked = {"client": "libsumo", "seed": 1, "until": 45.0, "hosts": "**.car[*] **.unit", "vehicles": 16, **ask}
    env = environment(asked["client"])
    folder.mkdir(exist_ok=True)
    if "config" not in asked:
        asked["config"] = short_route(folder)
    (folder / "Road.ned").write_text(ned)
    (folder / "omnetpp.ini").write_text(ini)
    (folder / "drive.py").write_text(PROGRAM)
    command = [sys.executable, "drive.py", json.dumps(asked)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode != 0
    return done.stderr.splitlines()[-1]


def alone(config: str, steps: int) -> list[dict[str, list[int]]]:
    """Return the positions of all vehicles in mm, as SUMO computes them without a network."""
    program = (
        "import sys, json, libsumo as s\n"
        "s.start(['sumo', '-c', sys.argv[1], '--step-length', '0.1', '--seed', '1', '--no-step-log', 'true'])\n"
        "found = []\n"
        f"for k in range({steps}):\n"
        "    s.simulationStep()\n"
        "    found.append({v: [round(1000 * c) for c in s.vehicle.getPosition3D(v)] for v in s.vehicle.getIDList()})\n"
        "print(json.dumps(found))"
    )
    command = [sys.executable, "-c", program, config]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def presence(seen: Any, node: int, until: float) -> list[tuple[float, float]]:
    return [(came, until if gone is None else gone) for id_, _, came, gone, _ in seen["cars"] if id_ == node]


def test_vehicles_are_where_sumo_says_at_every_step_and_on_a_straight_line_between(tmp_path: Path) -> None:
    config = short_route(tmp_path, rises=True)
    seen = answer(drive(tmp_path, config=config))
    steps = alone(config, 450)
    at_steps = between = 0
    assert len(seen["cars"]) > 6 and sum(gone < 45 for *_, gone, _ in seen["cars"]) > 2
    for node, name, came, gone, _ in seen["cars"]:
        way = seen["places"][f"place[{node}]"]
        times = [round(t, 6) for t in way["x_m"][0]]
        for time, *place in zip(times, *(way[axis][1] for axis in ("x_m", "y_m", "z_m")), strict=True):
            k, part = divmod(round(time * 1000) - 100, 100)
            if not came <= time < (gone or 45) - 0.1 or name not in steps[k + (part > 0)]:
                continue
            here, there = steps[k][name], steps[k + (part > 0)][name]
            expected = [a + (b - a) * part / 100 for a, b in zip(here, there, strict=True)]
            assert [1000 * c for c in place] == pytest.approx(expected, abs=1 if part == 0 else 2), (name, time)
            at_steps += part == 0
            between += part > 0
    assert at_steps > 700 and between > 2000
    assert max(value for way in seen["places"].values() for value in way.get("z_m", [[], []])[1]) > 15


@pytest.mark.parametrize("away", [True, False])
def test_an_absent_host_neither_sends_nor_receives(away: bool, tmp_path: Path) -> None:
    """Somebody sends to it all the time. If absent hosts stood beside the road, they would acknowledge that."""
    seen = answer(drive(tmp_path, INI if away else f"{INI}**.awayX = 200m\n**.awayY = 480m\n", radios=True))
    sent = received = present = 0
    for module, states in seen["radios"].items():
        if not module.endswith(".radio") or "car[" not in module:
            continue
        node = int(re.search(r"car\[(\d+)\]", module)[1])  # type: ignore[index]
        stays = presence(seen, node, 45)

        def is_here(time: float, stays: Any = stays) -> bool:
            return any(came <= time <= gone + 0.001 for came, gone in stays)

        none: list[list[float]] = [[], []]  # of a radio that never sends or hears
        sends = [t for t, v in zip(*states.get("transmissionState", none), strict=True) if v == SENDING]
        hears = [t for t, v in zip(*states.get("receptionState", none), strict=True) if v not in SILENT]
        sent += sum(not is_here(t) for t in sends)
        received += sum(not is_here(t) for t in hears)
        present += sum(map(is_here, sends))
    assert present > 100
    assert (sent == 0) == (received == 0) == away
    assert all(car[4] > 5 for car in seen["cars"] if (car[3] or 45) - car[2] > 10), "who is there hears what it is sent"


def test_equal_seeds_give_equal_runs_with_both_clients(tmp_path: Path) -> None:
    digests = [
        answer(drive(tmp_path / str(number), client=client, seed=seed, until=30.0))["digest"]
        for number, (client, seed) in enumerate((("libsumo", 1), ("libsumo", 1), ("traci", 1), ("libsumo", 2)))
    ]
    assert digests[0] == digests[1] == digests[2] != digests[3]


def test_all_hosts_can_be_vehicles(tmp_path: Path) -> None:
    """SUMO's steps go on while no node is there, and vehicles come and go with their hosts."""
    seen = answer(drive(tmp_path, nodes=16, hosts="**.car[*]", vehicles=0, until=60.0))
    assert len({name for _, name, *_ in seen["cars"]}) == len(seen["cars"]) > len({car[0] for car in seen["cars"]})
    for _, _, came, gone, _ in seen["cars"]:
        assert gone == 60 or 25 < gone - came < 35
    for node in range(16):
        stays = [(came, gone) for id_, _, came, gone, _ in seen["cars"] if id_ == node]
        times = [(True, came) for came, _ in stays] + [(False, gone) for _, gone in stays if gone < 60]
        observed = [(up, time) for id_, up, time in seen["joins"] if id_ == node]
        assert observed == [(False, 0.0), *sorted(times, key=lambda one: one[1])]


def test_a_stream_of_a_vehicle_is_not_continued_by_the_next_one_on_its_host(tmp_path: Path) -> None:
    seen = answer(drive(tmp_path, tcp=True, until=75.0))
    names = {name: node for node, name, *_ in seen["cars"]}
    by_tcp = {(sender, content) for sender, content, interface in seen["heard"] if interface == 1}
    assert all(names[content] == sender for sender, content in by_tcp)
    second = [name for node, name, came, *_ in seen["cars"] if came > 30 and came < 60]
    assert second and {name for _, name in by_tcp} >= set(second), "its connection is a new one"


def test_too_few_hosts_are_one_line_that_says_how_many_are_needed(tmp_path: Path) -> None:
    few = edited(INI, ("cars = 16", "cars = 2"))
    line = last_line(drive(tmp_path, few, nodes=3, vehicles=2))
    found = re.search(r"than the network has hosts \(2\); this run needs (\d+) hosts$", line)
    assert found, line
    needed = int(found[1])
    assert needed > 4
    for cars, works in ((needed, True), (needed - 1, False)):
        done = drive(tmp_path / str(cars), edited(INI, ("cars = 16", f"cars = {cars}")), nodes=cars + 1, vehicles=cars)
        assert (done.returncode == 0) == works, done.stderr


def test_a_host_with_another_mobility_is_one_line_before_any_vehicle_comes(tmp_path: Path) -> None:
    done = drive(tmp_path, edited(INI, ('"SumoMobility"', '"StationaryMobility"')))
    assert "Road.car[0] has no mobility module that SUMO can move; write" in last_line(done)
