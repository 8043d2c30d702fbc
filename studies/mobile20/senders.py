"""The broadcasts of the hosts: at random times, or in turns."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from causeway.network.random import STREAM_PROTOCOL, draw_unit
from causeway.network.workload import Script, Segment, Workload

STREAM_JITTER = STREAM_PROTOCOL + 9
JITTER_PS = NormalDist(0, 10 * 10**9)
"""The deviation of a broadcast from its host's turn in the authors' later program: 10 ms."""


def poisson(first_host: int, hosts: int, rate: float, size_bytes: int, from_ps: int, to_ps: int) -> Workload:
    """Return a workload of broadcasts by random hosts at random times."""
    segments = (Segment(0, 0.0), Segment(from_ps, rate), Segment(to_ps, 0.0))
    return Workload(nodes=hosts, first_node=first_host, size_bytes=size_bytes, segments=segments)


def in_turn(first_host: int, hosts: int, rate: float, size_bytes: int, from_ps: int, to_ps: int, seed: int) -> Workload:
    """Return a workload in which hosts take turns.

    Each host broadcasts once in hosts / rate seconds, and the next host 1 / rate seconds later. A normal jitter is
    added.
    """
    turn_ps = 10**12 / rate
    turns = np.arange(int((to_ps - from_ps) / turn_ps))
    draws = [draw_unit(seed, STREAM_JITTER, int(turn) % hosts, int(turn) // hosts) for turn in turns]
    jitter_ps = [JITTER_PS.inv_cdf(min(max(u, 1e-9), 1 - 1e-9)) for u in draws]
    time_ps = np.maximum(from_ps, np.rint(from_ps + (turns + 0.5) * turn_ps + jitter_ps).astype(np.int64))
    order = np.argsort(time_ps, kind="stable")
    node = (first_host + turns % hosts).astype(np.int32)
    sizes = np.full(len(turns), size_bytes, np.int32)
    return Workload(nodes=hosts, first_node=first_host, script=Script(time_ps[order], node[order], sizes))
