"""`EVERYONE` is the only way to address all nodes. A plain -1 is a mistake, as `self.id - 1` at node 0 is."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import causeway as cw
from causeway.bridge.events import BROADCAST_PEER
from tests.helpers.small_runs import mistake, small_run


@pytest.mark.parametrize("peer", [-1, np.int64(-1), int(cw.EVERYONE), cw.EVERYONE + 0])
def test_minus_one_is_no_receiver(peer: Any) -> None:
    said = mistake(lambda n: n.send(peer, "hi"))
    assert said.startswith("send was given peer=") and "-1" in said and said.endswith("cw.EVERYONE sends to all"), said


def test_the_left_neighbour_of_node_0_is_not_everyone() -> None:
    class Left(cw.Node):
        def on_start(self) -> None:
            self.send(self.id - 1, "hi")

    with pytest.raises(cw.RunError, match=r"node 0, at 0 s, in on_start\(\): send was given peer=-1; allowed: "):
        small_run(Left)


def test_minus_one_is_refused_by_models_too() -> None:
    class Left(cw.Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(-1, "hi")

    from causeway.explore.model import Budget, Model

    model = Model(cw.PerNode(Left), 3, Budget(broadcasts=1))
    with pytest.raises(ValueError, match="send was given peer=-1"):
        model.nodes[0].runtime.acting = model.nodes[0]
        model.nodes[0].on_broadcast(0, 10)


def test_everyone_reaches_all() -> None:
    heard: list[int] = []

    class Crier(cw.Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(cw.EVERYONE, "hi")

        def on_packet(self, content: object, sender: int, interface: int) -> None:
            heard.append(self.id)

    small_run(Crier)
    assert sorted(heard) == [0, 1]


def test_a_request_to_everyone_is_refused() -> None:
    said = mistake(lambda n: n.request(cw.EVERYONE, "hi", 9, n.on_packet, n.on_start))
    assert "request was given peer=-1; allowed: one node" in said


def test_everyone_stays_itself_in_copies_and_pickles() -> None:
    kept = {"to": cw.EVERYONE, "all": [cw.EVERYONE]}
    assert copy.deepcopy(kept)["to"] is copy.copy(cw.EVERYONE) is cw.EVERYONE
    assert pickle.loads(pickle.dumps(kept))["all"][0] is cw.EVERYONE


def test_everyone_is_the_number_that_crosses() -> None:
    assert cw.EVERYONE == BROADCAST_PEER == -1
    assert np.full(2, cw.EVERYONE).tolist() == [-1, -1]
