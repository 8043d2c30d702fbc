"""Dispatch the events of ladc18 to processes and detectors, and check that there is room for their effects."""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocols.ladc18 import detectors
from causeway.pycontrol.protocols.ladc18 import tasks as process
from causeway.pycontrol.state_arrays import compiled
from causeway.pycontrol.tape import K_ARRIVAL, K_BROADCAST, K_NODE, K_TIMER, Here

MOST_ACTIONS = 5
"""The maximum number of actions for one message to a neighbor: a full bundle is sent, and a second one is begun, filled
and sent."""

_process_packet, _process_timer = process.on_packet, process.on_timer
_detector_packet, _detector_timer, _news_in = detectors.on_packet, detectors.on_timer, detectors.news_in
_time_out = detectors.time_out
_begin_round, _broadcast, _down = detectors.begin_round, process.on_broadcast, process.on_down


@compiled
def start(c, s, tape):
    """Begin the first round of all detectors. There must be room."""
    for i in range(c.processes):
        _begin_round(c, s, tape, Here(i, 0))


@compiled
def _has_room(s, tape, need):
    count = s.counts[0]
    return (
        max(tape.rows[0].acts, tape.rows[0].reported) + need <= min(len(tape.kind), len(tape.op))
        and count.samples + need <= len(s.samples)
        and count.sent + need < len(s.end)
        and count.sent + need <= len(s.sender)
        and count.carried + s.items.use[0].used + need <= len(s.carried)
        and s.acks.use[0].used + need <= len(s.acks.rows)
        and s.bundles.use[0].used + need <= len(s.bundles.rows)
        and s.items.use[0].used + need <= len(s.items.rows)
    )


@compiled
def _most_messages(c, s, is_arrival, node, packet):
    """Return the maximum number of messages to neighbors that one event can cause."""
    if node < c.processes:
        items = s.end[packet + 1] - s.end[packet] if is_arrival else 1
        return items * (c.height + 1) + (4 * s.owed[node] if is_arrival else 0)
    i = node - c.processes
    crashes = _news_in(s, i, packet) if is_arrival else 1
    return 2 * s.owed[i] * crashes


@compiled
def handle(c, s, tape, events, start):
    """Handle events from `start` on while there is room for one more. Return the row of the first event not handled."""
    for e in range(start, len(events.kind)):
        kind, ref = events.kind[e], events.ref[e]
        here = Here(np.int64(events.node[e]), events.time_ps[e])
        most = _most_messages(c, s, kind == K_ARRIVAL, here.node, ref)
        need = MOST_ACTIONS * most + 2 * s.bundles.use[0].used + c.processes + 8
        if not _has_room(s, tape, need) or (kind == K_BROADCAST and s.counts[0].messages == len(s.source)):
            s.counts[0].need = need
            return e
        if here.node >= c.processes:
            detector = Here(here.node - c.processes, here.now_ps)
            if kind == K_ARRIVAL:
                _detector_packet(c, s, tape, detector, ref)
            elif kind == K_TIMER:
                _detector_timer(c, s, tape, detector, ref)
        elif kind == K_ARRIVAL:
            if s.limit_ps[here.node] <= here.now_ps:  # time limits come before packets of the same instant
                _time_out(c, s, tape, here)
            _process_packet(c, s, tape, here, ref)
        elif kind == K_TIMER:
            _process_timer(c, s, tape, here, ref)
        elif kind == K_BROADCAST:
            _broadcast(c, s, tape, here)
        elif kind == K_NODE:
            _down(s, tape, here)
    return len(events.kind)
