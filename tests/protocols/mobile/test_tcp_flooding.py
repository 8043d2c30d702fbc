"""Flooding over FIFO links delivers in causal order, once, whatever the links' delays."""

from __future__ import annotations

import heapq
import itertools
from random import Random

import pytest

from causeway.bridge.events import Act, Kind, pack_position
from causeway.network.networks import WIRE, WIRELESS_TCP
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol import Context
from causeway.pycontrol.protocols.mobile import Meter, tree_neighbours
from causeway.pycontrol.protocols.mobile.tcp_flooding import SPACING_PS, FloodingHost, FloodingStation
from tests.helpers.mobile_model import MS_PS, REACTION_PS, S_PS, Steps, Verdict

WIRES = [(0, 1), (1, 2), (1, 3)]
STATIONS, HOSTS = 4, 8


class FifoModel:
    """Links that are reliable and FIFO, each with its own random delays."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.now_ps = 0
        self.verdict = Verdict()
        self.meter = Meter()
        self.sent: list[tuple[int, int, int, object]] = []
        self._queue: list[tuple[int, int, int, int, int, int]] = []
        self._free: dict[tuple[int, int], int] = {}
        neighbours = tree_neighbours(STATIONS, WIRES)

        def make(id_: int) -> Node:
            return FloodingStation(self.meter, neighbours[id_]) if id_ < STATIONS else FloodingHost(self.meter)

        self.protocol = Steps(make)
        self._run(lambda: self.protocol.start(Context(STATIONS + HOSTS, 1, REACTION_PS)))
        for host in range(STATIONS, STATIONS + HOSTS):
            self._event(Kind.STATION, host, pack_position(0, 0), host % STATIONS)

    def _event(self, kind: int, node: int, ref: int, arg: int) -> None:
        self._run(lambda: self.protocol._handle([(kind, self.now_ps, node, ref, arg)]))

    def _run(self, do) -> None:
        actions, log = self.protocol.step(self.now_ps, do)
        for row in log:
            self.verdict.add(*row)
        for kind, time_ps, node, ref, peer, _, interface, _ in actions:
            arrival_ps, what = time_ps, Kind.TIMER
            if kind == Act.SEND:
                self.sent.append((time_ps, node, peer, self.protocol.kept_packets[ref][0]))
                delay_ps = int(10 * MS_PS * self.random.random() ** 3 * (1 if interface == WIRE else 60))
                arrival_ps = max(self._free.get((node, peer), 0), time_ps + delay_ps)
                self._free[node, peer], what, node = arrival_ps, Kind.ARRIVAL, peer
            heapq.heappush(self._queue, (arrival_ps, len(self.sent), what, node, ref, interface))

    def run(self, for_ps: int) -> None:
        end_ps = self.now_ps + for_ps
        while self._queue and self._queue[0][0] <= end_ps:
            self.now_ps, _, kind, node, ref, arg = heapq.heappop(self._queue)
            self._event(kind, node, ref, arg)
        self.now_ps = end_ps

    def broadcast(self) -> None:
        self._event(Kind.BROADCAST, self.random.randrange(STATIONS, STATIONS + HOSTS), 0, 100)


def play(seed: int) -> FifoModel:
    model = FifoModel(Random(seed))
    model.run(30 * S_PS)
    for _ in range(80):
        model.run(int(20 * MS_PS * model.random.random()))
        model.broadcast()
    model.run(60 * S_PS)
    return model


def complaints(seeds: int = 12) -> list[str]:
    return [c for seed in range(seeds) for w in [play(seed)] for c in w.verdict.problems + w.verdict.missing()]


def test_everything_is_delivered_once_and_in_causal_order() -> None:
    assert complaints() == []


def test_nothing_is_on_its_way_at_the_end() -> None:
    nodes = play(1).protocol.nodes
    assert [s.in_flight for s in nodes[:STATIONS]] == [0] * STATIONS  # type: ignore[attr-defined]
    assert [h.SBuffer for h in nodes[STATIONS:]] == [{}] * HOSTS  # type: ignore[attr-defined]


def test_point_to_point_sends_of_one_message_are_5_ms_apart() -> None:
    times: dict[tuple[int, object], list[int]] = {}
    for time_ps, node, peer, content in play(2).sent:
        if node < STATIONS <= peer and content.kind == "App":  # type: ignore[attr-defined]
            times.setdefault((node, content), []).append(time_ps)
    gaps = [b - a for series in times.values() for a, b in itertools.pairwise(series)]
    assert gaps and min(gaps) >= SPACING_PS


def test_a_station_that_closes_the_gap_of_the_sender_breaks_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FloodingStation._forward

    def closing(self: FloodingStation, message, sender: int) -> None:
        hosts, self.hosts = self.hosts, [h for h in self.hosts if h != sender]
        real(self, message, sender)
        self.hosts = hosts

    monkeypatch.setattr(FloodingStation, "_forward", closing)
    monkeypatch.setattr("causeway.pycontrol.protocols.mobile.tcp_flooding.SPACING_PS", 50 * MS_PS)
    assert complaints() != []


def test_a_station_that_sends_a_message_back_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FloodingStation._forward
    monkeypatch.setattr(FloodingStation, "_forward", lambda self, message, sender: (
        real(self, message, sender), self._transmit(sender, message) if sender >= STATIONS else None))  # fmt: skip
    assert any("again" in c for c in complaints(1))


def test_wireless_links_and_wires_both_use_tcp() -> None:
    used = {(node < STATIONS <= peer or peer < STATIONS <= node) for _, node, peer, _ in play(3).sent}
    assert used == {True, False}
    assert {interface for interface, _ in play(3).meter.messages} == {WIRE, WIRELESS_TCP}
