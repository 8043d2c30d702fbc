"""The failure detectors of `vcube/detector.py` as arrays. Detector i is node i + processes.

Tests and awaited replies are stored by place: the place of j at i is i xor j. Places are in the order of the clusters
and of the processes in them.
"""

from __future__ import annotations

import numpy as np

from causeway.pycontrol.protocols.ladc18.bundles import cancel_timer, carry, ff_neighbor, send_packet, set_timer
from causeway.pycontrol.protocols.ladc18.state import NEVER, NONE
from causeway.pycontrol.protocols.ladc18.tasks import on_crash
from causeway.pycontrol.protocols.vcube.detector import TEST_BYTES
from causeway.pycontrol.state_arrays import compiled
from causeway.pycontrol.tape import Here

TEST = -1
"""The content of a test. A reply carries the number of crashes that its sender knows, since their list only grows."""
NOT_TESTED, TESTED, REPLIED = 0, 1, 2


@compiled
def _tests(s, i, place):
    """Return whether i tests the process at this place: i is the first correct one in its cluster there."""
    top = 1
    while 2 * top <= place:
        top *= 2
    offset = place ^ top
    if not s.correct[i, i ^ place] or (offset > 0 and s.correct[i, i ^ offset]):
        return False
    cluster = 1
    while (1 << cluster) <= top:
        cluster += 1
    return offset == 0 or ff_neighbor(s, i, i ^ place, cluster) == i


@compiled
def _detector(c, here):
    """Return the node of the detector of process `here.node`."""
    return Here(c.processes + here.node, here.now_ps)


@compiled
def begin_round(c, s, tape, here):
    """Test all processes of which this one is the first correct tester."""
    i = here.node
    for place in range(1, c.processes):
        s.tested[i, place] = NOT_TESTED
        if _tests(s, i, place):
            s.tested[i, place] = TESTED
            s.counts[0].tests += 1
            carry(s, TEST)
            send_packet(c, s, tape, _detector(c, here), c.processes + (i ^ place), TEST_BYTES)
    s.awaited[i] = 1
    _await_next(c, s, tape, here)


@compiled
def _await_next(c, s, tape, here):
    """Wait for the next missing reply or, if none is missing, for the next round."""
    i = here.node
    place = s.awaited[i]
    while place < c.processes and s.tested[i, place] != TESTED:
        place += 1
    s.awaited[i] = place
    if s.timer[i] >= 0:
        cancel_timer(c, tape, _detector(c, here), s.timer[i])
    s.limit_ps[i] = here.now_ps + c.timeout_ps if place < c.processes else NEVER
    wait_ps = c.timeout_ps if place < c.processes else c.interval_ps
    s.timer[i] = set_timer(c, s, tape, _detector(c, here), wait_ps - c.reaction_ps)


@compiled
def news_in(s, i, packet):
    """Return the number of crashes in a packet that detector i does not know."""
    count, j = 0, s.sender[packet] - len(s.known)
    for at in range(s.carried[s.end[packet]]):
        count += s.correct[i, s.learned[j, at]]
    return count


@compiled
def _learn(c, s, tape, here, j):
    """Notify the process of a crash of j."""
    i = here.node
    s.learned[i, s.known[i]] = j
    s.known[i] += 1
    on_crash(c, s, tape, here, j)


@compiled
def on_packet(c, s, tape, here, packet):
    """Reply to a test, or process a reply with the crashes that it carries."""
    i = here.node
    j, content = np.int64(s.sender[packet]) - c.processes, s.carried[s.end[packet]]
    if content == TEST:
        carry(s, s.known[i])
        send_packet(c, s, tape, _detector(c, here), c.processes + j, TEST_BYTES)
        return
    for _ in range(news_in(s, i, packet)):  # the smallest first
        k = c.processes
        for at in range(content):
            if s.correct[i, s.learned[j, at]]:
                k = min(k, np.int64(s.learned[j, at]))
        _learn(c, s, tape, here, k)
    if s.tested[i, i ^ j] == TESTED:
        s.tested[i, i ^ j] = REPLIED
        if s.awaited[i] == i ^ j:
            _await_next(c, s, tape, here)


@compiled
def time_out(c, s, tape, here):
    """Regard the process whose reply is awaited as crashed."""
    i = here.node
    place = s.awaited[i]
    s.tested[i, place] = NOT_TESTED
    if s.correct[i, i ^ place]:
        _learn(c, s, tape, here, i ^ place)
    _await_next(c, s, tape, here)


@compiled
def on_timer(c, s, tape, here, timer):
    """End the time limit of a reply, or begin a round."""
    i = here.node
    if timer != s.timer[i]:
        return  # the timer was cancelled while its event was on its way
    s.timer[i] = NONE
    if s.awaited[i] < c.processes:
        time_out(c, s, tape, here)
    elif s.counts[0].unfinished > 0 or here.now_ps < c.test_until_ps:  # a broadcast is incomplete
        begin_round(c, s, tape, here)
