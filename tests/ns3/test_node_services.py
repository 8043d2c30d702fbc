"""Requests and periodic calls on the real simulator: exact times, and exactly one of reply and time-out."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from causeway.bridge.engine import RunSpec
from causeway.network.networks import MobileNetwork
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import Node, PerNode
from tests.helpers.ns3_probe import ENGINE, needs_ns3

pytestmark = needs_ns3
MS = 10**9


class Polls(Node):
    def __init__(self) -> None:
        self.asked: list[int] = []
        self.over: list[str] = []

    def on_start(self) -> None:
        self.every(30 * MS, self.poll)

    def poll(self) -> None:
        self.asked.append(self.now_ps)
        for peer in self.peers:
            self.request(peer, "how are you?", 20 * MS, self.on_answer, partial(self.on_silence, peer))

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        self.reply("well")

    def on_answer(self, content: str, sender: int) -> None:
        self.over.append(content)

    def on_silence(self, peer: int) -> None:
        self.over.append("silence")

    def on_finish(self) -> None:
        self.record("over", len(self.over))


def test_requests_and_periods_on_ns3() -> None:
    network = MobileNetwork.hexagons(cells=1, hosts=3)  # all poll at the same instants, so that packets collide
    outcomes = []
    for cap in (0, 1):
        protocol = PerNode(Polls)
        outcomes.append(
            run_protocol(ENGINE, RunSpec("test", {}, 1, network, MS, duration_ps=4000 * MS, cap=cap), protocol, [])
        )
        for node in protocol.nodes:
            assert isinstance(node, Polls)
            assert node.asked[0] == 31 * MS and {b - a for a, b in pairwise(node.asked)} == {30 * MS}
            still_open = len(vars(node)["_open_requests"])
            assert len(node.over) + still_open == 3 * len(node.asked)
    heard = {one for node in protocol.nodes for one in vars(node)["over"]}
    assert heard == {"well", "silence"}
    assert outcomes[0].digest == outcomes[1].digest
    assert all(("node[0]", "over") in outcome.samples for outcome in outcomes)
