"""Links that differ: their tables, their files, random graphs, and what a wrong one says."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import causeway as cw
from causeway.errors import UserError
from causeway.network.links import NO_LINK_PS, Links, random_edges


def arrivals(network: cw.AbstractNetwork) -> list[tuple[int, float]]:
    """Return node and time, in ms, of every packet of one broadcast by node 0."""

    class Heard(cw.Node):
        def on_broadcast(self, number, size_bytes):
            self.send(cw.EVERYONE, "ask", size_bytes)

        def on_packet(self, content, sender, interface):
            seen.append((self.id, self.now_ps / 1e9))

    seen: list[tuple[int, float]] = []
    script = cw.Script(np.array([0]), np.array([0], np.int32), np.array([1000], np.int32))
    cw.run(Heard, network, broadcasts=cw.Workload(network.nodes, script=script), seed=1)
    return sorted(seen)


def net(links: Links, nodes: int = 3) -> cw.AbstractNetwork:
    return cw.AbstractNetwork(nodes, delay=cw.constant_delay(1), links=links)


TABLE = [[0, 10, 25], [10, 0, math.inf], [30, 5, 0]]


def test_the_latency_of_a_link_is_that_of_its_pair():
    start = arrivals(net(Links(np.zeros((3, 3)))))
    assert [(n, round(t - u, 6)) for (n, t), (_, u) in zip(arrivals(net(Links(TABLE))), start, strict=True)] == [
        (1, 10.0), (2, 25.0),
    ]  # fmt: skip


def test_everyone_is_every_node_with_a_link():
    assert [node for node, _ in arrivals(net(Links.graph(3, [(0, 2)])))] == [2]


def test_a_link_with_a_bandwidth_sends_copies_one_after_the_other():
    """Node 0's site has one link to the site of the three others: 1,000 bytes at 1 Mb/s take 8 ms each."""
    links = Links([[0, 0], [0, 0]], bps=1_000_000, site=(0, 1, 1, 1))
    times = [time for _, time in arrivals(net(links, 4))]
    assert [round(b - a, 6) for a, b in pairwise(times)] == [8.0, 8.0]


def test_a_full_queue_loses_copies():
    links = Links([[0, 0], [0, 0]], bps=1_000_000, queue_bytes=1000, site=(0, 1, 1, 1, 1))
    assert [node for node, _ in arrivals(net(links, 5))] == [1, 2]


def test_links_lose_copies_by_their_own_probability():
    assert not arrivals(net(Links(np.zeros((3, 3)), loss=1.0)))
    lossy = np.zeros((3, 3))
    lossy[0, 1] = 1.0
    assert [node for node, _ in arrivals(net(Links(np.zeros((3, 3)), loss=lossy)))] == [2]


def test_a_partition_in_one_direction_lets_the_other_pass():
    def heard(one, other):
        fault = cw.Partition(one, other, 0, cw.seconds(9), one_way=True)
        return [node for node, _ in arrivals(cw.AbstractNetwork(3, network_faults=(fault,)))]

    assert heard((0,), (1,)) == [2]
    assert heard((1,), (0,)) == [1, 2]


def test_a_file_of_latencies_is_read_with_its_names(tmp_path):
    file = tmp_path / "cities.csv"
    file.write_text("from,to,delay_ms\nOslo,Rome,22.5\nRome,Oslo,23\nOslo,Bonn,11\n")
    links, names = Links.read(file)
    assert names == ["Bonn", "Oslo", "Rome"]
    ms = np.where(links.delay_ps == NO_LINK_PS, -1, links.delay_ps / 1e9)
    assert ms.tolist() == [[0, 11, -1], [11, 0, 22.5], [-1, 23, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from,to\na,b\n", "delay_ms"),
        ("from,to,delay_ms\na,b,fast\n", "delay_ms"),
        ("from,to,delay_ms\na,,3\n", "without a name"),
        ("", "cannot be read"),
        ("from,to,delay_ms\na,b,-3\n", "below 0"),
        ("from,to,delay_ms\na,b,5\na,b,9\n", "two rows"),
        ("from,to,delay_ms,loss\na,b,5,0.1\n", "columns"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, words):
    file = tmp_path / "cities.csv"
    file.write_text(text)
    with pytest.raises(UserError, match=words) as error:
        Links.read(file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Links([[0, 1]]), "shape"),
        (lambda: Links([[0, 1], [2]]), "rows of one length"),
        (lambda: Links([[0, -1], [1, 0]]), "below 0"),
        (lambda: Links([[0, math.nan], [1, 0]]), "below 0"),
        (lambda: Links(TABLE, loss=1.5), "loss"),
        (lambda: Links(TABLE, loss=[[0.1]]), "shape"),
        (lambda: Links(TABLE, bps=-1), "bps"),
        (lambda: Links(TABLE, queue_bytes=-1), "queue_bytes"),
        (lambda: Links(TABLE, site=(0, 3)), "sites 0 to 2"),
        (lambda: net(Links(TABLE), 4), "3 sites for 4 nodes"),
        (lambda: net(Links(TABLE, site=(0, 1)), 3), "site has 2 nodes"),
        (lambda: cw.AbstractNetwork(3, links=TABLE), "Links"),
        (lambda: Links.graph(3, [(0, 3)]), "nodes 0 to 2"),
        (lambda: random_edges(10, 1, 1), "degree"),
        (lambda: Links(TABLE, bps=0.5), "fraction"),
        (lambda: Links(TABLE, bps="1e6"), "numbers"),
        (lambda: Links(TABLE, queue_bytes=5), "set bps"),
        (lambda: Links.graph(3, [(False, True)]), "edge"),
        (lambda: Links.graph(3, [(0, 1, 5)]), "edge"),
        (lambda: Links.graph(2.5, []), "nodes"),
        (lambda: Links.of(2, lambda a, b: 1j), "numbers|complex"),
        (lambda: random_edges(5, 2, "a"), "random_edges: seed is 'a'; allowed: a whole number"),
        (lambda: Links(TABLE, site=(0, -1, 1)), "site -1"),
        (lambda: cw.Stays(np.array([2**32 + 1]), [0], [1]), "too high"),
        (lambda: cw.Stays.poisson(5, 1, 1, 1.5), "whole numbers"),
        (
            lambda: cw.run(
                cw.Node, cw.AbstractNetwork(3, network_faults=(cw.Partition((0,), (1,), 0, 5, one_way="no"),))
            ),
            "one_way",
        ),
        (lambda: cw.run(cw.Node, cw.AbstractNetwork(3, network_faults=(cw.Partition((), (1,), 0, 5),))), "empty side"),
    ],
)
def test_wrong_links_are_one_line(make, words):
    with pytest.raises(UserError, match=words) as error:
        make()
    assert "\n" not in str(error.value)


@given(st.integers(3, 60), st.data())
def test_a_random_graph_is_connected_and_has_its_mean_degree(nodes, data):
    degree, seed = data.draw(st.integers(2, min(nodes - 1, 6))), data.draw(st.integers(0, 1000))
    edges = random_edges(nodes, degree, seed)
    links = Links.graph(nodes, edges)
    reached, new = {0}, [0]
    while new:
        new = [b for a in new for b in links.neighbours(a, nodes) if b not in reached and not reached.add(b)]
    assert reached == set(range(nodes))
    assert len(edges) == max(nodes, nodes * degree // 2) == len(set(edges))
    assert edges == random_edges(nodes, degree, seed)


def test_a_copy_that_would_take_for_ever_is_lost_and_not_early():
    links = Links([[0, 1], [1, 0]], bps=1)
    script = cw.Script(np.arange(3) * 10**9, np.zeros(3, np.int32), np.full(3, 2_000_000, np.int32))
    seen: list[float] = []

    class Heard(cw.Node):
        def on_broadcast(self, number, size_bytes):
            self.send(cw.EVERYONE, "ask", size_bytes)

        def on_packet(self, content, sender, interface):
            seen.append(self.now)

    cw.run(Heard, cw.AbstractNetwork(2, links=links), broadcasts=cw.Workload(2, script=script), until=cw.seconds(60))
    assert not seen


def test_names_may_have_spaces_around_and_be_na(tmp_path):
    file = tmp_path / "cities.csv"
    file.write_text("from,to,delay_ms\nNA, b,5\nb,NA,6\n")
    assert Links.read(file)[1] == ["NA", "b"]
