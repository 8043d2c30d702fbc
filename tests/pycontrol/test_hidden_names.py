"""An attribute of a node that hides what every node has is named, wherever it is assigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import causeway as cw
from causeway.pycontrol.handlers import HIDEABLE, NOT_ASSIGNED
from tests.helpers.small_runs import mistake, small_run

SERVICES = sorted(name for name in NOT_ASSIGNED - {"now_ps", "current_request", "vehicle"})
"""Python itself refuses to assign to the other ones."""


def test_the_names_are_those_of_all_nodes() -> None:
    assert {"battery", "_plan"} < NOT_ASSIGNED < HIDEABLE and {"send", "stop", "record", "left"} < HIDEABLE
    assert NOT_ASSIGNED.isdisjoint({"id", "log", "now", "nodes", "peers", "node_count", "on_packet"})


@pytest.mark.parametrize("name", SERVICES)
def test_an_attribute_that_hides_a_service_is_an_error(name: str) -> None:
    class Hiding(cw.Node):
        def on_start(self) -> None:
            setattr(self, name, 5)

    with pytest.raises(cw.RunError) as error:
        small_run(Hiding)
    assert f"node 0, at 0 s, in on_start(): self.{name} = 5 hides Node.{name}, " in str(error.value)


def test_an_attribute_of_init_is_an_error() -> None:
    @dataclass(eq=False)
    class Phone(cw.Node):
        level: float = 0.5

        def __post_init__(self) -> None:
            self.battery = self.level  # type: ignore[assignment, misc]

    with pytest.raises(cw.RunError, match=r"self\.battery = 0\.5 hides Node\.battery, a service of every node; give"):
        small_run(Phone)


def test_an_attribute_of_a_later_handler_is_an_error() -> None:
    class Late(cw.Node):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.battery = True  # type: ignore[assignment, misc]

    with pytest.raises(cw.RunError, match=r"node 2, .* in on_finish.*: self\.battery = True hides Node\.battery"):
        small_run(Late)


def test_an_attribute_may_have_the_name_of_a_service_that_the_node_does_not_call() -> None:
    """So a service of a later version does not break the nodes of this one."""

    class Waiting(cw.Node):
        def on_start(self) -> None:
            self.left = 3  # type: ignore[method-assign, assignment]

        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.left -= 1  # type: ignore[method-assign, operator]

    protocol, _ = small_run(Waiting)
    assert protocol.nodes[2].left == 2


def test_the_clash_is_the_cause_of_the_error_that_it_leads_to() -> None:
    def does(node: Any) -> None:
        node.record = []
        node.record("load", 5)

    assert mistake(does).startswith("self.record = [] hides Node.record")


def test_a_class_attribute_or_method_is_an_error() -> None:
    for name in ("battery", "_plan", "stop"):
        kind = type("Hiding", (cw.Node,), {name: 5})
        with pytest.raises(cw.UserError, match=f"Hiding.{name} hides Node.{name}, "):
            small_run(kind)


def test_nodes_may_draw_and_ask_for_what_they_have() -> None:
    class Draws(cw.Node):
        def on_start(self) -> None:
            self.log, self.now = [self.rng.random()], 5  # type: ignore[assignment, misc]
            self.after(5, self.ask)

        def ask(self) -> None:
            self.request((self.id + 1) % 3, "hi", cw.ms(5), self.on_answer, self.ask_again)

        def on_answer(self, content: object, sender: int) -> None: ...

        def ask_again(self) -> None: ...

    protocol, _ = small_run(Draws)
    assert all(0 <= node.log[0] < 1 and node.now == 5 for node in protocol.nodes)


def test_a_class_without_handlers_is_a_warning() -> None:
    class Empty(cw.Node):
        """It says nothing."""

    protocol, _ = small_run(Empty)
    (said,) = protocol.warnings()
    assert said.startswith("Empty has no handler (on_start, on_broadcast, on_packet, on_timer, ...), so its nodes do")


def test_a_battery_that_is_not_there_is_an_error_of_the_user() -> None:
    class Idle(cw.Node):
        def on_start(self) -> None: ...

    run = cw.run(Idle, cw.AbstractNetwork(2))
    with pytest.raises(cw.UserError, match=r"battery: node 1 has no battery; give its network one") as error:
        run.nodes[1].battery  # noqa: B018
    assert "\n" not in str(error.value)
