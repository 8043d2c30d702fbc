"""gradysim's protocols on Causeway have the results of gradysim's own simulator. Skipped if it is not installed."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from typing import Any

import pytest

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, MobileNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.gradys import Drones
from causeway.pycontrol.loop import run_protocol
from tests.helpers.aio_programs import in_a_row

FOLDER = os.environ.get("CAUSEWAY_AIO_DEPS", "")
if FOLDER and FOLDER not in sys.path:
    sys.path.append(FOLDER)
try:
    importlib.import_module("gradysim")
except ModuleNotFoundError:
    pytest.skip("gradysim is not here: pip install gradysim", allow_module_level=True)

from gradysim.protocol.interface import IProtocol  # noqa: E402
from gradysim.protocol.messages.communication import BroadcastMessageCommand, SendMessageCommand  # noqa: E402
from gradysim.protocol.messages.mobility import GotoCoordsMobilityCommand  # noqa: E402
from gradysim.protocol.plugin.mission_mobility import (  # noqa: E402
    LoopMission,
    MissionMobilityConfiguration,
    MissionMobilityPlugin,
)
from gradysim.protocol.plugin.raft import RaftConfig, RaftConsensusPlugin, RaftMode  # noqa: E402

ENDS = [(150, 0, 0), (0, 150, 0), (-150, 0, 0), (0, -150, 0)]
RANGE_M, SECONDS = 30, 199.7
"""A duration at whose end no event is due: gradysim includes its last instant, Causeway does not."""
REACTION_PS = 10**8
FIRST_S = 0.437
"""Drones speak between the seconds of the sensors and the steps of movement (gradysim leaves the order of ties open),
one after the other: who speaks at one instant and place collides on a radio, though not in gradysim."""
FINAL: dict[int, Any] = {}
"""The final state of each protocol, by node."""


class Plain(IProtocol):
    """Does nothing by itself."""

    def initialize(self):
        self.packets = 0

    def handle_timer(self, timer):
        pass

    def handle_packet(self, message):
        pass

    def handle_telemetry(self, telemetry):
        pass

    def finish(self):
        FINAL[self.provider.get_id()] = self.packets


class Sensor(Plain):
    """Makes a packet a second; gives all it has to a drone that comes by."""

    def initialize(self):
        super().initialize()
        self.handle_timer("")

    def handle_timer(self, timer):
        self.packets += 1
        self.provider.schedule_timer("", self.provider.current_time() + 1)

    def handle_packet(self, message):
        kind, sender, _ = message.split()
        if kind == "drone":
            command = SendMessageCommand(f"sensor {self.provider.get_id()} {self.packets}", int(sender))
            self.provider.send_communication_command(command)
            self.packets = 0


class Drone(Plain):
    """Flies between the ground and its sensor, and announces itself every second."""

    def initialize(self):
        super().initialize()
        x, y, _ = ENDS[self.provider.get_id() - 4]
        config = MissionMobilityConfiguration(loop_mission=LoopMission.REVERSE)
        self.mission = MissionMobilityPlugin(self, config)
        self.mission.start_mission([(0, 0, 20), (x, y, 20)])
        self.provider.schedule_timer("", FIRST_S + 0.02 * self.provider.get_id())

    def handle_timer(self, timer):
        self.provider.send_communication_command(
            BroadcastMessageCommand(f"drone {self.provider.get_id()} {self.packets}")
        )
        self.provider.schedule_timer("", self.provider.current_time() + 1)

    def handle_packet(self, message):
        kind, _, packets = message.split()
        if kind == "sensor":
            self.packets += int(packets)
        elif kind == "ground":
            self.packets = 0


class Ground(Plain):
    """Receives the packets that drones deliver."""

    def handle_packet(self, message):
        _, sender, packets = message.split()
        self.packets += int(packets)
        self.provider.send_communication_command(SendMessageCommand(f"ground {self.provider.get_id()} 0", int(sender)))


FLEET = [*((Sensor, end) for end in ENDS), *((Drone, (0, 0, 0)) for _ in ENDS), (Ground, (0, 0, 0))]


class Voter(Plain):
    """A member of gradysim's Raft, which proposes the number 42."""

    def initialize(self):
        super().initialize()
        config = RaftConfig()
        config.set_election_timeout(300, 600)
        config.set_heartbeat_interval(100)
        config.add_consensus_variable("answer", int)
        config.set_raft_mode(RaftMode.CLASSIC)
        self.raft = RaftConsensusPlugin(config=config, protocol=self)
        self.raft.set_known_nodes(list(range(5)))
        self.raft.start()
        self.provider.schedule_timer("ask", 8)

    def handle_timer(self, timer):
        if timer == "ask" and self.raft.is_leader():
            self.raft.propose_value("answer", 42)

    def finish(self):
        FINAL[self.provider.get_id()] = self.raft.get_leader_id(), self.raft.get_committed_value("answer")


@pytest.fixture(autouse=True)
def quiet():
    FINAL.clear()
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def run(engine: str, nodes: list[tuple[type, Any]], network: Any, seconds: float, **options: Any) -> dict[int, Any]:
    if (why := engines.get(engine).missing(network)) is not None:
        pytest.skip(f"{engine}: {why}")
    spec = RunSpec("gradys", {}, 1, network, REACTION_PS, duration_ps=round(seconds * 1e12))
    run_protocol(engines.get(engine), spec, Drones(nodes, **options), [])
    return dict(FINAL)


def abstract(nodes: int) -> AbstractNetwork:
    return AbstractNetwork(nodes, delay=constant_delay(0.001), workload=Workload(nodes))


def in_gradysim() -> dict[int, Any]:
    """Run the same fleet in gradysim's own simulator."""
    simulation = importlib.import_module("gradysim.simulator.simulation")
    handlers = "gradysim.simulator.handler."
    communication = importlib.import_module(handlers + "communication")
    mobility = importlib.import_module(handlers + "mobility")
    timer = importlib.import_module(handlers + "timer")
    builder = simulation.SimulationBuilder(
        simulation.SimulationConfiguration(duration=SECONDS, execution_logging=False)
    )
    for kind, position in FLEET:
        builder.add_node(kind, position)
    builder.add_handler(timer.TimerHandler())
    medium = communication.CommunicationMedium(transmission_range=RANGE_M)
    builder.add_handler(communication.CommunicationHandler(medium))
    builder.add_handler(mobility.MasslessMobilityHandler())
    builder.build().start_simulation()
    found = dict(FINAL)
    FINAL.clear()
    return found


def test_the_data_collection_of_gradysims_guide_has_the_results_of_gradysim():
    theirs = in_gradysim()
    ours = run("inline", FLEET, abstract(len(FLEET)), SECONDS, range_m=RANGE_M)
    assert theirs[8] > 100
    assert ours == theirs


@pytest.mark.omnet
def test_omnet_and_inline_have_equal_results():
    found = [run(engine, FLEET, abstract(len(FLEET)), 60, range_m=RANGE_M) for engine in ("inline", "omnet")]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "engine", ["inline", pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)
def test_gradysims_raft_agrees_on_a_leader_and_a_value(engine):
    """On ns-3 and INET over the radio."""
    network = abstract(5) if engine == "inline" else in_a_row(5, metres=20)
    final = run(engine, [(Voter, (0, 0, 0))] * 5, network, 20, range_m=None)
    leaders, values = {leader for leader, _ in final.values()}, {value for _, value in final.values()}
    assert len(leaders) == 1 and leaders <= set(range(5)) and values == {42}


FAR = [(2 * x, 2 * y, z) for x, y, z in ENDS]
"""Out of reach of the ground (a radio reaches 120 m), so that nothing comes without movement."""
RADIO = [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]


def on_a_radio(nodes: list[tuple[type, Any]]) -> MobileNetwork:
    """Return a network of hosts that move on command, and get their positions every 100 ms."""
    places = tuple((1000 * x, 1000 * y) for _, (x, y, _) in nodes)
    return MobileNetwork(
        hosts=len(nodes), radio="wifi", speed_mm_s=0, covered_only=False, host_xy_mm=places,
        position_every_ps=10**11,
    )  # fmt: skip


@pytest.mark.parametrize("engine", RADIO)
def test_over_a_radio_drones_are_sent_and_return_with_their_data(engine, monkeypatch):
    """No packet is lost or doubled, and all that came to the ground was brought there. Who brought how much hangs on
    where the radio's reach begins, which gradysim puts elsewhere."""
    monkeypatch.setattr(f"{__name__}.ENDS", FAR)
    monkeypatch.setattr(f"{__name__}.RANGE_M", 120)
    fleet = [*((Sensor, end) for end in FAR), *((Drone, (0, 0, 0)) for _ in FAR), (Ground, (0, 0, 0))]
    monkeypatch.setattr(f"{__name__}.FLEET", fleet)
    theirs = in_gradysim()
    ours = run(engine, fleet, on_a_radio(fleet), SECONDS)
    assert sum(ours.values()) == sum(theirs.values())
    assert min(ours[8], theirs[8]) > 100


class Mover(Plain):
    def initialize(self):
        super().initialize()
        self.provider.send_mobility_command(GotoCoordsMobilityCommand(1, 2, 3))


@pytest.mark.ns3
def test_a_move_of_a_station_is_refused_in_one_line():
    with pytest.raises(RunError, match=r"node 0 is a station and cannot move; .* hosts only"):
        run("ns3", [(Mover, (0, 0, 0))] * 2, in_a_row(2), 1)
