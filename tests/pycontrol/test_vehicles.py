"""SUMO's vehicles as nodes: they come, move and go as SUMO says, on every engine, with libsumo and traci alike.

`make test` puts libsumo into a folder; with SUMO_HOME, traci is tested too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from causeway import results
from causeway.bridge import engines
from causeway.bridge.engines import omnet_query
from causeway.errors import UserError
from causeway.network.networks import InetNetwork, MobileNetwork
from causeway.network.stays import Stays
from causeway.network.traffic import Sumo
from causeway.pycontrol.protocol_errors import Misuse
from causeway.pycontrol.vehicles import Vehicle
from causeway.studies import registry
from causeway.studies.external_project import plan_external
from tests.helpers.edits import edited

TOP = Path(__file__).resolve().parents[2]
STREETS = TOP / "examples" / "streets"
DEPS = os.environ.get("CAUSEWAY_SUMO_DEPS", "")
CONFIG = str(STREETS / "streets.sumocfg")

PROGRAM = """
import json, sys
import causeway as cw

class RoadSide(cw.Node):
    pass

class Car(cw.Node):
    def on_start(self):
        self.every(cw.ms(500), self.look)
        self.seen = []
        cars.append((self.id, self.vehicle.name, round(self.now, 6), self.seen))

    def look(self):
        self.seen.append((round(self.now, 6), self.vehicle.road, round(self.vehicle.speed, 3)))

    def on_finish(self):
        gone.append((self.id, round(self.now, 6)))

cars, gone = [], []
config, engine, client, seed, until = sys.argv[1:6]
network = cw.MobileNetwork(station_xy_mm=((900_000, 450_000),), hosts=int(sys.argv[6]), radio="wifi",
                           movement=cw.Sumo(config, client=client), places_every_ps=cw.ms(100))
run = cw.run(lambda: cw.PerNode(lambda id_: Car() if id_ else RoadSide()), network, engine=engine, seed=int(seed),
             until=cw.seconds(float(until)), out=sys.argv[7])
places = {}
for _, way in cw_results.open(sys.argv[7]).vectors("x_m OR y_m").iterrows():
    times, values = (list(map(float, column)) for column in (way["series"].time_s, way["series"].value))
    places.setdefault(way["module"], {})[way["name"]] = [times, values]
print(json.dumps({"digest": run.digest, "cars": cars, "gone": gone, "places": places}))
""".replace("import causeway as cw", "import causeway as cw\nimport causeway.results as cw_results")

ENGINES = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("ns3", "omnet")]


def environment(client: str) -> dict[str, str]:
    found = {**os.environ, "PYTHONPATH": f"{TOP}{os.pathsep}{DEPS}"}
    probe = subprocess.run(
        [sys.executable, "-c", f"import {client}"], env=found, cwd="/", capture_output=True, check=False
    )
    if probe.returncode:
        pytest.skip(f"{client} is not here: make test installs libsumo; traci needs SUMO_HOME")
    if client == "traci" and "SUMO_HOME" not in os.environ:
        pytest.skip("no program sumo here: set SUMO_HOME")
    return found


def drive(
    folder: Path,
    engine: str,
    client: str = "libsumo",
    config: str = CONFIG,
    seed=1,
    until=25.0,
    hosts=20,
    program=PROGRAM,
):
    env = environment(client)
    if why := engines.get(engine).missing():
        pytest.skip(why)
    (folder / "drive.py").write_text(program)
    command = [
        sys.executable,
        "drive.py",
        config,
        engine,
        client,
        str(seed),
        str(until),
        str(hosts),
        str(folder / "out"),
    ]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def answer(done: subprocess.CompletedProcess[str]):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("engine", ENGINES)
def test_vehicles_are_where_sumo_says_at_every_step(engine, tmp_path):
    """SUMO, run alone with the same seed, gives the same positions to the millimetre."""
    seen = answer(drive(tmp_path, engine))
    alone = "import sys, json, libsumo as s\n" + (
        "s.start(['sumo', '-c', sys.argv[1], '--step-length', '0.1', '--seed', '1', '--no-step-log', 'true'])\n"
        "found = []\n"
        "for k in range(1, 250):\n"
        "    s.simulationStep()\n"
        "    found.append({v: [round(1000 * c) for c in s.vehicle.getPosition(v)] for v in s.vehicle.getIDList()})\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run(
        [sys.executable, "-c", alone, CONFIG], env=environment("libsumo"), capture_output=True, text=True, check=True
    )
    steps = json.loads(done.stdout.splitlines()[-1])
    assert len(seen["cars"]) >= 3
    compared = 0
    for node, name, came, _ in seen["cars"]:
        way = seen["places"][f"place[{node}]"]
        at = {round(t, 6): (x, y) for t, x, y in zip(way["x_m"][0], way["x_m"][1], way["y_m"][1], strict=True)}
        for k, state in enumerate(steps, start=1):
            time = round(k * 0.1, 6)
            if name in state and time >= came and time in at:
                assert [round(1000 * c) for c in at[time]] == pytest.approx(state[name], abs=1), (name, time)
                compared += 1
    assert compared > 200


@pytest.mark.ns3
def test_a_vehicle_does_not_move_past_sumo(tmp_path):
    """SUMO put it back in its next step, and the run went on."""
    moving = PROGRAM.replace("        self.seen.append(", "        self.move(0, 0, 1000)\n        self.seen.append(")
    assert moving != PROGRAM
    done = drive(tmp_path, "ns3", program=moving)
    assert done.returncode != 0
    assert "is a vehicle, which SUMO moves; steer it by self.vehicle" in done.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_a_vehicle_of_the_first_step_comes_at_the_first_step(engine, tmp_path):
    """SUMO inserts it in its first step, and its state there holds at the end of this step."""
    for file in ("streets.sumocfg", "streets.net.xml"):
        (tmp_path / file).write_text((STREETS / file).read_text())
    trips = (
        '<vehicle id="early" route="straight" depart="0"/><vehicle id="next" route="straight" depart="0.1" '
        'departLane="best"/>'
    )
    routes = edited((STREETS / "streets.rou.xml").read_text(), ("<flow", f"{trips}<flow"))
    (tmp_path / "streets.rou.xml").write_text(routes)
    seen = answer(drive(tmp_path, engine, config=str(tmp_path / "streets.sumocfg"), until=3.0))
    assert {name: came for _, name, came, _ in seen["cars"]}["early"] == 0.1


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_seeds_give_equal_runs(engine, tmp_path):
    digests = []
    for number, seed in enumerate((1, 1, 2)):
        (tmp_path / str(number)).mkdir()
        digests.append(answer(drive(tmp_path / str(number), engine, seed=seed))["digest"])
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.ns3
def test_libsumo_and_traci_agree(tmp_path):
    digests = set()
    for client in ("libsumo", "traci"):
        (tmp_path / client).mkdir()
        digests.add(answer(drive(tmp_path / client, "ns3", client))["digest"])
    assert len(digests) == 1


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("streets.net.xml", "roads.net.xml", "roads.net.xml: No such file"),
        ("</configuration>", "", "is not XML"),
        ("<net-file", '<nonsense value="1"/><net-file', "SUMO does not start with"),
    ],
)
def test_a_broken_configuration_ends_the_run_with_one_line(tmp_path, old, new, words):
    config = tmp_path / "streets.sumocfg"
    config.write_text(edited(Path(CONFIG).read_text(), (old, new)))
    for file in ("streets.net.xml", "streets.rou.xml"):
        (tmp_path / file).write_text((STREETS / file).read_text())
    done = drive(tmp_path, "ns3", config=str(config))
    assert done.returncode != 0
    assert words in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("client", ["libsumo", "traci"])
def test_a_sumo_that_does_not_start_does_not_keep_the_next_one_from_starting(client, tmp_path):
    for file in ("streets.sumocfg", "streets.net.xml", "streets.rou.xml"):
        text = (STREETS / file).read_text()
        (tmp_path / file).write_text(text[: len(text) // 2] if file == "streets.net.xml" else text)
    program = f"""
from causeway.errors import UserError
from causeway.network.traffic import Sumo
from causeway.pycontrol.vehicles import Traffic
for config in "streets.sumocfg", {CONFIG!r}:
    try:
        Traffic(Sumo(config, client={client!r}), 1, range(1, 9), 10**12).close()
        print("started")
    except UserError as error:
        print(error)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment(client), capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.startswith(("SUMO does not start", "started"))]
    assert [line.split(" with")[0] for line in said] == ["SUMO does not start", "started"], done.stderr


@pytest.mark.ns3
def test_more_vehicles_than_hosts_are_one_line(tmp_path):
    done = drive(tmp_path, "ns3", hosts=1)
    assert re.search(r"network has hosts \(1\); this run needs \d+ hosts$", done.stderr.splitlines()[-1])


@pytest.mark.ns3
def test_a_sumo_that_dies_ends_the_run_with_one_line(tmp_path):
    env = environment("traci")
    (tmp_path / "drive.py").write_text(PROGRAM)
    command = [sys.executable, "drive.py", CONFIG, "ns3", "traci", "1", "3000", "20", str(tmp_path / "out")]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as run:
        while subprocess.run(["pkill", "-9", "-P", str(run.pid), "sumo"], check=False).returncode:
            assert run.poll() is None
        _, words = run.communicate(timeout=120)
    assert run.returncode != 0
    assert "SUMO" in words.splitlines()[-1]


def test_a_study_with_vehicles_runs_on_a_project(monkeypatch):
    """The project's hosts are the nodes of the study's network, its stations first."""
    monkeypatch.setattr(omnet_query, "runs_of", lambda ini, config: [omnet_query.IniRun(0, {}, 1)])
    study = registry.get(str(TOP / "examples" / "warning.py"))
    (planned,) = plan_external(study, "my.ini", "General", "**.host[*]", {})
    own = study.network(study.Params(), 1)
    network = planned.external.instead_of(own)
    assert network.movement == own.movement and network.vehicle_nodes == tuple(range(1, 81))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sumo(CONFIG, step=5), "step"),
        (lambda: Sumo(CONFIG, client="matlab"), "libsumo, traci"),
        (lambda: Sumo(7), "path"),
        (lambda: MobileNetwork(hosts=3, movement=Sumo(CONFIG)), "needs a station"),
        (lambda: MobileNetwork(station_xy_mm=((0, 0),), hosts=3, movement="city.sumocfg"), "Sumo"),
        (
            lambda: MobileNetwork(station_xy_mm=((0, 0),), hosts=3, movement=Sumo(CONFIG), stays=Stays([1], [0], [5])),
            "stays",
        ),
    ],
)
def test_wrong_traffic_is_one_line(make, words):
    with pytest.raises(UserError, match=words) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"movement": "city.sumocfg"}, "movement is 'city.sumocfg'; allowed: a Sumo"),
        ({"vehicles": range(3)}, "movement is None; allowed: a Sumo"),
        ({"movement": Sumo(CONFIG), "vehicles": (0, 5)}, "vehicles has 5; allowed: numbers of nodes"),
        ({"movement": Sumo(CONFIG), "vehicles": (0, 0)}, "vehicles has a node twice"),
        ({"movement": Sumo(CONFIG), "vehicles": 5}, "vehicles is 5; allowed: a tuple"),
        ({"movement": Sumo(CONFIG), "stays": Stays([1], [0], [5])}, "stays and movement"),
    ],
)
def test_wrong_vehicles_are_one_line(fields, words):
    with pytest.raises(UserError, match=words) as error:
        InetNetwork(5, ini="my.ini", **fields)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_example_of_the_warning_counts_whole_journeys_only(engine, tmp_path):
    """Its runs used to end at 400 s, and the journeys of the cars that were still on the road counted as shorter."""
    if why := engines.get(engine).missing():
        pytest.skip(why)
    example = str(TOP / "examples" / "warning.py")
    done = subprocess.run(
        [sys.executable, "-m", "causeway.cli.main", "run", example, "--engine", engine, "--set", "warned=false",
         "--json"],
        cwd=tmp_path, env=environment("libsumo"), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    found = answer(done)
    travels = results.open(tmp_path / "results").vectors("travel_s")["series"]
    ends = [time for series in travels for time in series.time_s]
    assert found["scalars"]["journeys"] == len(ends) > 50
    assert max(ends) < found["parameters"]["duration_s"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (lambda car: car.slow_down(-1), "slow_down was given speed=-1; allowed: a number, 0 and up"),
        (lambda car: car.slow_down(float("nan")), "slow_down was given speed=nan"),
        (lambda car: car.slow_down(5, over_s=float("inf")), "slow_down was given over_s=inf"),
        (lambda car: car.hold(float("inf")), "hold was given speed=inf; allowed: a number"),
        (lambda car: car.hold("fast"), "hold was given speed='fast'"),
    ],
)
def test_a_speed_that_no_car_can_have_is_refused_before_sumo_gets_it(command, words):
    with pytest.raises(Misuse, match=words):
        command(Vehicle("car.0", None, None))
