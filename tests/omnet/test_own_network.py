"""A user's own NED network and omnetpp.ini run under a protocol, unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.bridge.events import Act, Actions, Kind, Window
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.protocol import Protocol

pytestmark = [pytest.mark.omnet]
OWN = Path(__file__).parents[1] / "helpers" / "omnet_own"
MS = 10**9


@pytest.fixture(autouse=True, scope="module")
def omnet_is_here() -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)


class PingPong(Node):
    """Node 0 sends two packets to node 1, which answers each at once."""

    log: list[tuple[int, int, str, int]]

    def on_start(self):
        if self.id == 0:
            self.send(1, "first", 1000, 0)
            self.send(1, "second", 1000, 0)

    def on_packet(self, content, sender, interface):
        self.log.append((self.now_ps, self.id, content, interface))
        if self.id == 1:
            self.send(0, "answer to " + content, 125, 0)


def play(**options: Any) -> list[tuple[int, int, str, int]]:
    log: list[tuple[int, int, str, int]] = []

    def make(id_: int) -> Node:
        node = PingPong()
        node.log = log
        return node

    network = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3))
    spec = RunSpec("own", {}, 1, network, MS, options={"ini": str(OWN / "omnetpp.ini"), **options})
    run_protocol(engines.get("omnet"), spec, PerNode(make), [])
    return log


def test_packets_take_the_time_of_the_networks_wires() -> None:
    # 1000 B at 1 Mbit/s take 8 ms, and 10 ms on the way; all that a node does takes effect after 1 ms
    assert play() == [
        (19 * MS, 1, "first", 0),
        (27 * MS, 1, "second", 0),  # waited for the first
        (31 * MS, 0, "answer to first", 0),
        (39 * MS, 0, "answer to second", 0),
    ]


def test_its_configurations_and_further_settings_are_used() -> None:
    assert play(config="Slow")[0] == (91 * MS, 1, "first", 0)
    assert play(set={"**.channel.delay": "20ms"})[0] == (29 * MS, 1, "first", 0)


def test_a_missing_ini_file_is_the_users_error() -> None:
    with pytest.raises(UserError, match=r"there is no ini file .*nowhere\.ini"):
        play(ini=str(OWN / "nowhere.ini"))


class Recording(Protocol):
    """Has the engine record two samples."""

    def on_window(self, window: Window) -> Actions:
        assert not (window.kind == Kind.ARRIVAL).any()
        values = np.array([2.5, -1.0]).view(np.int64)
        zeros = np.zeros(2, np.int32)
        return Actions(
            np.full(2, Act.RECORD, np.uint8), np.array([MS, 3 * MS]), zeros + 1, values, zeros, zeros,
            np.zeros(2, np.uint8), stop=True,
        )  # fmt: skip


def test_recorded_samples_are_in_omnetpps_own_vector_file(tmp_path: Path) -> None:
    network = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3))
    options = {"ini": str(OWN / "omnetpp.ini"), "results": str(tmp_path)}
    spec = RunSpec("own", {}, 1, network, MS, channels=("queue",), options=options)
    run_protocol(engines.get("omnet"), spec, Recording(), [])
    text = next(tmp_path.glob("*.vec")).read_text()
    assert "vector 0 Triangle.node[1] queue ETV" in text
    assert [line.split("\t")[2:] for line in text.splitlines() if line.startswith("0\t")] == [
        ["0.001", "2.5"],
        ["0.003", "-1"],
    ]


def test_omnetpp_writes_no_result_files_by_default() -> None:
    play()
    assert {path.name for path in OWN.rglob("*")} == {"Triangle.ned", "omnetpp.ini"}
