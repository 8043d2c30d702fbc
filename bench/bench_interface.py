"""Measure the cost of optional services of nodes: ratios of processor time of variants that take turns in one run.

- conveniences: `PerNode` compared with one without requests, `after` and `every`. No node uses these services, so the
  ratio is the cost for nodes that do not use them.
- log off: nodes that write to the log in each handler while it is off, compared with nodes that do not.
- by type: `@handles` compared with an `on_packet` that compares the types itself.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from causeway import EVERYONE, AbstractNetwork, Node, PerNode, constant_delay, handles, ms, poisson
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.errors import RunError
from causeway.pycontrol.confined import acting
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import ARRIVAL, TIMER

NODES, MESSAGES, TURNS = 50, 400, 15
Row = tuple[int, int, int, int, int]


class Plain(Node):
    """Delivers each packet that arrives, and sets a timer again at each arrival."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.send(EVERYONE, self.new_message(), 100)

    def on_packet(self, message: int, sender: int, interface: int) -> None:
        self.deliver(message)
        if not self.has_timer("beat"):
            self.set_timer("beat", ms(5))

    def on_timer(self, key: Hashable) -> None:
        pass


class Logs(Plain):
    def on_packet(self, message: int, sender: int, interface: int) -> None:
        self.log.debug("hears of %d", message)
        super().on_packet(message, sender, interface)


class CallsSuper(Plain):
    def on_packet(self, message: int, sender: int, interface: int) -> None:
        super().on_packet(message, sender, interface)


class Beat(NamedTuple):
    message: int


class News(NamedTuple):
    message: int


class ByType(Node):
    def on_broadcast(self, number: int, size_bytes: int) -> None:
        kind = News if number % 2 else Beat
        self.send(EVERYONE, kind(self.new_message()), 100)

    @handles(Beat)
    def on_beat(self, beat: Beat, sender: int) -> None:
        self.deliver(beat.message)

    @handles(News)
    def on_news(self, news: News, sender: int) -> None:
        self.deliver(news.message)


class ByHand(Node):
    def on_broadcast(self, number: int, size_bytes: int) -> None:
        kind = News if number % 2 else Beat
        self.send(EVERYONE, kind(self.new_message()), 100)

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        if isinstance(content, Beat):
            self.on_beat(content, sender)
        elif isinstance(content, News):
            self.on_news(content, sender)

    def on_beat(self, beat: Beat, sender: int) -> None:
        self.deliver(beat.message)

    def on_news(self, news: News, sender: int) -> None:
        self.deliver(news.message)


class Bare(PerNode):
    """`PerNode` without requests, `after` and `every`: `_handle` does not distinguish them from plain contents."""

    def _handle(self, rows: Any) -> None:
        arrived, nodes = self._kept.arrived, self.nodes
        acting.host = self.actor
        try:
            for kind, time_ps, node, ref, arg in rows:
                self.now_ps = time_ps
                self.acting = handler = nodes[node]
                if kind != ARRIVAL:
                    self._handle_other(kind, node, ref, arg)
                elif (packet := arrived(ref, node, time_ps)) is not None:
                    content, sender, _, topic, peer, _ = packet
                    if peer != node and peer >= 0:
                        raise RunError(f"packet {ref} is for node {peer}")
                    self._topic = topic
                    handler.on_packet(content, sender, arg)
                    self._topic = 0
        finally:
            acting.host = None

    def _handle_other(self, kind: int, node: int, ref: int, arg: int) -> None:
        if kind != TIMER:
            super()._handle_other(kind, node, ref, arg)
        elif (due := self._due.pop(ref, None)) is not None:
            if due[0] != node:
                raise RunError(f"timer {ref} belongs to node {due[0]}")
            del self.timers[due]
            self._key = due[1]
            self.nodes[node].on_timer(due[1])


def run() -> dict[str, float]:
    """Measure the ratios. Each is the median over turns."""
    return {
        "conveniences, unused / without": _ratio(lambda: PerNode(Plain), lambda: Bare(Plain)),
        "log off / without": _ratio(lambda: PerNode(Logs), lambda: PerNode(CallsSuper)),
        "by type / by hand": _ratio(lambda: PerNode(ByType), lambda: PerNode(ByHand)),
    }


def _ratio(one: Callable[[], PerNode], other: Callable[[], PerNode]) -> float:
    _cost(one()), _cost(other())  # compiles the kernels, and warms up
    ratios = []
    for turn in range(TURNS):
        if turn % 2:
            first, second = _cost(one()), _cost(other())
        else:
            second, first = _cost(other()), _cost(one())
        ratios.append(first / second)
    return statistics.median(ratios)


def _cost(protocol: PerNode) -> float:
    network = AbstractNetwork(NODES, delay=constant_delay(1), workload=poisson(1000, messages=MESSAGES))
    spec = RunSpec("bench", {}, 1, network, ms(1))
    began = time.process_time()
    run_protocol(InlineEngine(), spec, protocol, [])
    return time.process_time() - began
