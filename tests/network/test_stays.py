"""Nodes that come and go: each stay is a new process, owed what is broadcast while it is there, on every engine."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causeway as cw
from causeway.errors import RunError, UserError
from causeway.network.stays import Stays, changes_of
from causeway.network.workload import LATEST_PS
from causeway.pycontrol import presence
from causeway.pycontrol.shared import watching_contents
from causeway.studies.external_project import ExternalProject
from tests.helpers.drawn import examples

S = 10**12
TABLE = Stays(np.array([1, 2, 1]), np.array([0, 2 * S, 5 * S]), np.array([3 * S, 6 * S, LATEST_PS]))


class Guest(cw.Node):
    """Writes down what happens to it, and delivers what it hears."""

    def __init__(self, seen):
        self.seen, self.heard = seen, set()

    def on_start(self):
        self.seen.append((self.now, self.id, "start"))
        self.set_timer("tick", 4 * S)

    def on_timer(self, key):
        self.seen.append((self.now, self.id, "tick"))

    def on_finish(self):
        self.seen.append((self.now, self.id, "finish"))

    def on_broadcast(self, number, size_bytes):
        self.take(self.new_message())

    def on_packet(self, message, sender, interface):
        if message not in self.heard:
            self.take(message)

    def take(self, message):
        self.heard.add(message)
        self.deliver(message)
        self.send(cw.EVERYONE, message, 100)


def run(network, engine="inline", until=10 * S, **options):
    seen: list[tuple[float, int, str]] = []
    return seen, cw.run(
        lambda: cw.PerNode(lambda _: Guest(seen)), network, engine=engine, until=until, seed=1, **options
    )


def test_a_stay_is_the_life_of_a_new_node():
    seen, _ = run(cw.AbstractNetwork(3, stays=TABLE))
    assert [(round(at, 2), node, what) for at, node, what in seen if node == 1] == [
        (0, 1, "start"), (3, 1, "finish"), (5, 1, "start"), (9, 1, "tick"), (9, 1, "finish"),
    ]  # fmt: skip
    assert [(at, what) for at, node, what in seen if node == 2] == [(2, "start"), (6, "finish")]


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=pytest.mark.omnet)])
def test_nothing_is_owed_to_those_who_left(engine):
    """Flooding on a lossless network: each message reaches all that are there from its broadcast to its delivery."""
    stays = Stays.poisson(300, per_s=10, mean_s=3, seed=4, first=2, present=20)
    load = cw.Workload(2, segments=(cw.Segment(0, 50.0), cw.Segment(cw.seconds(9), 0.0)))  # nodes 0 and 1 stay
    _, done = run(cw.AbstractNetwork(300, stays=stays), engine, broadcasts=load)
    assert done.scalars["deliveries"] > 5_000
    assert done.scalars["missing"] == 0


def test_who_comes_and_goes_violates_no_order():
    """With a constant delay, copies arrive in the order of broadcasts, so flooding is causal; with others it is not."""
    stays = Stays.poisson(150, per_s=20, mean_s=2, seed=4, first=2, present=30)
    load = cw.Workload(2, segments=(cw.Segment(0, 50.0), cw.Segment(cw.seconds(7), 0.0)))
    violations = [
        run(cw.AbstractNetwork(150, stays=stays, delay=delay), until=8 * S, broadcasts=load)[1].scalars["violations"]
        for delay in (cw.constant_delay(30), cw.uniform_delay(10, 50))
    ]
    assert violations[0] == 0 < violations[1]


def test_engines_agree_on_who_comes_and_goes():
    pytest.importorskip("causeway")
    from causeway.bridge import engines

    if why := engines.get("omnet").missing():
        pytest.skip(why)
    stays = Stays.poisson(60, per_s=10, mean_s=2, seed=3, present=10)
    digests = {
        run(cw.AbstractNetwork(60, stays=stays), e, broadcasts=cw.poisson(50))[1].digest for e in ("inline", "omnet")
    }
    assert len(digests) == 1


def test_a_node_that_forgets_to_leave_is_found(monkeypatch):
    """The mutant: departures are not reported to the checker."""

    def forgetful(runtime, node):
        presence._forget_timers(runtime, node)
        runtime.nodes[node] = presence.absent(runtime, node)

    network = cw.AbstractNetwork(40, stays=Stays.poisson(40, per_s=20, mean_s=1, seed=2))
    right = run(network, broadcasts=cw.poisson(50))[1].scalars["missing"]
    monkeypatch.setattr(presence, "_go", forgetful)
    assert run(network, broadcasts=cw.poisson(50))[1].scalars["missing"] > 100 + right


def test_the_stays_of_a_study_hold_in_an_inet_project_too():
    own = cw.AbstractNetwork(3, stays=TABLE)
    assert ExternalProject("my.ini", "General").instead_of(own).stays is TABLE


def test_a_node_that_goes_cannot_send():
    class Late(cw.Node):
        def on_finish(self):
            self.send(cw.EVERYONE, "bye", 10)

    with pytest.raises(RunError, match="on_finish"):
        cw.run(Late, cw.AbstractNetwork(2, stays=Stays([1], [0], [S])), until=cw.seconds(2))


@settings(max_examples=examples(40))
@given(st.integers(1, 200), st.floats(0.1, 100), st.floats(0.01, 50), st.integers(0, 2**40), st.data())
def test_drawn_stays_are_in_order_and_end_after_they_begin(nodes, per_s, mean_s, seed, data):
    first = data.draw(st.integers(0, nodes))
    present = data.draw(st.integers(0, nodes - first))
    stays = Stays.poisson(nodes, per_s, mean_s, seed, first=first, present=present)
    assert stays.node.tolist() == list(range(first, nodes))
    assert (np.diff(stays.from_ps) >= 0).all() and (stays.from_ps < stays.to_ps).all()
    assert (stays.from_ps[:present] == 0).all()
    rows = changes_of(cw.AbstractNetwork(nodes, stays=stays))
    assert (np.diff(rows.time_ps) >= 0).all()
    assert np.array_equal(
        stays.from_ps, Stays.poisson(nodes, per_s, mean_s, seed, first=first, present=present).from_ps
    )


def test_nodes_come_again_if_there_are_more_stays():
    stays = Stays.poisson(60, per_s=10, mean_s=2, seed=1, first=5, present=10, stays=1_000)
    assert len(stays.node) == 1_000 and set(stays.node.tolist()) == set(range(5, 60))
    assert (
        stays.from_ps.tolist() == Stays.poisson(1_005, per_s=10, mean_s=2, seed=1, first=5, present=10).from_ps.tolist()
    )
    with pytest.raises(UserError, match="all 15 nodes are there"):
        Stays.poisson(20, per_s=10, mean_s=2, seed=1, first=5, stays=1_000)


class Visitor(cw.Node):
    """Holds a lot of memory, and sends some."""

    def on_start(self):
        self.drawn, self.weight = self.rng.random(), bytearray(100_000)
        self.every(cw.ms(200), self.visit)

    def visit(self):
        self.send(self.rng.randrange(self.node_count), bytes(10_000), 100)

    def on_broadcast(self, number, size_bytes):
        self.send(cw.EVERYONE, bytes(10_000), 100)


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=pytest.mark.omnet)])
@pytest.mark.parametrize("again", [False, True])
def test_memory_depends_on_who_is_there_and_not_on_who_was(engine, again):
    """300 visitors, 20 of them at once: all that were ever there hold 30 MB, and their packets 45 MB."""
    nodes = 60 if again else 300
    stays = Stays.poisson(nodes, per_s=10, mean_s=2, seed=1, first=1, present=20, stays=300)
    protocol, sizes = cw.PerNode(Visitor), []
    protocol.every(cw.seconds(1), lambda _: sizes.append((tracemalloc.get_traced_memory()[0], there(protocol))))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        cw.run(lambda: protocol, cw.AbstractNetwork(nodes, stays=stays), engine=engine, until=27 * S, seed=1)
    finally:
        tracemalloc.stop()
    assert len(sizes) == 26 and max(here for _, here in sizes) > 20
    assert max(size - before - 100_000 * here for size, here in sizes[5:]) < 12_000_000


def there(protocol):
    return sum(isinstance(node, Visitor) for node in protocol.nodes)


def test_each_stay_draws_its_own_random_numbers():
    drawn = []

    class Drawing(cw.Node):
        def __init__(self):
            self.early = self.rng.random()

        def on_start(self):
            drawn.append((self.early, self.rng.random(), random.random(), float(np.random.random())))

    cw.run(Drawing, cw.AbstractNetwork(2, stays=Stays([1, 1], [0, 2 * S], [S, 3 * S])), until=4 * S)
    assert len(drawn) == 3
    assert all(len(set(numbers)) == 3 for numbers in zip(*drawn, strict=True))


@pytest.mark.parametrize("engine", ["inline", pytest.param("omnet", marks=pytest.mark.omnet)])
def test_a_new_stay_begins_without_the_lookaheads_of_the_one_before(engine):
    heard = []

    class Choosy(cw.Node):
        def on_start(self):
            if self.id == 0:
                self.every(cw.ms(500), self.send, 1, "news", 10, 0, 3)
            self.declare_lookahead(3, cw.ms(2))
            if self.id == 1 and self.now < 1:
                self.unsubscribe(3)

        def on_packet(self, content, sender, interface):
            heard.append(self.now)

    cw.run(Choosy, cw.AbstractNetwork(2, stays=Stays([1, 1], [0, 3 * S], [2 * S, 6 * S])), engine=engine, until=6 * S)
    assert sum(at > 3 for at in heard) == 6


def test_arrivals_and_lengths_have_their_means():
    stays = Stays.poisson(20_000, per_s=5, mean_s=2, seed=1)
    assert np.diff(stays.from_ps).mean() == pytest.approx(S / 5, rel=0.03)
    assert (stays.to_ps - stays.from_ps).mean() == pytest.approx(2 * S, rel=0.03)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Stays([0], [5], [5]), "row 0"),
        (lambda: Stays([-1], [0], [5]), "row 0"),
        (lambda: Stays([0, 0], [0, 5], [5, 9]), "before it has gone"),
        (lambda: Stays([0], [0, 1], [5]), "different lengths"),
        (lambda: Stays([0.5], [0], [1]), "whole numbers"),
        (lambda: Stays.poisson(5, 0, 1, 1), "per_s"),
        (lambda: Stays.poisson(5, 1, float("nan"), 1), "mean_s"),
        (lambda: Stays.poisson(5, 1, 1, 1, first=6), "first=6"),
        (lambda: cw.AbstractNetwork(3, stays=((0, 1, 2),)), "Stays"),
        (lambda: run(cw.AbstractNetwork(3, stays=Stays([3], [0], [5]))), "node 3 does not exist"),
        (
            lambda: run(cw.AbstractNetwork(3, stays=TABLE, faults=cw.Faults([S], [1], [0]))),
            "node 1 has stays and failures",
        ),
    ],
)
def test_wrong_stays_are_one_line(make, words):
    with pytest.raises(UserError, match=words) as error:
        make()
    assert "\n" not in str(error.value)


class Careless(cw.Node):
    """Sends its list of news, and changes the list afterwards: while it is on its way, in the second stay only."""

    def __init__(self, stays: list[int]) -> None:
        self.stays = stays

    def on_start(self) -> None:
        if self.id:
            self.stays.append(self.id)
            self.news = ["I am here"]
            self.send(0, self.news)
            if len(self.stays) == 2:
                self.set_timer("change", 0)

    def on_timer(self, key: str) -> None:
        self.news.append("and here")


def test_contents_are_watched_in_later_stays_too():
    network = cw.AbstractNetwork(2, stays=Stays([1, 1], [0, 5 * S], [2 * S, 9 * S]))
    with watching_contents(), pytest.raises(RunError, match=r"Careless\.on_timer .* changed the content that node 1"):
        cw.run(lambda: cw.PerNode(lambda _, stays=[]: Careless(stays)), network, until=10 * S)
