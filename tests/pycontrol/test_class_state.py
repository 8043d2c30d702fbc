"""Attributes of a node's class are shared by all nodes: a run that changes one is refused, with class and attribute."""

from __future__ import annotations

import functools
import itertools
import logging
import random
from collections import Counter, deque
from typing import Any, ClassVar

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.explore.model import Budget, Model
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol_errors import ProtocolError

MS = 10**9


def run(kind: Any, times: int = 1) -> Any:
    """Run some broadcasts of node 2, among three nodes."""
    script = Script(MS * np.arange(1, times + 1), np.full(times, 2), np.full(times, 100))
    network = AbstractNetwork(3, delay=constant_delay(1), workload=Workload(3, script=script))
    return run_protocol(InlineEngine(), RunSpec("test", {}, 1, network, MS), PerNode(kind, 2), [])


class Board:
    """An object that a class could hold."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    @functools.cached_property
    def length(self) -> int:
        return len(self.rows)


@pytest.mark.parametrize(
    ("held", "change"),
    [
        (set(), lambda held: held.add(1)),
        ([], lambda held: held.append(1)),
        ({}, lambda held: held.update(a=1)),
        ({"a": [1]}, lambda held: held["a"].append(2)),
        (deque(), lambda held: held.append(1)),
        (Counter(), lambda held: held.update("a")),
        (bytearray(2), lambda held: held.append(1)),
        (np.zeros(3), lambda held: held.__setitem__(1, 5.0)),
        (random.Random(1), lambda held: held.random()),
        (itertools.count(), next),
        (Board(), lambda held: held.rows.append(1)),
    ],
)
def test_a_class_attribute_that_handlers_change_is_an_error(held: Any, change: Any) -> None:
    class Flood(Node):
        heard: ClassVar[Any] = held

        def on_packet(self, content, sender, interface):
            change(self.heard)

        def on_broadcast(self, number, size_bytes):
            self.send(EVERYONE, "x", 10)

    with pytest.raises(ProtocolError) as error:
        run(Flood)
    assert str(error.value).startswith(f"Flood.heard ({type(held).__name__}) was changed during the run")
    assert "make it in __init__: self.heard = " in str(error.value)
    assert "\n" not in str(error.value)


def test_assigning_a_class_attribute_is_an_error() -> None:
    class Counts(Node):
        total = 0

        def on_broadcast(self, number, size_bytes):
            type(self).total += 1

    class Marks(Node):
        def on_broadcast(self, number, size_bytes):
            Marks.leader = self

    with pytest.raises(ProtocolError, match=r"^Counts.total \(int\) was changed"):
        run(Counts)
    with pytest.raises(ProtocolError, match=r"^Marks.leader \(Marks\) was changed"):
        run(Marks)


def test_a_class_attribute_of_a_base_is_named_with_its_class() -> None:
    class Base(Node):
        heard: ClassVar[set[int]] = set()

    class Flood(Base):
        def on_broadcast(self, number, size_bytes):
            self.heard.add(number)

    with pytest.raises(ProtocolError, match=r"^Base.heard \(set\)"):
        run(Flood)


def test_nodes_that_know_each_other_from_their_class_are_an_error() -> None:
    class Known(Node):
        all_of_us: ClassVar[list[Any]] = []

        def __init__(self) -> None:
            super().__init__()
            self.all_of_us.append(self)

    with pytest.raises(ProtocolError, match=r"^Known.all_of_us \(list\)"):
        run(Known)


def test_constants_and_attributes_of_instances_are_allowed() -> None:
    class Right(Node):
        ROUTES: ClassVar[dict[int, list[int]]] = {0: [1, 2]}
        WEIGHTS = np.arange(4)
        log = logging.getLogger("of.a.node")
        board = Board()
        heard: ClassVar[set[int]] = set()
        lookahead_ps = 5

        def __init__(self) -> None:
            super().__init__()
            self.heard = set()  # type: ignore[misc]
            self.lookahead_ps += 1

        def on_broadcast(self, number, size_bytes):
            self.heard.add(self.ROUTES[0][1] + int(self.WEIGHTS[1]) + self.board.length)
            self.lookahead_ps += 1
            self.log.debug("it keeps levels in a cache")

        @functools.cached_property
        def quorum(self) -> int:
            return 2

    assert run(Right, 40).events == 40
    assert Right.heard == set()


def test_it_is_found_within_some_windows_and_not_only_at_the_end() -> None:
    class Flood(Node):
        heard: ClassVar[list[int]] = []

        def on_broadcast(self, number, size_bytes):
            self.heard.append(number)

    with pytest.raises(ProtocolError):
        run(Flood, 1000)
    assert len(Flood.heard) < 100


def test_a_small_model_detects_it_too() -> None:
    class Flood(Node):
        heard: ClassVar[set[int]] = set()

        def on_broadcast(self, number, size_bytes):
            self.heard.add(number)

    world = Model(PerNode(Flood), 2, Budget(broadcasts=1))
    world.do(next(choice for choice in world.choices() if choice.what == "broadcast"))
    with pytest.raises(ProtocolError, match=r"^Flood.heard \(set\)"):
        world.close()


def test_a_default_value_that_nodes_change_is_refused():
    import causeway as cw

    class Shared(cw.Node):
        def __init__(self, seen={}):  # noqa: B006
            self.seen = seen

        def on_start(self):
            self.seen.setdefault(self.id, 0)

    with pytest.raises(cw.RunError, match=r"a default value of Shared\.__init__"):
        cw.run(Shared, cw.AbstractNetwork(3))
