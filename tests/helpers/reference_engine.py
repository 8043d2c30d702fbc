"""A second, plain implementation of the abstract network: a heap of events, without arrays and windows.

It is the judge of the inline engine: same rules (network/networks.py), written independently.
"""

from __future__ import annotations

import heapq

import numpy as np

from causeway.bridge.engine import RunSpec
from causeway.bridge.events import Act, Kind, Window
from causeway.network.faults import LinkFailure
from causeway.network.links import STREAM_LINKS
from causeway.network.networks import AbstractNetwork
from causeway.network.random import STREAM_DELAY, STREAM_LOSS, draw_ps, draw_unit
from causeway.network.workload import NEVER, WorkloadTables, next_broadcast

SEND, LEAVE, REACH = 6, 7, 8


class ReferenceEngine:
    """Runs a protocol event by event: each event is a window of its own."""

    def __init__(self, spec: RunSpec) -> None:
        assert isinstance(spec.network, AbstractNetwork)
        self.spec, self.net = spec, spec.network
        self.heap: list[tuple] = []
        self.send_free = [0] * self.net.nodes
        self.recv_free = [0] * self.net.nodes
        self.down = [False] * self.net.nodes
        self.failures = [0] * self.net.nodes
        self.cancelled: dict[int, int] = {}
        self.link_free: dict[tuple[int, int], int] = {}
        self.log: list[tuple[int, int, int, int, int]] = []

    def put(self, time_ps, kind, node, ref, arg=0, extra=None):
        heapq.heappush(self.heap, (int(time_ps), int(kind), int(node), int(ref), int(arg), extra))

    def run(self, protocol) -> list[tuple[int, int, int, int, int]]:
        """Return the events that the controller got: (time, kind, node, ref, arg)."""
        for time_ps, node, number, size in self.broadcasts():
            self.put(time_ps, Kind.BROADCAST, node, number, size)
        faults = self.net.faults
        for time_ps, node, up in zip(faults.time_ps, faults.node, faults.up, strict=True):
            self.put(time_ps, Kind.NODE, node, 0, up)
        self.act(protocol.on_window(self.window([])))
        while self.heap:
            event = heapq.heappop(self.heap)
            if event[0] >= (self.spec.duration_ps or NEVER):
                break
            if event[1] >= SEND:
                self.internal(*event)
            elif self.visible(*event):
                self.log.append(event[:5])
                self.act(protocol.on_window(self.window([event[:5]])))
        return self.log

    def window(self, rows) -> Window:
        columns = list(zip(*rows, strict=True)) or [[]] * 5
        time_ps, kind, node, ref, arg = columns
        return Window(
            0, 0, True, np.array(kind, np.uint8), np.array(time_ps, np.int64), np.array(node, np.int32),
            np.array(ref, np.int64), np.array(arg, np.int32),
        )  # fmt: skip

    def broadcasts(self):
        workload, number, time_ps = self.net.workload, 0, 0
        if workload.script is not None:
            script = workload.script
            yield from (
                (t, n, i, s)
                for i, (t, n, s) in enumerate(zip(script.time_ps, script.node, script.size_bytes, strict=True))
            )
            return
        t = WorkloadTables.of(workload)
        while number < workload.messages:
            time_ps, node = next_broadcast(t, self.spec.seed, number, time_ps)
            if time_ps == NEVER:
                return
            yield time_ps, node, number, workload.size_bytes
            number += 1

    def act(self, actions):
        for i in range(len(actions)):
            time_ps, node, ref = int(actions.time_ps[i]), int(actions.node[i]), int(actions.ref[i])
            peer = int(actions.peer[i])
            if actions.kind[i] == Act.SEND:
                self.put(time_ps, SEND, node, ref, actions.interface[i], (peer, int(actions.size_bytes[i])))
            elif actions.kind[i] == Act.SET_TIMER:
                self.put(time_ps, Kind.TIMER, node, ref)
            elif actions.kind[i] == Act.CANCEL_TIMER:
                self.cancelled[ref] = time_ps
            elif actions.kind[i] == Act.NODE:
                self.put(time_ps, Kind.NODE, node, 0, peer)

    def visible(self, time_ps, kind, node, ref, arg, _extra) -> bool:
        if kind == Kind.NODE:
            changes = self.down[node] == bool(arg)
            self.down[node] = not arg
            self.failures[node] += changes and not arg
            return changes
        if self.down[node]:
            return False
        return not (kind == Kind.TIMER and ref in self.cancelled and time_ps >= self.cancelled[ref])

    def internal(self, time_ps, kind, node, ref, arg, extra):
        if kind == SEND and not self.down[node]:
            peer, size = extra
            leave = max(time_ps, self.send_free[node]) + self.net.send_ps + self.net.send_ps_per_byte * size
            self.send_free[node] = leave
            self.put(leave, LEAVE, node, ref, arg, (peer, self.failures[node], size))
        elif kind == LEAVE and extra[1] == self.failures[node]:
            everyone = [r for r in range(self.net.nodes) if r != node]
            for receiver in everyone if extra[0] < 0 else [extra[0]]:
                self.copy(time_ps, node, receiver, ref, arg, extra[2], to_all=extra[0] < 0)
        elif kind == REACH:
            done = max(time_ps, self.recv_free[node]) + self.net.recv_ps
            self.recv_free[node] = done
            self.put(done, Kind.ARRIVAL, node, ref, arg)

    def is_link_down(self, time_ps, a, b) -> bool:
        for one in self.net.network_faults:
            sides = ({one.a}, {one.b}) if isinstance(one, LinkFailure) else (set(one.one), set(one.other))
            apart = a in sides[0] and b in sides[1]
            if not getattr(one, "one_way", False):
                apart = apart or (a in sides[1] and b in sides[0])
            if apart and one.from_ps <= time_ps < one.to_ps:
                return True
        return False

    def copy(self, leave_ps, sender, receiver, packet, interface, size, to_all):
        seed, table = self.spec.seed, self.net.delay
        delay = int(draw_ps(table, seed, STREAM_DELAY, packet, receiver))
        lost = draw_unit(seed, STREAM_LOSS, packet, receiver) < self.net.loss
        if self.net.links is not None:
            on_link = self.on_link(leave_ps, sender, receiver, size)
            if on_link is None and to_all:
                return
            lost |= on_link is None or on_link[1]
            lost |= draw_unit(seed, STREAM_LINKS, packet, receiver) < self.of_link(
                self.net.links.loss, sender, receiver
            )
            delay += on_link[0] if on_link else 0
        reach = leave_ps + max(1000, delay)
        if lost or self.is_link_down(leave_ps, sender, receiver):
            self.put(reach, Kind.LOST, receiver, packet, interface)
        else:
            self.put(reach, REACH if self.net.recv_ps else Kind.ARRIVAL, receiver, packet, interface)

    def of_link(self, table, sender, receiver):
        site = self.net.links.site_of(self.net.nodes)
        shape = np.shape(self.net.links.delay_ms)
        return np.broadcast_to(np.asarray(table), shape)[site[sender], site[receiver]].item()

    def on_link(self, leave_ps, sender, receiver, size):
        """Return the time on the link, and whether its queue is full; None if there is no link."""
        links = self.net.links
        latency = self.of_link(links.delay_ms, sender, receiver)
        if latency == float("inf"):
            return None
        latency_ps = round(latency * 1e6) * 1000
        bps = self.of_link(links.bps, sender, receiver)
        if not bps:
            return latency_ps, False
        site = links.site_of(self.net.nodes)
        link = int(site[sender]), int(site[receiver])
        start = max(leave_ps, self.link_free.get(link, 0))
        if links.queue_bytes and (start - leave_ps) * bps > links.queue_bytes * 8 * 10**12:
            return latency_ps, True
        self.link_free[link] = start - (-size * 8 * 10**12 // bps)
        return self.link_free[link] - leave_ps + latency_ps, False
