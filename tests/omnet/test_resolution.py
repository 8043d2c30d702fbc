"""Simulations that count time in units other than picoseconds: times are rounded, and no two events are swapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import Node, PerNode

pytestmark = [pytest.mark.omnet]
HELPERS = Path(__file__).parents[1] / "helpers"
FINE, OWN = HELPERS / "omnet_fine" / "omnetpp.ini", HELPERS / "omnet_own" / "omnetpp.ini"
NS, MS, S = 10**3, 10**9, 10**12


@pytest.fixture(autouse=True, scope="module")
def omnet_is_here() -> None:
    if why := engines.get("omnet").missing():
        pytest.skip(why)


class Talker(Node):
    """Nodes 1 and 2 send to node 0, which answers the first packet and sets a timer at odd times."""

    log: list[tuple[int, int, object]]

    def on_start(self) -> None:
        if self.id:
            self.send(0, f"of {self.id}", 100)

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        self.log.append((self.now_ps, self.id, content))
        if self.id == 0:
            self.send(sender, f"answer to {sender}", 100, sender - 1)
            self.set_timer(sender, 1)

    def on_timer(self, key: Any) -> None:
        self.log.append((self.now_ps, self.id, f"timer {key}"))


def play(
    resolution: str, ini: Path = FINE, reaction_ps: int = NS, duration_ps: int = 0, cap: int = 0
) -> tuple[list[tuple[int, int, object]], Outcome]:
    log: list[tuple[int, int, object]] = []

    def make(id_: int) -> Node:
        node = Talker()
        node.log = log
        return node

    network = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3))
    options = {"ini": str(ini), "set": {"simtime-resolution": resolution}}
    spec = RunSpec("resolution", {}, 1, network, reaction_ps, duration_ps, cap, options=options)
    return log, run_protocol(engines.get("omnet"), spec, PerNode(make), [])


def test_two_arrivals_within_a_picosecond_keep_their_order_and_the_handshake_names_the_resolution() -> None:
    """In picoseconds they would be at one instant, in the order of their packets' ids: that of node 1 first."""
    log, outcome = play("fs")
    assert outcome.engine_version.endswith(", simtime-resolution fs")
    assert log[:2] == [(11 * NS, 0, "of 2"), (11 * NS + 1, 0, "of 1")]
    # what is due at a picosecond of its own is reported there, what shares one with an earlier event at the next
    assert log[2:] == [
        (12 * NS + 1, 0, "timer 2"), (12 * NS + 2, 0, "timer 1"),
        (22 * NS, 2, "answer to 2"), (22 * NS + 1, 1, "answer to 1"),
    ]  # fmt: skip


def test_a_resolution_of_picoseconds_changes_nothing() -> None:
    log, outcome = play("ps")
    assert "resolution" not in outcome.engine_version
    assert [row[2] for row in log[:2]] == ["of 1", "of 2"] and log[0][0] == log[1][0] == 11 * NS


@pytest.mark.parametrize("resolution", ["fs", "ns", "us", "ms"])
def test_the_digest_does_not_depend_on_the_cap(resolution: str) -> None:
    ini, reaction_ps = (FINE, NS) if resolution == "fs" else (OWN, MS)
    digests = {play(resolution, ini, reaction_ps, cap=cap)[1].digest for cap in (0, 1, 2)}
    assert len(digests) == 1


def test_in_a_coarser_simulation_an_action_takes_effect_at_the_next_instant() -> None:
    """Reaction time 1 ns, instants of 1 ms: packets leave at 1 ms, 100 B take 0.8 and 10 ms, rounded by OMNeT++."""
    log, outcome = play("ms", OWN, NS)
    assert outcome.engine_version.endswith(", simtime-resolution ms")
    assert all(time_ps % MS == 0 for time_ps, _, _ in log)
    arrived = {text: time_ps for time_ps, _, text in log}
    assert arrived["of 1"] >= 11 * MS and arrived["timer 1"] == arrived["of 1"] + MS


def test_a_run_that_is_longer_than_its_resolution_can_count_is_refused_in_one_line() -> None:
    with pytest.raises(RunError, match=r"simtime-resolution = fs ends after 9223\.37\d* s.*set a shorter duration"):
        play("fs", duration_ps=10_000 * S)
