"""A node acts in its own handlers only: one that reaches another node's object cannot act as that node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.inline import InlineEngine
from causeway.errors import UserError
from causeway.explore.model import Budget, Model
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.network.workload import Script, Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol_errors import ProtocolError

MS = 10**9
SERVICES = {
    "send": lambda other: other.send(0, "x", 10),
    "deliver": lambda other: other.deliver(0),
    "new_message": lambda other: other.new_message(),
    "set_timer": lambda other: other.set_timer("t", MS),
    "cancel_timer": lambda other: other.cancel_timer("t"),
    "declare_lookahead": lambda other: other.declare_lookahead(1),
    "unsubscribe": lambda other: other.unsubscribe(1),
    "left": lambda other: other.left(),
    "joined": lambda other: other.joined(),
    "crash": lambda other: other.crash(0),
    "recover": lambda other: other.recover(0),
    "after": lambda other: other.after(MS, other.on_down),
    "every": lambda other: other.every(MS, other.on_down),
    "request": lambda other: other.request(0, "x", MS, other.on_timer, other.on_down),
    "reply": lambda other: other.reply("x"),
    "rng": lambda other: other.rng,
    "move": lambda other: other.move(0, 0, 1),
    "record": lambda other: other.record("x", 1.0),
    "call_begins": lambda other: other.call_begins("read", "k"),
    "call_returns": lambda other: other.call_returns(1),
}


def spec() -> RunSpec:
    """Return a run with one broadcast of node 2 at 1 ms, among four."""
    script = Script(np.array([MS]), np.array([2]), np.array([100]))
    return RunSpec("test", {}, 1, AbstractNetwork(4, delay=constant_delay(1), workload=Workload(4, script=script)), MS)


def run(protocol: PerNode) -> Any:
    return run_protocol(InlineEngine(), spec(), protocol, [])


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_of_another_node_is_refused_by_name(service: str) -> None:
    class Reaches(Node):
        def on_broadcast(self, number, size_bytes):
            self.new_message()
            SERVICES[service](self.runtime.nodes[3])

        def on_timer(self, key):
            pass

    with pytest.raises(ProtocolError) as error:
        run(PerNode(Reaches, 3))
    assert str(error.value).startswith(
        f"node 2, at 0.001 s, in on_broadcast(number=0, size_bytes=100): node 3 acts ({service}) in a handler of node 2"
    )
    assert "self.send" in str(error.value)


def test_a_handler_of_another_node_that_acts_is_refused() -> None:
    nodes: list[Node] = []

    class Calls(Node):
        def __init__(self) -> None:
            super().__init__()
            nodes.append(self)

        def on_broadcast(self, number, size_bytes):
            message = self.new_message()
            for other in nodes:
                other.on_packet(message, self.id, 0)

        def on_packet(self, content, sender, interface):
            self.deliver(content)

    with pytest.raises(ProtocolError, match=r"node 0 acts \(deliver\) in a handler of node 2"):
        run(PerNode(Calls, 3))


@pytest.mark.parametrize(
    ("service", "arguments"),
    [("send", (0, "x", 10, 0, 0)), ("set_timer", ("t", MS))],
)
def test_a_node_that_acts_as_another_one_by_its_runtime_is_refused(service: str, arguments: tuple[Any, ...]) -> None:
    class Pretends(Node):
        def on_broadcast(self, number, size_bytes):
            getattr(self.runtime, service)(3, *arguments)

        def on_timer(self, key):
            pass

    with pytest.raises(ProtocolError, match=rf"node 3 acts \({service}\) in a handler of node 2"):
        run(PerNode(Pretends, 3))


def test_an_instance_in_place_of_a_class_of_nodes_is_refused() -> None:
    with pytest.raises(UserError, match=r"PerNode was given .*; allowed: a class of nodes, as in PerNode\(Echo\)"):
        PerNode(Node())  # type: ignore[arg-type]


def test_a_node_acts_in_every_handler_of_its_own() -> None:
    class Acts(Node):
        def on_start(self):
            self.set_timer("t", MS)

        def on_broadcast(self, number, size_bytes):
            self.deliver(self.new_message())
            self.send(EVERYONE, "x", 10)

        def on_packet(self, content, sender, interface):
            self.record("x", 1)
            self.crash(1)

        def on_timer(self, key):
            self.send(0, "y", 1)

        def on_down(self):
            self.record("down", 1)

    assert run(PerNode(Acts, 3)).events > 8


def test_a_job_of_the_study_may_act_for_any_node() -> None:
    def job(node):
        node.runtime.nodes[3].record("seen", 1)
        node.crash(1)

    protocol = PerNode(Node, 3)
    protocol.every(MS, job)
    outcome = run_protocol(InlineEngine(), RunSpec("test", {}, 1, spec().network, MS, duration_ps=3 * MS), protocol, [])
    assert len(outcome.samples["node[3]", "seen"][0]) >= 2


def test_a_small_model_reports_it_as_a_violation() -> None:
    class Reaches(Node):
        def on_broadcast(self, number, size_bytes):
            self.runtime.nodes[1].send(0, "x", 1)

        def on_down(self):
            self.record("down", 1)

        def on_packet(self, content, sender, interface):
            self.crash(1 - self.id)

    world = Model(PerNode(Reaches), 2, Budget(broadcasts=1))
    world.do(next(choice for choice in world.choices() if choice.what == "broadcast"))
    assert "node 1 acts (send) in a handler of node 0" in (world.broken or "")


def test_a_node_that_another_fails_acts_as_it_goes_down_in_a_small_model() -> None:
    class Fails(Node):
        def on_broadcast(self, number, size_bytes):
            self.crash(1 - self.id)
            self.record("after", 1)

        def on_down(self):
            self.record("down", 1)

    world = Model(PerNode(Fails), 2, Budget(broadcasts=1))
    world.do(next(choice for choice in world.choices() if choice.what == "broadcast"))
    assert world.broken is None
