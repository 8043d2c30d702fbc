"""A run over a simulated day takes no more memory than one over some hours."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.repeated import NEVER_AGAIN

S = 10**12
HOUR = 3600 * S
NODES = 4
MOST_MORE = 64 * 1024
"""Bytes; one object kept for each of the messages of the hours in between would be ten times that."""


class Flooding(Node):
    """Uses everything that is kept in memory: packets to all and to one, some of them lost, and reset timers."""

    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)
        self.set_timer("idle", 60 * S)

    def on_packet(self, content, sender, interface):
        if isinstance(content, int):
            self.deliver(content)
            self.send(sender, ("thanks", content), 10)

    def on_timer(self, key):
        self.set_timer(key, 60 * S)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_the_memory_of_a_run_over_a_day_is_flat(loss: float) -> None:
    used: list[int] = []

    def look(node: Node) -> int | None:
        if node.now_ps > 24 * HOUR:
            node.stop()
            return NEVER_AGAIN
        gc.collect()
        used.append(tracemalloc.get_traced_memory()[0])
        return None

    protocol = PerNode(lambda _: Flooding(), NODES - 1)
    protocol.every(HOUR, look)
    network = AbstractNetwork(
        NODES, delay=normal_delay(100, 20), workload=Workload(NODES, segments=(Segment(0, 0.2),)), loss=loss
    )
    spec = RunSpec("test", {}, 1, network, 10**9, duration_ps=25 * HOUR)
    tracemalloc.start()
    try:
        outcome = run_protocol(InlineEngine(), spec, protocol, [] if loss else [CausalityChecker(NODES)])
    finally:
        tracemalloc.stop()
    assert len(used) >= 23
    assert outcome.events > 100_000, "or there was nothing to keep"
    assert used[-1] - used[3] < MOST_MORE, [at // 1024 for at in used]
