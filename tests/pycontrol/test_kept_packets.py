"""The content of a packet is kept for every copy that arrives, however late; otherwise the run ends with an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.bridge.events import Kind, Window
from causeway.network.networks import AbstractNetwork, MobileNetwork, constant_delay, uniform_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.loop import Outcome, run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import Context
from causeway.pycontrol.protocol_errors import ProtocolError
from tests.helpers.drawn import examples

MS, S = 10**9, 10**12


class Flood(Node):
    """Delivers arrivals at once, and sends a reply, which is not delivered."""

    def on_broadcast(self, number, size_bytes):
        message = self.new_message()
        self.deliver(message)
        self.send(EVERYONE, message, size_bytes)

    def on_packet(self, content, sender, interface):
        if isinstance(content, int):
            self.deliver(content)
            self.send(sender, ("thanks", content), 10)


def run(network: AbstractNetwork, cap: int = 0) -> Outcome:
    spec = RunSpec("test", {}, 1, network, MS, cap=cap)
    return run_protocol(InlineEngine(), spec, PerNode(Flood), [CausalityChecker(network.nodes)])


def test_copies_that_wait_long_for_a_slow_receiver_are_delivered() -> None:
    """Every receiver takes 0.1 s for a copy and gets 30 a second: the last ones wait for minutes."""
    network = AbstractNetwork(
        4, delay=constant_delay(1), workload=Workload(4, messages=1600, segments=(Segment(0, 20),)), recv_ps=100 * MS
    )
    outcome = run(network)
    assert outcome.finish.end_ps > 200 * S, "the last one was sent after 80 s"
    assert outcome.scalars["deliveries"] == 4 * 1600


@settings(max_examples=examples(25))
@given(
    low_s=st.floats(0, 1000), more_s=st.floats(0, 1000), cap=st.sampled_from([1, 2, 7, 50]), rate=st.floats(0.1, 100),
    recv_ms=st.integers(0, 2000),
)  # fmt: skip
def test_any_delay_delivers_everything_and_gives_one_digest_with_any_cap(low_s, more_s, cap, rate, recv_ms) -> None:
    workload = Workload(3, messages=60, segments=(Segment(0, rate),))
    delays = uniform_delay(low_s * 1000, (low_s + more_s) * 1000)
    network = AbstractNetwork(3, delay=delays, workload=workload, recv_ps=recv_ms * MS)
    whole, capped = run(network), run(network, cap)
    assert whole.scalars["deliveries"] == capped.scalars["deliveries"] == 3 * 60
    assert whole.digest == capped.digest


# ---- on the air, where nobody knows how many copies will come --------------------------------------------------------
class OnTheAir:
    """A protocol on a mobile network, whose windows the test writes."""

    def __init__(self, lifetime_ps: int) -> None:
        self.arrived: list[tuple[int, int]] = []
        arrived = self.arrived

        class Told(Node):
            def on_start(self):
                if self.id == 0:
                    self.send(EVERYONE, "to all", 10)
                    self.send(1, "to one", 10)

            def on_packet(self, content, sender, interface):
                arrived.append((self.id, content))

        self.protocol = PerNode(Told)
        self.protocol.packet_lifetime_ps = lifetime_ps
        network = MobileNetwork(station_xy_mm=((0, 0),), wires=(), hosts=3, workload=Workload(4))
        self.protocol.start(Context(4, 1, MS, network=network))
        self.number = 0

    def window(self, *events: tuple[Kind, int, int, int]) -> None:
        """Return a window of events (kind, time_ps, node, packet)."""
        self.number += 1
        kind, time_ps, node, ref = (np.array(column) for column in zip(*events, strict=True))
        self.protocol.on_window(
            Window(self.number, int(time_ps[-1]) + 1, True, kind, time_ps, node, ref, np.zeros(len(kind), np.int32))
        )


def test_within_its_lifetime_a_packet_arrives_as_often_as_it_is_heard() -> None:
    air = OnTheAir(10 * S)
    air.window((Kind.ARRIVAL, 5 * S, 1, 0))
    air.window((Kind.ARRIVAL, 9 * S, 2, 0), (Kind.ARRIVAL, 10 * S, 3, 0))
    assert air.arrived == [(1, "to all"), (2, "to all"), (3, "to all")]


@pytest.mark.parametrize("kind", [Kind.ARRIVAL, Kind.LOST])
@pytest.mark.parametrize("packet", [0, 1])
@pytest.mark.parametrize("between", [[], [(Kind.STATION, 10 * S + 1, 2, 0)]])
def test_a_packet_that_arrives_after_its_lifetime_is_an_error_wherever_windows_end(kind, packet, between) -> None:
    air = OnTheAir(10 * S)
    for event in between:
        air.window(event)
    with pytest.raises(
        ProtocolError,
        match=rf"node 1, at 10\.000000000001 s: packet {packet} .* more than 10 s after .* increase packet_lifetime_ps",
    ):
        air.window((kind, 10 * S + 1, 1, packet))


def test_a_duplicated_packet_to_one_node_is_handed_over_once() -> None:
    air = OnTheAir(10 * S)
    air.window((Kind.ARRIVAL, S, 1, 1))
    air.window((Kind.ARRIVAL, 2 * S, 1, 1))
    assert air.arrived == [(1, "to one")]


def test_contents_that_cannot_be_needed_any_more_take_no_memory() -> None:
    air = OnTheAir(10 * S)
    assert len(air.protocol.kept_packets) == 2
    air.window((Kind.STATION, 11 * S, 2, 0))
    assert len(air.protocol.kept_packets) == 0


def test_an_engine_that_reports_too_many_copies_is_refused() -> None:
    protocol = PerNode(Flood)
    protocol.start(
        Context(
            2, 1, MS, network=AbstractNetwork(2, delay=constant_delay(S), workload=Workload(2)), reports_all_copies=True
        )
    )
    protocol.nodes[0].send(EVERYONE, 0, 10)
    protocol.nodes[0].new_message()

    def arrive() -> None:
        one = np.ones(1, np.int64)
        protocol.on_window(Window(1, 3 * S, True, one * int(Kind.ARRIVAL), one * S, one, one * 0, one * 0))

    arrive()
    with pytest.raises(ProtocolError, match=r"node 1, at 1 s: .* packet 0 after the last one"):
        arrive()
