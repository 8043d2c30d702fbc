"""A small mobile network, and nodes that log their events on a packet-level engine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from causeway.bridge.engine import Engine, RunSpec
from causeway.network.networks import WIRE, WIRELESS, MobileNetwork
from causeway.network.workload import Script, Segment, Workload
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode

S, MS = 10**12, 10**9
REACH_MM = 120_000
STATIONS = ((0, 0), (170_000, 0), (85_000, 147_000))
"""Stations out of range of each other, whose cells overlap in pairs."""
WIRES = ((0, 1), (0, 2))
FIRST_HOST = len(STATIONS)
ONE_CELL: dict[str, Any] = {"station_xy_mm": ((0, 0),), "wires": ()}


def network(hosts: int, **changes) -> MobileNetwork:
    """Three cells; by default without a workload."""
    fields: dict[str, Any] = {"station_xy_mm": STATIONS, "wires": WIRES, "hosts": hosts, "workload": Workload(hosts)}
    return MobileNetwork(**fields | changes)


def one_after_the_other(nodes: int, every_ps: int = 100 * MS) -> Workload:
    """Return a workload in which every node broadcasts once, far from any other broadcast."""
    rows = np.arange(nodes)
    script = Script((rows + 1) * every_ps, rows.astype(np.int32), np.full(nodes, 100, np.int32))
    return Workload(nodes, script=script)


class Log:
    """The logged events of all nodes of a run."""

    def __init__(self) -> None:
        self.arrivals: list[tuple[int, int, object, int, int]] = []  # time_ps, node, content, sender, interface
        self.lost: list[tuple[int, int, object]] = []  # time_ps, node, content
        self.places: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)  # node -> time_ps, station, x, y
        self.other: list[tuple[int, int, str]] = []  # time_ps, node, what


class Probe(Node):
    """Logs everything; subclasses act."""

    log: Log

    def on_broadcast(self, number, size_bytes):
        self.log.other.append((self.now_ps, self.id, "broadcast"))
        self.send(EVERYONE, number, size_bytes)

    def on_packet(self, content, sender, interface):
        self.log.arrivals.append((self.now_ps, self.id, content, sender, interface))

    def on_lost(self, content, interface):
        self.log.lost.append((self.now_ps, self.id, content))

    def on_station(self, station, x_mm, y_mm):
        self.log.places[self.id].append((self.now_ps, station, x_mm, y_mm))

    def on_timer(self, key):
        self.log.other.append((self.now_ps, self.id, "timer"))

    def on_down(self):
        self.log.other.append((self.now_ps, self.id, "down"))

    def on_up(self):
        self.log.other.append((self.now_ps, self.id, "up"))


class Flood(Probe):
    """Stations repeat packets of hosts, over the air and over the wires."""

    def on_packet(self, content, sender, interface):
        super().on_packet(content, sender, interface)
        if self.id >= FIRST_HOST or (interface == WIRELESS and sender < FIRST_HOST):
            return
        self.send(EVERYONE, content, 100)
        for a, b in WIRES:
            if interface == WIRELESS and self.id in (a, b):
                self.send(a + b - self.id, content, 100, WIRE)


class StationsAtOnce(Probe):
    """Two stations speak at the same instant."""

    size_bytes = 1000

    def on_start(self):
        if self.id in (1, 2):
            self.send(EVERYONE, "noise", self.size_bytes)


class ToStationZero(Probe):
    """Everybody's broadcast goes to one station only."""

    def on_broadcast(self, number, size_bytes):
        if self.id != 0:
            self.send(0, number, size_bytes)


SIZES = [1, 40, 100, 3000, 20_000, 7, 536, 100_000, *range(50, 150)]


class Burst(Probe):
    """Two nodes send packets of all sizes to each other at once."""

    peers = (0, 1)
    interface = WIRE

    def on_start(self):
        if self.id in self.peers:
            for i, size in enumerate(SIZES):
                self.send(sum(self.peers) - self.id, i, size, self.interface)


class Ticking(Probe):
    """Has a timer every 100 ms."""

    def on_start(self):
        for tick in range(40):
            self.set_timer(tick, tick * 100 * MS)


BUSY = network(
    20, workload=Workload(20, first_node=FIRST_HOST, size_bytes=100, segments=(Segment(0, 40.0),)), speed_mm_s=1389
)


def run_on(
    engine: Engine,
    net: MobileNetwork,
    duration_s: float,
    node: type[Probe] = Probe,
    seed: int = 1,
    cap: int = 0,
    **options: Any,
) -> tuple[Log, Outcome]:
    """Make a run of nodes that log their events."""
    log = Log()
    spec = RunSpec("test", {}, seed, net, MS, int(duration_s * S), cap=cap, options=options)
    return log, run_protocol(engine, spec, PerNode(logged(node, log)), [])


def logged(kind: type[Probe], log: Log | None = None) -> Callable[[int], Probe]:
    """Return what makes nodes that write into one log. It is the test's."""
    shared = Log() if log is None else log

    def make(_: int) -> Probe:
        node = kind()
        node.log = shared
        return node

    return make


def distance_mm(a: tuple[int, int], b: tuple[int, int]) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


def positions(log: Log) -> list[tuple[int, int]]:
    """Return the positions of all nodes at the start."""
    return [*STATIONS, *(log.places[n][0][2:] for n in sorted(log.places))]


def misplaced(log: Log, reach_mm: int = REACH_MM) -> list[str]:
    """Return the STATION events that contradict the geometry. Within 2 mm of a border both sides are right."""
    wrong = []
    for node, rows in log.places.items():
        for time_ps, station, x, y in rows:
            far = [distance_mm((x, y), s) for s in STATIONS]
            right = {i for i, d in enumerate(far) if d <= reach_mm + 2 and d <= min(far) + 2}
            if min(far) > reach_mm - 2:
                right.add(-1)
            if station not in right:
                wrong.append(f"node {node} at {time_ps} ps")
    return wrong


WALKERS = network(40, speed_mm_s=20_000, position_every_ps=S // 2)


def check_who_heard(log: Log, outcome: Outcome, border_mm: int, miscounted: int, reach_mm: int = REACH_MM) -> None:
    """Check that each broadcast arrived at all nodes within reach and no others. At the border both are right."""
    heard = {(sender, node) for _, node, _, sender, _ in log.arrivals}
    at = positions(log)
    for a in range(len(at)):
        for b in range(len(at)):
            if a != b and abs(distance_mm(at[a], at[b]) - reach_mm) > border_mm:
                assert ((a, b) in heard) == (distance_mm(at[a], at[b]) < reach_mm)
    assert not log.lost
    assert outcome.finish.scalars["network", "loss_rate"] == 0
    assert abs(outcome.finish.scalars["network", "copies_received"] - len(log.arrivals)) <= miscounted


def check_order_on_wires(log: Log, outcome: Outcome, peers: tuple[int, int], hops: int) -> None:
    """Check that a `Burst` between two stations arrived in order, no packet sooner than the wires allow."""
    for receiver in peers:
        arrivals = [(t, c) for t, node, c, _, interface in log.arrivals if (node, interface) == (receiver, WIRE)]
        assert [content for _, content in arrivals] == list(range(len(SIZES)))
        sent_bytes = 0
        for time_ps, content in arrivals:
            sent_bytes += SIZES[content]
            crossings = 3 * hops  # SYN, SYN-ACK, data
            assert time_ps >= crossings * 10 * MS + sent_bytes * 8 * S // 10_000_000
    assert outcome.finish.scalars["network", "tcp_broken"] == 0
