"""Networks in which hosts follow traces, stand, walk and are sent, with and without stations; nodes that log places."""

from __future__ import annotations

import numpy as np

from causeway.network.movement import Trace, place_at, trace
from causeway.network.networks import MobileNetwork
from causeway.pycontrol.node import EVERYONE
from tests.helpers.wireless_probe import MS, Probe, S

ZIGZAG = trace((0, 10, 20), (2, 60, 20), (2.5, 60, 20.001), (7.3, -30, 100), (9, -30, 100), (11, 0, 0))
LATE = trace((3, 100, 0), (8, 20.5, 33.333))
EVERY = S // 10


def ad_hoc(traces: tuple[Trace | None, ...], **changes) -> MobileNetwork:
    """Return a network without stations and without a workload."""
    hosts = len(traces)
    return MobileNetwork(
        hosts=hosts, traces=traces, host_xy_mm=((5_000, 5_000),) * hosts, position_every_ps=EVERY, **changes,
    )  # fmt: skip


def off_trace(log, net: MobileNetwork, first_host: int = 0) -> list[tuple[int, int]]:
    """Return the reported places that differ, by a millimetre or more, from those of the trace."""
    wrong = []
    for node, rows in log.places.items():
        host = net.traces[node - first_host]
        if host is not None:
            wrong += [(node, t) for t, _, x, y in rows if (x, y) != place_at(np.asarray(host), t)]
    return wrong


class Sent(Probe):
    """Node 1 is sent to a place, and on its way to another one."""

    def on_start(self):
        if self.id == 1:
            self.move(50_000, 5_000, 10_000)
            self.set_timer("turn", 2 * S)

    def on_timer(self, key):
        self.move(5_000, 45_000, 20_000)


class Chatty(Probe):
    """Everybody speaks every 100 ms, one after the other."""

    def on_start(self):
        for tick in range(80):
            self.set_timer(tick, tick * 100 * MS + self.id * MS)

    def on_timer(self, key):
        self.send(EVERYONE, key, 50)


class Wired(Probe):
    """Station 0 tells its neighbours the time over the wires every 100 ms."""

    def on_start(self):
        if self.id == 0:
            for tick in range(100):
                self.set_timer(tick, tick * 100 * MS)

    def on_timer(self, key):
        for peer in (1, 2):
            self.send(peer, key, 100, 1)
