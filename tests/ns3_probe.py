"""A small mobile network on ns-3, and nodes that log what they see of it."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from bridge.engine import RunSpec
from bridge.engines.ns3 import Ns3Engine
from bridge.network import MobileNetwork
from bridge.workload import Script, Workload
from pycontrol.loop import Outcome, run_protocol
from pycontrol.node import EVERYONE, Node, PerNode

ENGINE = Ns3Engine()

S, MS = 10**12, 10**9
REACH_MM = 120_000
STATIONS = ((0, 0), (170_000, 0), (85_000, 147_000))
"""Nobody of them hears another one; every two cells overlap."""
WIRES = ((0, 1), (0, 2))
FIRST_HOST = len(STATIONS)
ONE_CELL: dict[str, Any] = {"station_xy_mm": ((0, 0),), "wires": ()}


def network(hosts: int, **changes) -> MobileNetwork:
    """Three cells; by default nobody broadcasts by himself."""
    fields: dict[str, Any] = {"station_xy_mm": STATIONS, "wires": WIRES, "hosts": hosts, "workload": Workload(hosts)}
    return MobileNetwork(**fields | changes)


def one_after_the_other(nodes: int, every_ps: int = 100 * MS) -> Workload:
    """Every node broadcasts once, far from any other broadcast."""
    rows = np.arange(nodes)
    script = Script((rows + 1) * every_ps, rows.astype(np.int32), np.full(nodes, 100, np.int32))
    return Workload(nodes, script=script)


class Log:
    """All that the nodes of a run saw."""

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


def run(
    net: MobileNetwork, duration_s: float, node: type[Probe] = Probe, seed: int = 1, cap: int = 0
) -> tuple[Log, Outcome]:
    log = Log()
    probe = type("Logged", (node,), {"log": log})
    spec = RunSpec("test", {}, seed, net, reaction_ps=MS, duration_ps=int(duration_s * S), cap=cap)
    return log, run_protocol(ENGINE, spec, PerNode(lambda _: probe()), [])


def distance_mm(a: tuple[int, int], b: tuple[int, int]) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


def positions(log: Log) -> list[tuple[int, int]]:
    """Of all nodes, at the start."""
    return [*STATIONS, *(log.places[n][0][2:] for n in sorted(log.places))]


needs_ns3 = [pytest.mark.ns3, pytest.mark.skipif(ENGINE.missing() is not None, reason=str(ENGINE.missing()))]
