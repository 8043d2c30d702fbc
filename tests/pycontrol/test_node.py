"""Properties and services of a node, from its making to the end of the run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from causeway.errors import UserError
from causeway.network.units import ms, seconds
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol_errors import Misuse, ProtocolError
from tests.helpers.small_runs import MS, mistake, small_run


def test_a_node_knows_its_id_and_the_run_while_it_is_made() -> None:
    class Knows(Node):
        def __init__(self) -> None:
            self.seen = (self.id, self.node_count, self.nodes, self.peers, self.rng.random())
            self.log.info("made")

    protocol, _ = small_run(Knows)
    seen = [node.seen for node in protocol.nodes]  # type: ignore[attr-defined]
    assert [one[:4] for one in seen] == [(0, 3, range(3), [1, 2]), (1, 3, range(3), [0, 2]), (2, 3, range(3), [0, 1])]
    assert len({one[4] for one in seen}) == 3
    assert seen == [node.seen for node in small_run(Knows)[0].nodes]  # type: ignore[attr-defined]


def test_a_generator_of_init_goes_on_in_the_handlers() -> None:
    class Draws(Node):
        def __init__(self) -> None:
            self.drawn = [self.rng.random()]

        def on_start(self) -> None:
            self.drawn += [self.rng.random()]

    first, second = small_run(Draws)[0].nodes[0].drawn  # type: ignore[attr-defined]
    assert first != second


@pytest.mark.parametrize(
    "acts",
    [
        lambda node: node.send(0, "x"), lambda node: node.set_timer("x", 5), lambda node: node.after(5, node.on_down),
        lambda node: node.every(5, node.on_down), lambda node: node.new_message(), lambda node: node.crash(),
    ],
)  # fmt: skip
def test_a_node_that_is_being_made_cannot_act(acts: Any) -> None:
    class Early(Node):
        def __init__(self) -> None:
            acts(self)

    with pytest.raises(ProtocolError, match=r"node 0, at 0 s, in make\(\): \w+ is used in __init__.*use it in on"):
        small_run(Early)


def test_a_dataclass_with_defaults_is_a_node() -> None:
    @dataclass
    class Counter(Node):
        heard: set[int] = field(default_factory=set)
        first: int = 7

        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.heard.add(self.id)
            self.send(EVERYONE, self.id)

        def on_packet(self, content: int, sender: int, interface: int) -> None:
            self.heard.add(content)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        protocol, outcome = small_run(Counter)
    assert [node.heard for node in protocol.nodes] == [{2}] * 3  # type: ignore[attr-defined]
    assert [node.id for node in protocol.nodes] == [0, 1, 2] and outcome.events == 3


def test_an_argument_with_a_default_is_no_id() -> None:
    class Limited(Node):
        def __init__(self, limit: int = 5) -> None:
            self.limit = limit

    assert [node.limit for node in small_run(Limited)[0].nodes] == [5] * 3  # type: ignore[attr-defined]


def test_a_class_that_takes_its_id_works_and_warns() -> None:
    class Old(Node):
        def __init__(self, id_: int) -> None:
            super().__init__(id_)
            self.twice = 2 * id_

    with pytest.warns(DeprecationWarning) as warned:
        protocol, _ = small_run(Old)
    assert [node.twice for node in protocol.nodes] == [0, 2, 4]  # type: ignore[attr-defined]
    said = [str(one.message) for one in warned]
    assert said[0].startswith("Old.__init__(self, id_) is deprecated")
    assert len([one for one in said if one.startswith("passing the id to Node.__init__ in Old")]) == 1


def test_a_function_is_called_with_the_id_without_a_warning() -> None:
    class Given(Node):
        def __init__(self, i: int, more: int) -> None:
            self.given = (i, more)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [small_run(make)[0].nodes for make in (partial(Given, more=4), lambda i: Given(i, 4))]
    assert [node.given for nodes in made for node in nodes] == [(0, 4), (1, 4), (2, 4)] * 2  # type: ignore[attr-defined]


def test_a_class_with_further_arguments_is_refused_with_the_way_to_give_them() -> None:
    class Two(Node):
        def __init__(self, id_: int, limit: int) -> None:
            self.limit = limit

    with pytest.raises(UserError, match=r"Two.__init__ needs id_, limit; write PerNode\(lambda id_: Two\(\.\.\.\)\)"):
        PerNode(Two)


def test_time_has_a_form_for_people_and_one_for_arithmetic() -> None:
    times: list[tuple[float, int]] = []

    class Clock(Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            times.append((self.now, self.now_ps))

    small_run(Clock)
    assert times == [(0.001, MS)]


def test_a_class_may_hide_properties() -> None:
    class Raft(Node):
        nodes = 3

        def __init__(self) -> None:
            self.log = ["entry"]  # type: ignore[assignment]
            self.peers = (1,)  # type: ignore[assignment]

    assert small_run(Raft)[0].nodes[0].log == ["entry"]


def test_a_node_crashes_itself_and_another_recovers_it() -> None:
    seen: list[tuple[str, int, int]] = []

    class Fails(Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(0, "help")
            self.after(ms(1), self.crash)

        def on_packet(self, content: str, sender: int, interface: int) -> None:
            self.after(ms(5), self.recover, sender)

        def on_down(self) -> None:
            seen.append(("down", self.id, self.now_ps))

        def on_up(self) -> None:
            seen.append(("up", self.id, self.now_ps))

    small_run(Fails)
    assert [one[:2] for one in seen] == [("down", 2), ("up", 2)] and seen[0][2] == 4 * MS < seen[1][2]


# ---- the end -------------------------------------------------------------------------------------------------------
def test_on_finish_is_called_once_for_each_node_and_its_samples_are_kept() -> None:
    finished: list[tuple[int, int]] = []

    class Ends(Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.crash(0)

        def on_finish(self) -> None:
            finished.append((self.id, self.now_ps))
            self.record("end", self.now)

    _, outcome = small_run(Ends, until_ps=10 * MS)
    end_ps = outcome.finish.end_ps
    assert finished == [(0, end_ps), (1, end_ps), (2, end_ps)]
    assert [outcome.samples[f"node[{i}]", "end"] for i in range(3)] == [([end_ps], [end_ps / 10**12])] * 3


def test_on_finish_is_called_after_a_stop_and_not_after_a_failure() -> None:
    finished: list[str] = []

    class Stops(Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.stop()

        def on_finish(self) -> None:
            finished.append("stopped")

    class Fails(Stops):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            raise KeyError("lost")

    small_run(Stops)
    assert finished == ["stopped"] * 3
    with pytest.raises(ProtocolError):
        small_run(Fails)
    assert finished == ["stopped"] * 3


@pytest.mark.parametrize(
    ("acts", "name"),
    [
        (lambda node: node.send(0, "x"), "send"), (lambda node: node.set_timer("x", 5), "set_timer"),
        (lambda node: node.after(5, node.on_down), "set_timer"),
        (lambda node: node.deliver(0), "deliver, joined or left"),
        (lambda node: node.crash(), "crash or recover"), (lambda node: node.new_message(), "new_message"),
        (lambda node: node.request(0, "x", 5, print, print), "request"),
    ],
)  # fmt: skip
def test_a_node_cannot_act_at_the_end(acts: Any, name: str) -> None:
    class Late(Node):
        def on_finish(self) -> None:
            acts(self)

    with pytest.raises(ProtocolError) as error:
        small_run(Late)
    assert str(error.value).startswith(f"node 0, at 0.001 s, in on_finish(): {name} ")


# ---- mistakes ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("does", "message"),
    [
        (lambda n: n.set_timer("t", -1), "set_timer was given delay_ps=-1; allowed: a whole number, 0 to"),
        (lambda n: n.set_timer("t", 0.3), "as seconds(0.3) or ms(300) return them"),
        (lambda n: n.set_timer("t", seconds(n.now / 3)), "seconds(0.0003333333333333333) is not a whole number of pic"),
        (lambda n: n.send(9, "x"), "send was given peer=9; allowed: a whole number, 0 to 2, or EVERYONE"),
        (lambda n: n.send(0, object()), "pass size_bytes, or define an attribute size_bytes in object"),
        (lambda n: n.deliver(0), "deliver was given message=0; allowed: none, since no node has called new_message()"),
        (lambda n: (n.new_message(), n.deliver(1)), "deliver was given message=1; allowed: a whole number, 0 to 0, th"),
        (lambda n: n.runtime.nodes[0].rng, "node 0 acts (rng) in a handler of node 2; a node can act only in its own"),
        (lambda n: n.crash(5), "crash was given node=5; allowed: a whole number, 0 to 2"),
        (lambda n: n.recover(1.0), "recover was given node=1.0; allowed: a whole number, 0 to 2"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_remedy(does: Any, message: str) -> None:
    assert message in mistake(does)


def test_a_generator_outside_of_handlers_is_refused() -> None:
    with pytest.raises(Misuse, match="rng is used outside a handler; use it in the handlers and __init__"):
        Node().rng  # noqa: B018
    protocol, _ = small_run(Node)
    with pytest.raises(Misuse, match="rng is used outside a handler"):
        protocol.nodes[0].rng  # noqa: B018


def test_an_argument_with_another_name_does_not_get_the_id() -> None:
    class Lossy(Node):
        def __init__(self, p: float) -> None:
            self.p = p

    with pytest.raises(UserError, match=r"Lossy.__init__ needs p; write PerNode\(lambda id_: Lossy\(\.\.\.\)\)"):
        small_run(Lossy)
