"""ladc18 event by event: who handles which, and whether there is room for what that does."""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.arrays import compiled
from causeway.pycontrol.protocols.ladc18 import detectors
from causeway.pycontrol.protocols.ladc18 import tasks as process
from causeway.pycontrol.protocols.ladc18.state import ACKS, BUNDLES, CARRIED, ITEMS, MESSAGES, NEED, PACKETS

MOST_ACTIONS = 5
"""Of one message that goes to a neighbor: its bundle is full and is sent, another one begun, and that is full, too."""

_process_packet, _process_timer = process.on_packet, process.on_timer
_detector_packet, _detector_timer, _news_in = detectors.on_packet, detectors.on_timer, detectors.news_in
_time_out = detectors.time_out
_begin_round, _broadcast, _down = detectors.begin_round, process.on_broadcast, process.on_down


@compiled
def start(c, s, out):
    """The detectors begin. There must be room."""
    for i in range(c.processes):
        _begin_round(c, s, out, i, 0)


@compiled
def _has_room(s, out, need):
    count, rows = s.counts, out.rows
    return (
        max(rows[0], rows[1], rows[2]) + need <= len(out.kind)
        and count[PACKETS] + need < len(s.end)
        and count[PACKETS] + need <= len(s.sender)
        and count[CARRIED] + count[ITEMS] + need <= len(s.carried)
        and count[ACKS] + need <= len(s.ack)
        and count[BUNDLES] + need <= len(s.bundle)
        and count[ITEMS] + need <= len(s.item)
    )


@compiled
def _most_messages(c, s, is_arrival, node, packet):
    """How many messages to neighbors one event can cause at most."""
    if node < c.processes:
        items = s.end[packet + 1] - s.end[packet] if is_arrival else 1
        return items * (c.height + 1) + (4 * s.owed[node] if is_arrival else 0)
    i = node - c.processes
    crashes = _news_in(s, i, packet) if is_arrival else 1
    return 2 * s.owed[i] * crashes


@compiled
def handle(c, s, out, start, kind, time, node, ref, kinds):
    """Handles events from `start` on while there is room for what one event can give; how many it has handled."""
    arrival, timer, broadcast, up_or_down = kinds
    for e in range(start, len(kind)):
        v, now_ps, packet = np.int64(node[e]), time[e], ref[e]
        is_arrival = kind[e] == arrival
        most = _most_messages(c, s, is_arrival, v, packet)
        need = MOST_ACTIONS * most + 2 * s.counts[BUNDLES] + c.processes + 8
        if not _has_room(s, out, need) or (kind[e] == broadcast and s.counts[MESSAGES] == len(s.source)):
            s.counts[NEED] = need
            return e
        if is_arrival:
            if v < c.processes:
                if s.limit_ps[v] <= now_ps:  # a time limit that is up comes before a packet of the same instant
                    _time_out(c, s, out, v, now_ps)
                _process_packet(c, s, out, v, packet, now_ps)
            else:
                _detector_packet(c, s, out, v - c.processes, packet, now_ps)
        elif kind[e] == timer:
            if v < c.processes:
                _process_timer(c, s, out, v, ref[e], now_ps)
            else:
                _detector_timer(c, s, out, v - c.processes, ref[e], now_ps)
        elif kind[e] == broadcast:
            _broadcast(c, s, out, v, now_ps)
        elif kind[e] == up_or_down and v < c.processes:
            _down(s, out, v, now_ps)
    return len(kind)
