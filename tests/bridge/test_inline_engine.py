"""The inline engine follows the rules of the abstract network, whatever the workload and the window cap."""

from __future__ import annotations

import math
import time
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.engines import inline
from causeway.bridge.engines.inline import InlineEngine
from causeway.bridge.events import Kind, sends
from causeway.errors import RunError, UserError
from causeway.network.faults import LinkFailure, Partition
from causeway.network.links import Links
from causeway.network.networks import AbstractNetwork, MobileNetwork, constant_delay, normal_delay, uniform_delay
from causeway.network.workload import Faults, Script, Segment, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import Context
from tests.helpers.drawn import examples
from tests.helpers.reference_engine import ReferenceEngine

MS = 10**9


class Chatter(Node):
    """Floods, answers, and sets, resets and cancels timers."""

    def on_start(self):
        self.set_timer("tick", 5 * MS * (1 + self.id))

    def on_timer(self, key):
        self.send((self.id + 1) % self.node_count, ("tick", 0), 40)
        if key == "tick":
            self.set_timer("never", 30 * MS)
            self.set_timer("tock", 3 * MS)

    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.cancel_timer("never")
        self.send(EVERYONE, ("flood", message), size_bytes)

    def on_packet(self, content, sender, interface):
        kind, message = content
        if kind == "flood":
            self.deliver(message)
            self.send(sender, ("thanks", message), 10)

    def on_up(self):
        self.set_timer("tick", MS)


DELAYS = st.sampled_from([normal_delay(10, 4), constant_delay(3), uniform_delay(0, 20), constant_delay(0)])
TIMES = st.integers(0, 200).map(lambda ms: ms * MS)


@st.composite
def troubles(draw, nodes):
    found = []
    for _ in range(draw(st.integers(0, 3))):
        from_ps = draw(TIMES)
        to_ps = from_ps + draw(st.sampled_from([1, 7 * MS, 80 * MS]))
        order = draw(st.permutations(range(nodes)))
        if draw(st.booleans()):
            found.append(LinkFailure(order[0], order[1], from_ps, to_ps))
        else:
            middle = draw(st.integers(1, nodes - 1))
            found.append(Partition(tuple(order[:middle]), tuple(order[middle : draw(st.integers(middle, nodes))]),
                                   from_ps, to_ps, one_way=draw(st.booleans())))  # fmt: skip
    return tuple(found)


@st.composite
def links(draw, nodes):
    if draw(st.booleans()):
        return None
    sites = draw(st.integers(1, nodes))

    def table(values):
        return np.array([[draw(st.sampled_from(values)) for _ in range(sites)] for _ in range(sites)])

    own = sites == nodes and draw(st.booleans())
    site = () if own else tuple(draw(st.integers(0, sites - 1)) for _ in range(nodes))
    bps = table([0, 20_000, 1_000_000]) if draw(st.booleans()) else np.zeros(())
    return Links(
        table([0.0, 2.5, 30.0, math.inf]), loss=draw(st.sampled_from([0.0, 0.2])), bps=bps,
        queue_bytes=draw(st.sampled_from([0, 150])) if bps.any() else 0, site=site,
    )  # fmt: skip


@st.composite
def specs(draw):
    nodes = draw(st.integers(2, 6))
    if draw(st.booleans()):
        rows = sorted(draw(st.lists(st.tuples(TIMES, st.integers(0, nodes - 1)), min_size=1, max_size=12)))
        script = Script(
            np.array([r[0] for r in rows]), np.array([r[1] for r in rows], np.int32), np.full(len(rows), 100, np.int32)
        )
        workload = Workload(nodes, script=script)
    else:
        rate = draw(st.sampled_from([50.0, 300.0]))
        segments = (Segment(0, rate), Segment(40 * MS, 0.0), Segment(90 * MS, 200.0, 0.8, 1))
        workload = Workload(nodes, messages=draw(st.integers(1, 20)), segments=segments, size_bytes=50)
    # one change of a node at an instant: two would have no order
    changes = draw(st.dictionaries(st.tuples(TIMES, st.integers(0, nodes - 1)), st.integers(0, 1), max_size=6))
    rows = [(time_ps, node, up) for (time_ps, node), up in sorted(changes.items())]
    faults = Faults(*(np.array([r[i] for r in rows], t) for i, t in enumerate((np.int64, np.int32, np.uint8))))
    network = AbstractNetwork(
        nodes, delay=draw(DELAYS), workload=workload, loss=draw(st.sampled_from([0.0, 0.3])), faults=faults,
        send_ps=draw(st.sampled_from([0, MS // 10])), send_ps_per_byte=draw(st.sampled_from([0, 1000])),
        recv_ps=draw(st.sampled_from([0, MS // 10, 2 * MS])), network_faults=draw(troubles(nodes)),
        links=draw(links(nodes)),
    )  # fmt: skip
    duration_ps = draw(st.sampled_from([0, 150 * MS]))
    return RunSpec("test", {}, draw(st.integers(0, 2**40)), network, MS // draw(st.sampled_from([1, 4])), duration_ps)


def seen_inline(spec: RunSpec, cap: int) -> list[tuple[int, int, int, int, int]]:
    """Return all events of a run, in the order in which the controller gets them."""
    spec = RunSpec(**{**vars(spec), "cap": cap})
    protocol = PerNode(Chatter, spec.network.nodes - 1)
    session = InlineEngine().open(spec)
    protocol.start(Context(spec.network.nodes, spec.seed, spec.reaction_ps))
    seen = []
    while not isinstance(window := session.next(), Finish):
        columns = (window.time_ps, window.kind, window.node, window.ref, window.arg)
        seen += list(zip(*(c.tolist() for c in columns), strict=True))
        assert not len(window) or window.end_ps > window.time_ps[-1]
        actions = protocol.on_window(window)
        if window.reply:
            session.answer(actions)
    return seen


@settings(max_examples=examples(150))
@given(specs(), st.sampled_from([0, 1, 3]), st.sampled_from([(inline.SLOTS, inline.TURNS), (8, 4), (2, 1)]))
def test_inline_shows_the_same_events_as_the_plain_reference(spec, cap, wheel):
    """Wheels of all sizes are tested, since most runs end before a large one has turned."""
    protocol = PerNode(Chatter, spec.network.nodes - 1)
    protocol.start(Context(spec.network.nodes, spec.seed, spec.reaction_ps))
    with mock.patch.multiple(inline, SLOTS=wheel[0], TURNS=wheel[1]):
        assert seen_inline(spec, cap) == ReferenceEngine(spec).run(protocol)


def touched_per_event(messages: int) -> float:
    """Count how often the wheel takes an event out of a chain if all messages are in flight for a second."""
    script = Script(np.arange(messages) * (MS // 100), np.zeros(messages, np.int32), np.full(messages, 9, np.int32))
    network = AbstractNetwork(
        2, delay=uniform_delay(1000, 1100), workload=Workload(2, script=script), recv_ps=MS // 1000
    )
    session = inline.InlineSession(RunSpec("far", {}, 1, network, MS), network)
    packets = 0
    while not isinstance(window := session.next(), Finish):
        sent = window.time_ps[window.kind == int(Kind.BROADCAST)]
        rows = len(sent)
        ids = np.arange(packets, packets + rows)
        node = np.zeros(rows, np.int32)
        session.answer(sends(sent + MS, node, ids, node + 1, node))
        packets += rows
    assert packets == messages
    return float(session._at["touched"][0] / session._at["events"][0])


def test_the_work_for_an_event_does_not_grow_with_the_number_in_flight(monkeypatch):
    """While a copy is in flight the wheel turns thirty times, and touches it twice: for its turn and for its slot."""
    few, many = touched_per_event(100), touched_per_event(10_000)
    assert few <= 2
    assert many <= 2
    monkeypatch.setattr(inline, "TURNS", 1)  # all turns in one chain, through which each of them goes
    assert touched_per_event(10_000) > 5


@pytest.mark.parametrize("delay", [constant_delay(3), uniform_delay(2, 4)])
def test_hundreds_of_events_in_one_slot_keep_the_canonical_order(delay):
    """This many events at one instant are merged, not inserted."""
    nodes, rows = 30, 25
    script = Script(np.full(rows, MS), np.arange(rows, dtype=np.int32), np.full(rows, 100, np.int32))
    spec = RunSpec(
        "test", {}, 1, AbstractNetwork(nodes, delay=delay, workload=Workload(nodes, script=script)), MS, 20 * MS
    )
    protocol = PerNode(Chatter, nodes - 1)
    protocol.start(Context(nodes, spec.seed, spec.reaction_ps))
    seen = seen_inline(spec, 0)
    assert len(seen) > rows * (nodes - 1)
    assert seen == ReferenceEngine(spec).run(protocol)


def test_of_thousands_of_timers_all_fall_due_except_the_cancelled_ones():
    """Set and cancelled a few at a time, so that the table of the cancelled grows again and again."""
    rounds, at_once, fired = 100, 30, []
    cancelled = {i for i in range(rounds * at_once) if i * i % 7 in (1, 4)}

    class Alarm(Node):
        def on_start(self):
            self.round = 0
            self.set_timer("round", MS)

        def on_timer(self, key):
            if key != "round":
                fired.append(key)
                return
            first = self.round * at_once
            for i in range(first, first + at_once):
                self.set_timer(i, 1000 * MS + i % 7)
            for i in cancelled.intersection(range(first - at_once, first)):
                self.cancel_timer(i)
            self.round += 1
            if self.round <= rounds:
                self.set_timer("round", MS)

    network = AbstractNetwork(1, delay=constant_delay(1), workload=Workload(1))
    outcome = run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS), PerNode(Alarm, 0), [])
    assert outcome.events == len(fired) + rounds + 1  # no timer that `PerNode` dropped was reported
    assert len(fired) == len(set(fired))
    assert set(fired) == set(range((rounds + 1) * at_once)) - cancelled


def flood(seed=1, cap=0, **network):
    net = AbstractNetwork(
        20, delay=normal_delay(100, 20), workload=Workload(20, messages=300, segments=(Segment(0, 100.0),)), **network
    )
    spec = RunSpec("flood", {}, seed, net, MS, cap=cap)
    return run_protocol(InlineEngine(), spec, PerNode(Chatter, 19), [])


def test_the_digest_depends_on_the_seed_and_not_on_the_cap():
    first = flood()
    assert first.digest == flood(cap=1).digest == flood(cap=16).digest
    assert first.digest != flood(seed=2).digest
    assert flood(cap=1).windows > first.windows


def test_a_receivers_cpu_serves_ties_in_order_of_packets():
    script = Script(np.zeros(3, np.int64), np.array([2, 1, 0], np.int32), np.zeros(3, np.int32))
    net = AbstractNetwork(4, delay=constant_delay(1), workload=Workload(4, script=script), recv_ps=MS)
    spec = RunSpec("ties", {}, 1, net, MS, duration_ps=5 * MS - 1)
    at_3 = [(t, ref) for t, kind, node, ref, _ in seen_inline(spec, 0) if kind == Kind.ARRIVAL and node == 3]
    assert at_3 == [(3 * MS, 0), (4 * MS, 1)]  # sent at 1 ms, there at 2 ms, served for 1 ms each


def test_lost_copies_are_reported_at_about_the_requested_rate():
    net = AbstractNetwork(
        50, delay=constant_delay(1), workload=Workload(50, messages=200, segments=(Segment(0, 100.0),)), loss=0.25
    )
    spec = RunSpec("loss", {}, 1, net, MS, passive_kinds=0)
    kinds = [event[1] for event in seen_inline(spec, 0)]
    share = kinds.count(Kind.LOST) / (kinds.count(Kind.LOST) + kinds.count(Kind.ARRIVAL))
    assert 0.22 < share < 0.28  # 18,000 copies: 8 standard deviations


def test_a_study_that_needs_a_radio_is_refused_in_words():
    spec = RunSpec("x", {}, 1, MobileNetwork(station_xy_mm=((0, 0),), wires=(), hosts=1, workload=Workload(1)), MS)
    with pytest.raises(UserError, match="packet-level engine"):
        InlineEngine().open(spec)


def test_an_action_before_the_end_of_its_window_is_refused():
    class TooSoon(PerNode):
        def on_window(self, window):
            self.context.reaction_ps = 0
            return super().on_window(window)

    net = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3, messages=5, segments=(Segment(0, 100.0),)))
    with pytest.raises(RunError, match="before the end of its window"):
        run_protocol(InlineEngine(), RunSpec("soon", {}, 1, net, MS), TooSoon(Chatter, 2), [])


def test_sixty_thousand_sends_at_one_instant_do_not_take_quadratic_time():
    """With a delay far below the width of a slot, all events that the sends cause are in the current slot."""

    class Burst(Node):
        def on_broadcast(self, number, size_bytes):
            for i in range(60_000):
                self.send(1, i, 1)

        def on_packet(self, content, sender, interface):
            arrived.append(content)

    arrived: list[int] = []
    script = Script(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32))
    net = AbstractNetwork(2, delay=constant_delay(0.0001), workload=Workload(2, script=script), send_ps=1000)
    began = time.process_time()
    run_protocol(InlineEngine(), RunSpec("burst", {}, 1, net, MS), PerNode(lambda _: Burst(), 1), [])
    assert arrived == list(range(60_000))
    assert time.process_time() - began < 60  # 25 minutes before; a few seconds now, compilation left out
