"""Measure the inline engine with many copies in flight: processor time per event, and its growth."""

from __future__ import annotations

import time

import numpy as np

from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.bridge.events import Kind, no_actions, sends
from causeway.network.networks import AbstractNetwork, normal_delay
from causeway.network.workload import Segment, Workload

NODES, RATE, MS = 1001, 100.0, 10**9
DELAYS_S = (1, 5, 10, 20)
"""Delays; each second of delay means 100,000 copies in flight."""


def run() -> dict[str, object]:
    """The figures. Those of the largest beside those of the smallest say what the number in flight costs."""
    _ns_per_event(1, 1)  # compiles
    figures: dict[str, object] = {}
    for delay_s in DELAYS_S:
        figures[f"{delay_s * RATE * (NODES - 1):,.0f} in flight: ns/event"] = _ns_per_event(delay_s, 2 * delay_s)
    most, least = (figures[f"{delay_s * RATE * (NODES - 1):,.0f} in flight: ns/event"] for delay_s in DELAYS_S[::-3])
    return figures | {"most / least": float(str(most)) / float(str(least))}


def _ns_per_event(delay_s: int, duration_s: int) -> float:
    """Broadcasts for so long, whose senders do nothing else."""
    workload = Workload(NODES, messages=int(RATE * duration_s), segments=(Segment(0, RATE),))
    network = AbstractNetwork(NODES, delay=normal_delay(1000 * delay_s, 100 * delay_s), workload=workload)
    session = InlineEngine().open(RunSpec("bench", {}, 1, network, MS, passive_kinds=1 << Kind.ARRIVAL))
    began, packets, events = time.process_time(), 0, 0
    while not isinstance(window := session.next(), Finish):
        events += len(window)
        requested = window.kind == int(Kind.BROADCAST)
        rows = int(requested.sum())
        ids, all_ = np.arange(packets, packets + rows), np.full(rows, -1, np.int32)
        if window.reply:
            actions = sends(window.time_ps[requested] + MS, window.node[requested], ids, all_, all_ + 101)
            session.answer(actions if rows else no_actions())
            packets += rows
    return (time.process_time() - began) / events * 1e9
