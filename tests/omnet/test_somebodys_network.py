"""A protocol on the hosts of INET's own, unedited examples: packets arrive, and the network is otherwise unchanged."""

from __future__ import annotations

import functools
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

import causeway as cw
from causeway.bridge.engine import BY_SIMULATION, RunSpec
from causeway.errors import RunError, UserError
from causeway.network.networks import WIRE, InetNetwork
from causeway.network.workload import Faults, Workload
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.studies.external_project import ExternalProject
from causeway.studies.runner import Job, run_job
from tests.helpers.edits import edited
from tests.helpers.inet_probe import ENGINE, needs_inet
from tests.helpers.inet_projects import PROJECTS, inet_root, own_scalars, plain_scalars
from tests.helpers.wireless_probe import MS, Log, Probe, S, logged

pytestmark = needs_inet
EXAMPLES = Path(__file__).parents[2] / "examples"


def play(
    name: str, folder: Path, duration_s: float, node: type[Probe] = Probe, seed: int = 1, cap: int = 0,
    faults: Faults | None = None, **options: Any,
) -> tuple[Log, Outcome]:  # fmt: skip
    """Runs nodes that log what they see in one of the projects."""
    project = PROJECTS[name]
    log = Log()
    network = InetNetwork(
        project.nodes,
        ini=str(project.write(folder)),
        workload=Workload(project.nodes),
        config="Python",
        faults=faults or Faults(),
    )
    spec = RunSpec("test", {}, seed, network, MS, int(duration_s * S), cap=cap, options=options)
    return log, run_protocol(ENGINE, spec, PerNode(logged(node, log)), [])


class Talk(Probe):
    """Every node speaks once, at a time of its own: to all, to one by UDP, to one by TCP."""

    def on_start(self) -> None:
        self.set_timer("speak", 2 * S + self.id * 200 * MS)

    def on_timer(self, key: object) -> None:
        nodes = self.runtime.context.nodes
        self.send(EVERYONE, ("all", self.id), 100)
        self.send((self.id + 1) % nodes, ("one", self.id), 100)
        self.send((self.id + 2) % nodes, ("tcp", self.id), 3000, WIRE)


# ---- the network stays what it is -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROJECTS)
def test_a_silent_protocol_changes_no_scalar_of_the_network(name: str, tmp_path: Path) -> None:
    """Not one of them, to the last bit: beside applications of its own, a host does not notice the protocol."""
    play(name, tmp_path, 8, results=str(tmp_path), result_name="ours")
    plain = plain_scalars(tmp_path / "omnetpp.ini", 1, 8, tmp_path)
    ours = own_scalars(tmp_path / "ours.sca")
    assert len(plain) > 100
    both = plain.join(ours, rsuffix="_ours", how="outer")
    changed = both[~((both.value == both.value_ours) | (both.value.isna() & both.value_ours.isna()))]
    assert changed.empty, changed.to_string()


def test_a_limit_of_the_ini_file_that_ends_the_run_before_the_studys_end_is_an_error(tmp_path: Path) -> None:
    limit = {"sim-time-limit": "3s"}
    with pytest.raises(
        RunError,
        match=r"ended by itself at 3 s, when the study lasts 15 s; raise the limit \(sim-time-limit, most likely\) in "
        r"configuration Python of .*omnetpp\.ini, or give the study a shorter duration",
    ):
        play("aodv", tmp_path, 15, Talk, set=limit)
    _, outcome = play("aodv", tmp_path, 3, Talk, set=limit)
    assert outcome.finish.end_ps == 3 * S
    _, outcome = play("aodv", tmp_path, 0, Talk, set=limit)
    assert outcome.finish.reason == BY_SIMULATION, "such a study has no end of its own"
    with pytest.raises(RunError, match="ended by itself at 1 s, when nothing had happened to any node"):
        play("aodv", tmp_path, 0, Talk, set={"sim-time-limit": "1s"})


# ---- packets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "share"), [("aodv", 0.4), ("wired_lan", 1), ("telnet", 1)])
def test_a_datagram_or_a_stream_to_a_node_goes_wherever_routes_lead(name: str, share: float, tmp_path: Path) -> None:
    """On AODV half of the example's own pings are lost, too; lost packets are reported, or sent again by TCP."""
    log, outcome = play(name, tmp_path, 15, Talk)
    nodes = PROJECTS[name].nodes
    came = Counter(content[0] for _, _, content, _, _ in log.arrivals)
    assert share * nodes <= came["tcp"] <= nodes
    lost = sum(content[0] == "one" for _, _, content in log.lost)
    assert came["one"] + lost == nodes and came["one"] >= share * nodes
    for _, node, (what, sender), reported, interface in log.arrivals:
        assert reported == sender != node
        assert interface == (WIRE if what == "tcp" else 0)
        if what != "all":
            assert node == (sender + (1 if what == "one" else 2)) % nodes
    assert outcome.finish.scalars["network", "tcp_broken"] == 0


def test_a_packet_to_everyone_stays_on_the_senders_own_ethernet(tmp_path: Path) -> None:
    """Hosts 0-2, 3-5 and 6-8 are on three switches, with routers between them."""
    log, _ = play("wired_lan", tmp_path, 8, Talk)
    heard = {(content[1], node) for _, node, content, *_ in log.arrivals if content[0] == "all"}
    assert heard == {(a, b) for a in range(9) for b in range(9) if a != b and a // 3 == b // 3}


def test_no_host_receives_its_own_broadcast_from_an_access_point(tmp_path: Path) -> None:
    log, _ = play("access_point", tmp_path, 6, Talk)
    heard = [(content[1], node) for _, node, content, *_ in log.arrivals if content[0] == "all"]
    assert len(heard) > 20
    assert all(sender != node for sender, node in heard)


def test_batching_changes_nothing(tmp_path: Path) -> None:
    digests = {cap: play("aodv", tmp_path, 8, Talk, cap=cap)[1].digest for cap in (0, 1, 16)}
    assert len(set(digests.values())) == 1


def test_a_project_may_count_time_in_femtoseconds(tmp_path: Path) -> None:
    """Times cross in picoseconds; hosts hear what they hear otherwise, and batching changes nothing here either."""
    fine = {"simtime-resolution": "fs"}
    played = {cap: play("wired_lan", tmp_path, 8, Talk, cap=cap, set=fine) for cap in (0, 1)}
    (log, outcome), (_, one_by_one) = played[0], played[1]
    assert outcome.engine_version.endswith(", simtime-resolution fs")
    assert outcome.digest == one_by_one.digest
    usual, _ = play("wired_lan", tmp_path, 8, Talk)
    for times in (log, usual):
        assert [t for t, *_ in times.arrivals] == sorted(t for t, *_ in times.arrivals)
    assert sorted(row[1:] for row in log.arrivals) == sorted(row[1:] for row in usual.arrivals)
    pairs = zip(sorted(log.arrivals, key=itemgetter(2, 1)), sorted(usual.arrivals, key=itemgetter(2, 1)), strict=True)
    assert all(abs(fine_one[0] - one[0]) < 1000 for fine_one, one in pairs), "within a nanosecond"


def test_positions_are_reported_at_the_start_and_at_the_interval(tmp_path: Path) -> None:
    log, _ = play("aodv", tmp_path, 3, set={"**.causeway.positionEvery": "1s"})
    assert {tuple(t for t, *_ in rows) for rows in log.places.values()} == {(0, S, 2 * S)}
    assert len(log.places) == 20


# ---- nodes that fail ------------------------------------------------------------------------------------------------


def test_a_node_that_is_down_neither_sends_nor_hears(tmp_path: Path) -> None:
    import numpy as np

    down = Faults(np.array([S, 5 * S]), np.array([1, 1], np.int32), np.array([0, 1], np.uint8))
    log, _ = play("wired_lan", tmp_path, 8, Chatter, faults=down)
    times = sorted(t for t, node, (_, sender), *_ in log.arrivals if (sender, node) == (0, 1))
    assert times and not [t for t in times if S <= t < 5 * S]
    assert [t for t in times if t < S] and [t for t in times if t > 5 * S]
    assert [(t, what) for t, node, what in log.other if node == 1 and what in ("down", "up")] == [
        (S, "down"),
        (5 * S, "up"),
    ]


class Chatter(Probe):
    """Node 0 speaks to node 1 five times a second."""

    def on_start(self) -> None:
        if self.id == 0:
            for i in range(40):
                self.set_timer(i, i * 200 * MS)

    def on_timer(self, key: object) -> None:
        self.send(1, (key, 0), 100)


# ---- studies --------------------------------------------------------------------------------------------------------


@functools.cache
def run_example(example: str, name: str, folder: Path, **parameters: Any) -> dict[str, float]:
    ini = PROJECTS[name].write(folder)
    job = Job(str(EXAMPLES / example), parameters, 1, "omnet", external=ExternalProject(str(ini), "Python"))
    return run_job(job).scalars


@pytest.mark.parametrize("name", ["aodv", "dsdv", "gpsr", "access_point", "wired_lan"])
def test_the_rumour_example_runs_there_unchanged(name: str, tmp_path: Path) -> None:
    """Its first seven nodes are the stations, who tell each other over TCP; the others only hear."""
    scalars = run_example("rumour.py", name, tmp_path, hosts=PROJECTS[name].nodes - 7, duration_s=10)
    assert scalars["messages"] > 20 and scalars["datagrams"] > 100 and scalars["tcp_opened"] > 0
    assert 0.05 < scalars["reached"] <= 1


@pytest.mark.parametrize(
    ("name", "heard"),
    [("aodv", 0.0), ("dsdv", 0.05), ("gpsr", 0.3), ("access_point", 1.0), ("wired_lan", 1.0), ("telnet", 1.0)],
)
def test_a_token_goes_round_over_tcp_and_all_hear_all_in_one_order(name: str, heard: float, tmp_path: Path) -> None:
    """Over radios and several hops, connections take their time: within 40 s a part is heard."""
    scalars = run_example("ring.py", name, tmp_path, nodes=PROJECTS[name].nodes, duration_s=40)
    assert scalars["messages"] > 10 and scalars["violations"] == 0 and scalars["tcp_broken"] == 0
    assert scalars["arrived"] > 15 and heard <= scalars["heard"] <= 1


# ---- mistakes -------------------------------------------------------------------------------------------------------


def open_network(folder: Path, nodes: int = 20, **changes: Any) -> Outcome:
    ini = PROJECTS["aodv"].write(folder)
    network = InetNetwork(nodes, **{"ini": str(ini), "workload": Workload(nodes), "config": "Python", **changes})
    return run_protocol(ENGINE, RunSpec("test", {}, 1, network, MS, S), PerNode(lambda _: Probe()), [])


def test_a_network_of_another_size_is_refused_with_both_numbers(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the study has 7 nodes, but 20 nodes of the network take part"):
        open_network(tmp_path, 7)


def test_a_path_that_matches_nothing_is_reported_with_the_network(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"'\*\*\.hostess\[\*\]' matches no host with applications in network AODV"):
        open_network(tmp_path, hosts="**.hostess[*]")


def wired_lan(folder: Path) -> Path:
    """Write the project of three Ethernets behind three routers."""
    (folder / "lan").mkdir()
    return PROJECTS["wired_lan"].write(folder / "lan")


@pytest.mark.parametrize("pattern", ["**", "**.router0", "**.host* **.router*"])
def test_a_pattern_that_matches_a_router_names_the_missing_modules(pattern: str, tmp_path: Path) -> None:
    ini = wired_lan(tmp_path)
    with pytest.raises(RunError) as error:
        open_network(tmp_path, 9, ini=str(ini), hosts=pattern)
    reported = str(error.value)
    assert (
        f"causeway-nodes: '{pattern.split()[-1]}' matches ConfiguratorA.router0 (Router), which has no UDP" in reported
    )
    assert "let it match hosts only, or write ConfiguratorA.router0.hasUdp = true" in reported
    assert "Unknown protocol" not in reported and "\n" not in reported


def test_a_router_with_udp_and_tcp_takes_part(tmp_path: Path) -> None:
    """The remedy of the error holds."""
    ini = wired_lan(tmp_path)
    routers = "".join(f"**.router{i}.has{what} = true\n" for i in range(3) for what in ("Udp", "Tcp"))
    ini.write_text(ini.read_text() + routers)
    outcome = open_network(tmp_path, 12, ini=str(ini), hosts="**")
    assert {f"ConfiguratorA.router{i}" for i in range(3)} <= set(outcome.finish.nodes.values())


@pytest.mark.parametrize("pattern", ["**", "**.host*"])
def test_hosts_without_ip_are_an_error_with_the_reason(pattern: str, tmp_path: Path) -> None:
    ini = tmp_path / "lans.ini"
    ini.write_text(f"include {inet_root() / 'examples' / 'ethernet' / 'lans' / 'twoHosts.ini'}\n")
    with pytest.raises(RunError) as error:
        open_network(tmp_path, 2, ini=str(ini), config="TwoHosts1", hosts=pattern)
    reported = str(error.value)
    assert f"causeway-nodes: '{pattern}' matches TwoHosts.hostA (EthernetHost), which has neither IP nor " in reported
    assert "the protocol needs hosts with both, such as StandardHost" in reported and "\n" not in reported


def test_a_network_without_participating_hosts_is_refused(tmp_path: Path) -> None:
    ini = tmp_path / "none.ini"
    ini.write_text(edited(PROJECTS["aodv"].write(tmp_path).read_text(), ("causeway-nodes", "# ")))
    with pytest.raises(RunError, match="the study has 20 nodes, but 0 nodes of the network take part"):
        open_network(tmp_path, ini=str(ini))


def test_an_unknown_configuration_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="No such config: Nowhere"):
        open_network(tmp_path, config="Nowhere")
    with pytest.raises(UserError, match=r"there is no ini file .*nothing\.ini"):
        open_network(tmp_path, ini=str(tmp_path / "nothing.ini"))


# ---- the number of nodes may be left to the network -----------------------------------------------------------------


class Counts(Node):
    """Each node knows how many there are, and sends one packet to the last of them."""

    def on_start(self) -> None:
        self.heard = 0
        self.after(2 * S, self.speak)

    def speak(self) -> None:
        self.send(self.node_count - 1, ("from", self.id), 100)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.deliver(self.new_message())

    def on_packet(self, content: object, sender: int, interface: int) -> None:
        self.heard += 1


@pytest.mark.parametrize("given", [0, 20])
def test_protocol_load_and_checks_have_the_number_of_nodes_of_the_network(given: int, tmp_path: Path) -> None:
    """With 20 given and with none, the run is the same: the load is drawn among 20 nodes, the checker knows 20."""
    ini = PROJECTS["aodv"].write(tmp_path)
    network = InetNetwork(given, ini=str(ini), config="Python")
    run = cw.run(Counts, network, broadcasts=cw.poisson(20), until=4 * S, engine="omnet", seed=3)
    assert len(run.nodes) == PROJECTS["aodv"].nodes == 20
    assert {node.node_count for node in run.nodes} == {20} and run.nodes[19].heard > 0
    senders = run.scalars["messages"]
    assert senders > 40 and run.scalars["deliveries"] == senders
    assert run.scalars["missing"] == 19 * senders, "each message is owed to the 19 others"


def test_a_network_without_nodes_says_how_to_name_them(tmp_path: Path) -> None:
    ini = tmp_path / "omnetpp.ini"
    ini.write_text(edited(PROJECTS["aodv"].write(tmp_path).read_text(), ("causeway-nodes", "# ")))
    network = InetNetwork(ini=str(ini), config="Python")
    with pytest.raises(UserError, match=r"name the hosts that take part, as in InetNetwork\(hosts="):
        cw.run(Counts, network, until=S, engine="omnet")


def test_an_unknown_line_of_the_ini_is_reported_without_advice_about_hosts(tmp_path: Path) -> None:
    ini = tmp_path / "omnetpp.ini"
    ini.write_text(edited(PROJECTS["aodv"].write(tmp_path).read_text(), ("sim-time-limit", "sim-time-limmit")))
    with pytest.raises(UserError, match=r"omnetpp.ini: Unknown configuration option: sim-time-limmit$"):
        cw.run(Counts, InetNetwork(ini=str(ini), config="Python"), until=S, engine="omnet")
