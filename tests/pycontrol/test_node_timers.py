"""Later calls of a node's own methods: exact times, cancelled by a failure, copied and compared by the search."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.explore import exhaustive, properties
from causeway.explore.model import Budget, Model
from causeway.explore.properties import Rules
from causeway.network.networks import uniform_delay
from causeway.network.workload import Faults
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.node_timers import TimerHandle
from causeway.pycontrol.shared import watching_contents
from tests.helpers.small_runs import MS, mistake, small_run


class Planner(Node):
    """Notes the times of its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, int]] = []

    def note(self, *what: object) -> None:
        self.calls.append((*what, self.now_ps) if what else ("", self.now_ps))  # type: ignore[arg-type]


def test_a_call_comes_when_a_timer_of_its_delay_would_be_due() -> None:
    class Both(Planner):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.set_timer("t", 5 * MS)
            self.after(5 * MS, self.note, "once")

        def on_timer(self, key: object) -> None:
            self.note(key)

    protocol, _ = small_run(Both, reaction_ps=2 * MS)
    assert sorted(protocol.nodes[2].calls) == [("once", 8 * MS), ("t", 8 * MS)]  # type: ignore[attr-defined]


def test_a_periodic_call_never_drifts() -> None:
    class Beats(Planner):
        def on_start(self) -> None:
            self.every(7 * MS, self.note)

    protocol, _ = small_run(Beats, reaction_ps=3 * MS, until_ps=1000 * MS)
    assert [time for _, time in protocol.nodes[1].calls] == list(range(10 * MS, 1000 * MS, 7 * MS))  # type: ignore[attr-defined]


def test_a_call_can_be_cancelled_from_inside_and_outside_and_again() -> None:
    class Cancels(Planner):
        def on_start(self) -> None:
            self.handle = self.every(5 * MS, self.third)
            self.never = self.after(5 * MS, self.note, "never")
            self.never.cancel()
            self.never.cancel()
            self.other = self.after(5 * MS, self.note, "other")  # it has the number of the cancelled one
            self.never.cancel()

        def third(self) -> None:
            self.note("beat")
            assert self.handle.active
            if len(self.calls) == 4:
                self.handle.cancel()
                assert not self.handle.active

    calls = small_run(Cancels)[0].nodes[0].calls  # type: ignore[attr-defined]
    assert [what for what, _ in calls] == ["beat", "other", "beat", "beat"]
    assert [time for what, time in calls if what == "beat"] == [6 * MS, 11 * MS, 16 * MS]


def test_a_failure_cancels_calls() -> None:
    class Falls(Planner):
        def on_start(self) -> None:
            self.beat = self.every(2 * MS, self.note)
            self.late = self.after(50 * MS, self.note, "late")

        def on_down(self) -> None:
            assert not self.beat.active and not self.late.active
            self.note("down")

        def on_up(self) -> None:
            self.after(MS, self.note, "again")

    faults = Faults(np.array([10 * MS, 20 * MS]), np.array([1, 1]), np.array([False, True]))
    protocol, _ = small_run(Falls, until_ps=80 * MS, faults=faults)
    calls = protocol.nodes[1].calls  # type: ignore[attr-defined]
    assert [one for one in calls if one[0]] == [("down", 10 * MS), ("again", 22 * MS)]
    assert max(time for what, time in calls if not what) == 9 * MS


def test_a_call_with_arguments_by_name_and_a_partial() -> None:
    class Named(Node):
        def on_start(self) -> None:
            self.found: list[Any] = []
            self.after(1, self.keep, 1, other=2)
            self.after(2, partial(self.keep, 3, other=4))

        def keep(self, one: int, other: int = 0) -> None:
            self.found.append((one, other))

    assert small_run(Named)[0].nodes[0].found == [(1, 2), (3, 4)]  # type: ignore[attr-defined]


@given(
    periods=st.lists(st.integers(3, 40), min_size=1, max_size=4), seed=st.integers(1, 5),
    reaction=st.integers(1, 3), nodes=st.integers(2, 5),
)  # fmt: skip
def test_on_random_networks_periods_are_exact_and_windows_do_not_matter(
    periods: list[int], seed: int, reaction: int, nodes: int
) -> None:
    class Talks(Planner):
        def on_start(self) -> None:
            for number, period in enumerate(periods):
                self.every(period * MS, self.say, number)

        def say(self, number: int) -> None:
            self.note(number)
            self.send(EVERYONE, number)

        def on_packet(self, content: int, sender: int, interface: int) -> None:
            self.after(self.rng.randrange(5 * MS), self.note, "heard")

    def run(cap: int) -> tuple[PerNode, Any]:
        return small_run(
            Talks, max(3, nodes), delay=uniform_delay(1, 9), loss=0.2, seed=seed, reaction_ps=reaction * MS,
            until_ps=200 * MS, cap=cap,
        )  # fmt: skip

    (protocol, outcome), (_, other) = run(0), run(1)
    assert outcome.digest == other.digest and outcome.events == other.events
    for node in protocol.nodes:
        for number, period in enumerate(periods):
            times = [time for what, time in node.calls if what == number]  # type: ignore[attr-defined]
            assert times[0] == (reaction + period) * MS
            assert {after - before for before, after in pairwise(times)} <= {period * MS}


# ---- in the search -------------------------------------------------------------------------------------------------
class Retries(Node):
    """Sends its message up to three times, until all have acknowledged it."""

    def __init__(self) -> None:
        self.waits: set[int] = set()
        self.sent = 0
        self.resend: TimerHandle | None = None
        self.heard: set[int] = set()

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        message = self.new_message()
        self.deliver(message)
        self.waits = set(self.peers)
        self.resend = self.every(self.runtime.context.reaction_ps, self.ask, message)
        self.ask(message)

    def ask(self, message: int) -> None:
        self.sent += 1
        if self.sent == 3 and self.resend is not None:
            self.resend.cancel()
        for peer in sorted(self.waits):
            self.send(peer, ("news", message))

    def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
        what, message = content
        if what == "ack":
            self.waits.discard(sender)
            if not self.waits and self.resend is not None:
                self.resend.cancel()
                self.resend = None
            return
        self.send(sender, ("ack", message))
        if message not in self.heard:
            self.heard.add(message)
            self.deliver(message)


class Forgets(Retries):
    """Stops after the first acknowledgement."""

    def on_packet(self, content: tuple[str, int], sender: int, interface: int) -> None:
        if content[0] == "ack":
            self.waits.clear()
        super().on_packet(content, sender, interface)


@pytest.mark.parametrize(("kind", "right"), [(Retries, True), (Forgets, False)])
def test_every_order_is_searched_with_handles_and_methods_in_the_state(kind: type[Node], right: bool) -> None:
    def make() -> Model:
        return Model(PerNode(kind), 2 if right else 3, Budget(broadcasts=1, losses=1), broadcasters=(0,), watched=())

    rules = Rules((properties.everything_arrives,), ordered=False)
    found = exhaustive.search_exhaustively(make, rules, 20_000, 60)
    assert found.finished or not right
    assert (found.broken is None) == right
    assert found.states > 5


def test_a_handler_that_a_call_leads_to_is_watched_for_changed_contents() -> None:
    class Changes(Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.news = [1]
            self.send(0, self.news)
            self.after(0, self.change)

        def change(self) -> None:
            self.news.append(2)

    with (
        watching_contents(),
        pytest.raises(Exception, match=r"Changes\.change .* changed the content that node 2"),
    ):
        small_run(Changes, delay=uniform_delay(50, 60))


@pytest.mark.parametrize(
    ("does", "expected"),
    [
        (lambda n: n.after(-1, n.on_down), "after was given delay_ps=-1; allowed: a whole number, 0 to"),
        (lambda n: n.after(0.5, n.on_down), "as seconds(0.3) or ms(300) return them"),
        (lambda n: n.every(5, n.on_down), "every was given period_ps=5; allowed: at least the reaction time, 0.001 s"),
        (lambda n: n.every(0.5, n.on_down), "as seconds(0.3) or ms(300) return them"),
        (lambda n: n.after(5, lambda: None), "allowed: a method of this node, as in self.on_late, or functools.partia"),
        (lambda n: n.after(5, n.on_down()), "(write it without parentheses)"),
        (lambda n: n.after(5, n.runtime.nodes[0].on_down), "allowed: a method of this node"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_remedy(does: Any, expected: str) -> None:
    assert expected in mistake(does)
