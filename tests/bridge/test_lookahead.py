"""Declared lookaheads: an engine stops less often, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from causeway.bridge import engines, framing
from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.events import FOREVER, IGNORED, Act, Actions, Lookahead, Window
from causeway.bridge.session import open_session
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, constant_delay, uniform_delay
from causeway.network.workload import Script, Segment, Workload
from causeway.proto.contract import pb
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocols.mobile import Station
from causeway.pycontrol.protocols.mobile.messages import ACKNOWLEDGEMENT
from causeway.studies.runner import Job, run_job
from tests.helpers.bridge_tools import build_cpp, small_spec
from tests.helpers.mobile_schedules import random_schedule

MS = 10**9
L_PS = 1_000_000
GAP_PS = L_PS // 2

# ---- the C++ client: packets of topic 1 come back to node 2 a microsecond after they were sent ----------------------


@pytest.fixture(scope="module")
def ticker() -> Path:
    return build_cpp("ticker")


def sends(rows: int, topic: int, lookaheads: tuple[Lookahead, ...]) -> Actions:
    zeros = np.zeros(rows, np.int32)
    return Actions(
        np.full(rows, Act.SEND, np.uint8), L_PS + GAP_PS * np.arange(rows), zeros + 2, np.arange(rows), zeros, zeros,
        np.zeros(rows, np.uint8), topic=np.full(rows, topic, np.uint8), lookaheads=lookaheads,
    )  # fmt: skip


def windows(ticker: Path, rows: int, topic: int, *lookaheads: Lookahead, **changes: Any) -> list[Window]:
    """Return the windows of a run with this many packets, half a reaction time apart."""
    session = open_session(small_spec(**{"reaction_ps": L_PS, **changes}), "ticker", [str(ticker)])
    found: list[Window] = []
    try:
        while not isinstance(event := session.next(), Finish):
            found.append(event)
            if event.reply:
                session.answer(sends(rows if event.number == 0 else 0, topic, lookaheads if event.number == 0 else ()))
    finally:
        session.close()
    return found[1:]


def refs(found: list[Window]) -> list[int]:
    return [ref for w in found for ref in w.ref.tolist()]


def test_without_a_lookahead_every_arrival_closes_its_window(ticker: Path) -> None:
    assert [(len(w), w.reply) for w in windows(ticker, 8, 1)] == [(2, True)] * 4


def test_a_window_may_stay_open_for_the_declared_lookahead(ticker: Path) -> None:
    found = windows(ticker, 12, 1, Lookahead(2, 1, 3 * L_PS))
    assert [(len(w), w.reply) for w in found] == [(6, True)] * 2
    assert found[0].end_ps == found[0].time_ps[0] + 3 * L_PS


def test_a_lookahead_shorter_than_the_reaction_time_changes_nothing(ticker: Path) -> None:
    assert [len(w) for w in windows(ticker, 8, 1, Lookahead(2, 1, L_PS // 3))] == [2] * 4


def test_arrivals_of_an_unsubscribed_topic_need_no_reply(ticker: Path) -> None:
    found = windows(ticker, 12, 1, Lookahead(2, 1, FOREVER))
    assert [(len(w), w.reply) for w in found] == [(12, False)]


def test_packets_of_an_unsubscribed_topic_are_not_passed_to_the_node(ticker: Path) -> None:
    assert windows(ticker, 12, 1, Lookahead(2, 1, IGNORED)) == []


@pytest.mark.parametrize("promise", [Lookahead(2, 2, FOREVER), Lookahead(1, 1, FOREVER), Lookahead(2, 1, 0)])
def test_a_lookahead_holds_for_its_own_node_and_topic_only(ticker: Path, promise: Lookahead) -> None:
    assert [(len(w), w.reply) for w in windows(ticker, 8, 1, promise)] == [(2, True)] * 4


def test_a_packet_whose_topic_is_forgotten_closes_its_window(ticker: Path) -> None:
    """The adapter keeps the topics of the last 4,096 packets; here all are sent before the first arrives."""
    found = windows(ticker, 4100, 1, Lookahead(2, 1, FOREVER))
    assert refs(found) == list(range(4100)), "nothing is lost"
    assert [w.reply for w in found] == [True, True, False]
    assert sum(len(w) for w in found[:2]) == 4


def test_a_cap_still_bounds_a_window(ticker: Path) -> None:
    found = windows(ticker, 12, 1, Lookahead(2, 1, FOREVER), cap=5)
    assert [(len(w), w.reply) for w in found] == [(5, False), (5, False), (2, False)]


@pytest.mark.parametrize("promise", [Lookahead(2, 16, 5), Lookahead(2, 0, 5), Lookahead(-1, 1, 5)])
def test_the_adapter_refuses_a_lookahead_about_no_node_or_topic(ticker: Path, promise: Lookahead) -> None:
    with pytest.raises(RunError, match=r"a lookahead is declared for (topic 16|topic 0|node -1); allowed: "):
        windows(ticker, 1, 1, promise)


def test_the_adapter_refuses_a_topic_beyond_15(ticker: Path) -> None:
    with pytest.raises(RunError, match="there is no topic 16; allowed: 0 to 15"):
        windows(ticker, 1, 16)


def test_lookaheads_and_topics_cross_the_wire_unchanged() -> None:
    given = sends(3, 7, (Lookahead(2, 7, FOREVER), Lookahead(0, 1, IGNORED)))
    read = framing.actions(pb.Frame.FromString(framing.encode_actions(4, given)).actions)
    assert read.lookaheads == given.lookaheads
    assert read.topic is not None and read.topic.tolist() == [7, 7, 7]


# ---- nodes -----------------------------------------------------------------------------------------------------------

SLOW, COUNT, NOISE = 1, 2, 3


class Talker(Node):
    """Declares lookaheads of every kind, and ends one now and then."""

    lookaheads = True

    def declare_lookahead(self, topic: int, lookahead_ps: int = FOREVER) -> None:
        if self.lookaheads:
            super().declare_lookahead(topic, lookahead_ps)

    def on_start(self) -> None:
        self.waiting = False
        self.declare_lookahead(SLOW, 5 * MS)
        self.declare_lookahead(COUNT)
        if self.lookaheads:
            self.unsubscribe(NOISE)

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, ("news", message), size_bytes)

    def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
        what, message = content
        if what == "news":
            self.deliver(message)
            self.send(EVERYONE, ("noise", message), 10, topic=NOISE)
            self.send(sender, ("count", message), 10, topic=COUNT)
            self.send(sender, ("slow", message), 10, topic=SLOW)
            if message % 3 == 0:
                self.waiting = True
                self.declare_lookahead(COUNT, 0)
        elif what == "slow":
            self.set_timer(("slow", message, sender), 4 * MS)
        elif what == "count" and self.waiting:
            self.send(sender, ("late", message), 10)
            self.waiting = False
            self.declare_lookahead(COUNT)

    def on_timer(self, key: Any) -> None:
        self.send(key[2], ("count", key[1]), 10, topic=COUNT)


class Mute(Talker):
    """The same node without lookaheads."""

    lookaheads = False


def talk(engine: str, node: type[Node], seed: int = 1, cap: int = 0) -> Outcome:
    if why := engines.get(engine).missing():
        pytest.skip(why)
    workload = Workload(8, messages=60, segments=(Segment(0, 30.0),), size_bytes=100)
    spec = RunSpec("test", {}, seed, AbstractNetwork(8, delay=uniform_delay(1, 60), workload=workload), MS, cap=cap)
    return run_protocol(engines.get(engine), spec, PerNode(node), [CausalityChecker(8)])


@pytest.mark.omnet
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lookaheads_change_the_windows_and_not_the_run(seed: int) -> None:
    plain, declare_lookahead = talk("omnet", Mute, seed), talk("omnet", Talker, seed)
    assert (
        declare_lookahead.digest
        == plain.digest
        == talk("inline", Talker, seed).digest
        == talk("inline", Mute, seed).digest
    )
    assert declare_lookahead.scalars == plain.scalars
    assert declare_lookahead.windows < 0.9 * plain.windows
    assert declare_lookahead.events < plain.events, "packets of an unsubscribed topic need not be events"


@pytest.mark.omnet
@pytest.mark.parametrize("cap", [1, 7])
def test_a_run_with_lookaheads_does_not_depend_on_the_cap(cap: int) -> None:
    assert talk("omnet", Talker, cap=cap).digest == talk("omnet", Talker).digest


class Stopper(Talker):
    """Nodes of which one ends the run while packets are in flight."""

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        super().on_broadcast(number, size_bytes)
        if number == 25:
            self.stop()


@pytest.mark.omnet
def test_events_after_the_stop_of_a_run_are_not_observed() -> None:
    found = {talk("omnet", Stopper, 4, cap).digest for cap in (0, 1, 7)}
    assert len(found) == 1
    assert found != {talk("omnet", Talker, 4).digest}


class TooSoon(Talker):
    """Acts before the end of its declared lookahead."""

    def on_timer(self, key: Any) -> None:
        """Send the slow answer."""

    def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
        super().on_packet(content, sender, interface)
        if content[0] == "slow":
            self.send(sender, ("late", 0), 10)


def test_a_node_that_breaks_its_lookahead_is_reported_so_on_every_engine() -> None:
    with pytest.raises(
        RunError, match=r"node \d declared to do nothing within 0.005 s about packets of topic 1, but acts"
    ):
        talk("inline", TooSoon)


def test_a_lookahead_cannot_be_declared_for_packets_without_a_topic() -> None:
    class Wrong(Talker):
        def on_start(self) -> None:
            self.declare_lookahead(0)

    with pytest.raises(RunError, match="declare_lookahead was given topic=0; allowed: a whole number, 1 to 15"):
        talk("inline", Wrong)


def test_an_unsubscribed_topic_stays_unsubscribed() -> None:
    class Wavers(Talker):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.declare_lookahead(NOISE)

    with pytest.raises(RunError, match=r"node \d has unsubscribed from topic 3, which is permanent"):
        talk("inline", Wavers)


def test_a_node_that_acts_on_an_unsubscribed_topic_is_reported() -> None:
    class Listens(Talker):
        def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
            super().on_packet(content, sender, interface)
            if content[0] == "noise":
                self.send(sender, ("late", 0), 10)

    with pytest.raises(RunError, match=r"node \d declared to do nothing about packets of topic 3, but acts"):
        talk("inline", Listens)


def test_a_packet_cannot_have_a_topic_beyond_15() -> None:
    class Wrong(Talker):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(EVERYONE, ("news", 0), 10, topic=16)

    with pytest.raises(RunError, match=r"send was given topic=16; .*topic 1 to 15, or 0 for none"):
        talk("inline", Wrong)


def test_a_lookahead_ended_by_one_packet_allows_an_action_on_the_next() -> None:
    """Both arrive at one instant: the first one ends the lookahead, so that the node may act on the second."""

    class Two(Talker):
        def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
            if self.id != 0:
                return
            if sender == 1:
                self.declare_lookahead(COUNT, 0)
            else:
                self.send(sender, ("late", 0), 10)

        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(0, ("count", 0), 10, topic=COUNT if self.id == 2 else 0)

    script = Script(np.zeros(2, np.int64), np.array([1, 2], np.int32), np.zeros(2, np.int32))
    network = AbstractNetwork(3, delay=constant_delay(10), workload=Workload(3, script=script))
    outcome = run_protocol(engines.get("inline"), RunSpec("test", {}, 1, network, MS), PerNode(Two), [])
    assert outcome.scalars["packets"] == 3


# ---- the mobile protocol ---------------------------------------------------------------------------------------------


def test_a_station_that_keeps_its_lookahead_while_messages_wait_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Station, "_declare_lookahead", lambda self: self.declare_lookahead(ACKNOWLEDGEMENT))
    with pytest.raises(RunError, match="declared to do nothing about packets of topic 2"):
        for seed in range(200):
            random_schedule(Random(seed)).play()


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", [pytest.param("ns3", marks=pytest.mark.ns3), pytest.param("omnet", marks=pytest.mark.omnet)]
)
@pytest.mark.parametrize("experiment", ["dynamic", "faults"])
def test_the_mobile_protocol_needs_fewer_windows_for_the_same_run(
    engine: str, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why := engines.get(engine).missing():
        pytest.skip(f"{engine}: {why}")
    # a window of 3 messages is soon full: stations take their promise back, too
    small = {"experiment": experiment, "hosts": 21, "rate": 8, "duration_s": 20, "drain_s": 10, "outstanding": 3}
    declare_lookahead = run_job(Job("mobile20", small, 2, engine)).outcome
    monkeypatch.setattr(PerNode, "declare_lookahead", lambda *_: None)
    plain = run_job(Job("mobile20", small, 2, engine)).outcome
    assert declare_lookahead.digest == plain.digest
    assert declare_lookahead.windows < 0.9 * plain.windows
