"""Requests: exactly one of reply and time-out, whatever the network does."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.bridge.events import Act
from causeway.explore import exhaustive, properties
from causeway.explore.model import Budget, Model
from causeway.explore.properties import Rules
from causeway.network.networks import uniform_delay
from causeway.network.workload import Faults
from causeway.pycontrol.dispatch import handles
from causeway.pycontrol.node import Node, PerNode
from causeway.pycontrol.node_requests import REQUEST_BYTES, Request
from tests.helpers.small_runs import MS, mistake, small_run


class Asks(Node):
    """Asks everyone for the square of a number. The timeout is 20 ms."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, Any, int]] = []
        self.asked = 0

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        for peer in self.peers:
            self.ask(peer)

    def ask(self, peer: int) -> None:
        self.asked += 1
        self.request(peer, self.asked, 20 * MS, self.on_answer, partial(self.on_silence, peer))

    @handles(int)
    def on_question(self, number: int, sender: int) -> None:
        self.reply(number * number)

    def on_answer(self, content: int, sender: int) -> None:
        self.outcomes.append(("answer", content, sender))

    def on_silence(self, peer: int) -> None:
        self.outcomes.append(("silence", self.now_ps, peer))


def outcomes(protocol: PerNode, node: int = 2) -> list[tuple[str, Any, int]]:
    return sorted(protocol.nodes[node].outcomes)  # type: ignore[attr-defined]


def test_a_reply_comes_to_on_reply_and_the_time_out_is_off() -> None:
    protocol, _ = small_run(Asks)
    assert outcomes(protocol) == [("answer", 1, 0), ("answer", 4, 1)]
    assert not protocol.timers
    assert not vars(protocol.nodes[2])["_open_requests"] and not vars(protocol.nodes[2])["_planned_calls"]


def test_without_a_reply_the_time_out_comes_exactly_then() -> None:
    class Silent(Asks):
        @handles(int)
        def on_question(self, number: int, sender: int) -> None:
            pass

    assert outcomes(small_run(Silent)[0]) == [("silence", 22 * MS, 0), ("silence", 22 * MS, 1)]


def test_a_late_reply_is_dropped_even_if_another_request_is_open() -> None:
    class Late(Asks):
        def on_silence(self, peer: int) -> None:
            super().on_silence(peer)
            if self.asked < 4:
                self.ask(peer)

    protocol, _ = small_run(Late, delay=uniform_delay(12, 13))
    assert [what for what, *_ in outcomes(protocol)] == ["silence"] * 4


def test_a_request_that_is_kept_is_replied_to_later() -> None:
    class Thinks(Asks):
        @handles(int)
        def on_question(self, number: int, sender: int) -> None:
            self.after(5 * MS, self.say, self.current_request, number)

        def say(self, request: Request, number: int) -> None:
            self.reply(-number, request)
            self.reply(-number, request)  # the second one is dropped

    assert outcomes(small_run(Thinks)[0]) == [("answer", -2, 1), ("answer", -1, 0)]


def test_requests_go_away_when_the_node_goes_down() -> None:
    faults = Faults(np.array([3 * MS, 4 * MS]), np.array([2, 2]), np.array([False, True]))
    protocol, _ = small_run(Asks, delay=uniform_delay(5, 6), faults=faults)
    assert outcomes(protocol) == [] and not protocol.timers


def test_a_request_and_its_reply_have_eight_bytes_more() -> None:
    sizes: list[int] = []

    class Counting(PerNode):
        def _act(self, row: tuple[int, ...]) -> None:
            if row[0] == Act.SEND:
                sizes.append(row[5])
            super()._act(row)

    class Once(Asks):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.request(0, "ab", 20 * MS, self.on_answer, partial(self.on_silence, 0))
            self.request(0, "ab", 20 * MS, self.on_answer, partial(self.on_silence, 0), size_bytes=100)

        @handles(str)
        def on_text(self, text: str, sender: int) -> None:
            self.reply(None)

    from causeway.bridge.engine import RunSpec
    from causeway.bridge.engines.inline import InlineEngine
    from causeway.network.networks import AbstractNetwork, constant_delay
    from causeway.network.workload import Script, Workload
    from causeway.pycontrol.loop import run_protocol

    script = Script(np.array([MS]), np.array([2]), np.array([100]))
    network = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3, script=script))
    run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS), Counting(Once), [])
    assert sizes == [2 + REQUEST_BYTES, 100 + REQUEST_BYTES, REQUEST_BYTES, REQUEST_BYTES] and REQUEST_BYTES == 8


@given(
    loss=st.floats(0, 0.9), seed=st.integers(1, 50), nodes=st.integers(3, 5), most=st.integers(1, 40),
    falls=st.booleans(),
)  # fmt: skip
def test_on_random_networks_exactly_one_of_both_comes_for_each_request(
    loss: float, seed: int, nodes: int, most: int, falls: bool
) -> None:
    class Many(Asks):
        def on_start(self) -> None:
            for number in range(5):
                self.after(number * 7 * MS, self.on_broadcast, 0, 0)

    faults = Faults(np.array([9 * MS, 15 * MS]), np.array([0, 0]), np.array([False, True])) if falls else Faults()

    def run(cap: int) -> tuple[PerNode, Any]:
        return small_run(Many, nodes, delay=uniform_delay(0.1, most), loss=loss, seed=seed, faults=faults, cap=cap)

    (protocol, outcome), (_, other) = run(0), run(1)
    assert outcome.digest == other.digest
    for node in protocol.nodes[1 if falls else 0 :]:
        assert len(node.outcomes) == node.asked  # type: ignore[attr-defined]
        for what, content, peer in node.outcomes:  # type: ignore[attr-defined]
            assert what == "silence" or (content**0.5) % (nodes - 1) == (node.peers.index(peer) + 1) % (nodes - 1)


class Commits(Node):
    """Delivers when all have agreed; abandons the message after a time-out."""

    def __init__(self) -> None:
        self.agreed = 0
        self.silent = 0

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        for peer in self.peers:
            self.request(peer, "agree?", 10, partial(self.on_agreed, message), self.on_silence)

    def on_agreed(self, message: int, content: str, sender: int) -> None:
        self.agreed += 1
        if self.agreed == self.node_count - 1:
            self.deliver(message)

    def on_silence(self) -> None:
        self.silent += 1

    def on_packet(self, content: Any, sender: int, interface: int) -> None:
        self.reply("yes")


def test_every_order_of_replies_and_time_outs_is_searched() -> None:
    def make() -> Model:
        return Model(PerNode(Commits), 3, Budget(broadcasts=1, losses=1), broadcasters=(0,), watched=())

    def one_of_both(view: Any) -> str | None:
        over = view.nodes[0].agreed + view.nodes[0].silent
        return None if over in (0, 2) or not view.messages else f"{over} of 2 requests are over"

    found = exhaustive.search_exhaustively(make, Rules((one_of_both,), ordered=False), 20_000, 60)
    assert found.broken is None and found.finished and found.states > 20
    lossy = exhaustive.search_exhaustively(make, Rules((properties.everything_arrives,), ordered=False), 20_000, 60)
    assert lossy.broken is not None


@pytest.mark.parametrize(
    ("does", "expected"),
    [
        (lambda n: n.request(-1, "x", 5, n.on_timer, n.on_down), "request was given peer=-1; allowed: one node; send"),
        (lambda n: n.request(9, "x", 5, n.on_timer, n.on_down), "send was given peer=9; allowed: a whole number"),
        (lambda n: n.request(0, "x", 5, None, n.on_down), "request was given on_reply=None; allowed: a method of this"),
        (lambda n: n.request(0, "x", 5, n.on_timer, print), "request was given on_timeout=<built-in function print>;"),
        (lambda n: n.request(0, "x", 0.5, n.on_timer, n.on_down), "as seconds(0.3) or ms(300) return them"),
        (lambda n: n.reply("x"), "reply is called outside the handler of a request; call it in the handler"),
        (lambda n: n.reply("x", 3), "reply was given request=3; allowed: a value of self.current_request"),
        (lambda n: n.request(0, object(), 5, n.on_timer, n.on_down), "pass size_bytes, or define an attribute size_by"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_remedy(does: Any, expected: str) -> None:
    assert expected in mistake(does)
