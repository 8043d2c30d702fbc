"""Handlers for contents of one type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from causeway.errors import UserError
from causeway.pycontrol.dispatch import handles
from causeway.pycontrol.node import EVERYONE, Node
from causeway.pycontrol.protocol_errors import ProtocolError
from causeway.pycontrol.shared import watching_contents
from tests.helpers.small_runs import small_run


@dataclass
class Probe:
    number: int


class Urgent(Probe):
    pass


@dataclass
class Ack:
    number: int


class Prober(Node):
    def __init__(self) -> None:
        self.got: list[tuple[str, object, int]] = []

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.send(EVERYONE, Probe(1))
        self.send(0, Urgent(2))

    @handles(Probe)
    def on_probe(self, probe: Probe, sender: int) -> None:
        self.got.append((type(probe).__name__, probe.number, sender))
        self.send(sender, Ack(probe.number))

    @handles(Ack)
    def on_ack(self, ack: Ack, sender: int) -> None:
        self.got.append(("Ack", ack.number, sender))


def got(kind: type[Prober]) -> list[list[tuple[str, object, int]]]:
    return [sorted(node.got, key=repr) for node in small_run(kind)[0].nodes]  # type: ignore[attr-defined]


def test_a_content_comes_to_the_handler_of_its_type_or_of_a_base_class() -> None:
    assert got(Prober) == [
        [("Probe", 1, 2), ("Urgent", 2, 2)], [("Probe", 1, 2)], [("Ack", 1, 0), ("Ack", 1, 1), ("Ack", 2, 0)],
    ]  # fmt: skip


def test_the_handler_of_the_nearest_class_wins_and_subclasses_override() -> None:
    class Sharp(Prober):
        @handles(Urgent)
        def on_urgent(self, urgent: Urgent, sender: int) -> None:
            self.got.append(("urgent", urgent.number, sender))

        def on_ack(self, ack: Ack, sender: int) -> None:
            self.got.append(("own", ack.number, sender))

    assert got(Sharp) == [[("Probe", 1, 2), ("urgent", 2, 2)], [("Probe", 1, 2)], [("own", 1, 0), ("own", 1, 1)]]


def test_one_handler_may_handle_several_types() -> None:
    class Both(Node):
        def __init__(self) -> None:
            self.got: list[Probe | Ack] = []

        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(0, Probe(1))
            self.send(0, Ack(2))

        @handles(Probe, Ack)
        def on_any(self, content: Probe | Ack, sender: int) -> None:
            self.got.append(content)

    assert sorted(map(repr, small_run(Both)[0].nodes[0].got)) == ["Ack(number=2)", "Probe(number=1)"]  # type: ignore[attr-defined]


def test_a_content_without_a_handler_is_an_error_that_names_the_handlers() -> None:
    class Deaf(Prober):
        def on_broadcast(self, number: int, size_bytes: int) -> None:
            self.send(0, "hello")

    with pytest.raises(ProtocolError) as error:
        small_run(Deaf)
    assert str(error.value).partition("\n")[0] == (
        "node 0, at 0.003 s, in on_packet(content='hello', sender=2, interface=0): Deaf has no handler of str; it "
        "handles Ack, Probe; add a method with @handles(str)"
    )


def test_on_packet_beside_handlers_by_type_must_call_super() -> None:
    class Keeps(Prober):
        def on_packet(self, content: Any, sender: int, interface: int) -> None:
            pass

    with pytest.raises(UserError, match=r"Keeps.on_packet prevents calls of Keeps\.on_probe.*call super\(\)"):
        small_run(Keeps)

    class Counts(Prober):
        packets = 0

        def on_packet(self, content: Any, sender: int, interface: int) -> None:
            self.packets += 1
            super().on_packet(content, sender, interface)

    assert [node.packets for node in small_run(Counts)[0].nodes] == [2, 1, 3]  # type: ignore[attr-defined]
    assert got(Counts) == got(Prober)


def test_wrong_uses_are_refused_where_they_are_written() -> None:
    with pytest.raises(UserError, match=r"handles was given 'Probe'; allowed: a class of contents, as in @handles"):
        handles("Probe")  # type: ignore[call-overload]
    with pytest.raises(UserError, match="handles needs the class"):
        handles()  # type: ignore[call-overload]
    with pytest.raises(UserError, match=r"on_it cannot handle .*; its arguments must be \(self, content, sender\)"):

        @handles(Probe)  # type: ignore[arg-type]
        def on_it(self: Node, probe: Probe) -> None:
            pass

    with pytest.raises(UserError, match=r"Twice\.one and Twice\.two both handle Probe; keep one of them"):

        class Twice(Node):
            @handles(Probe)
            def one(self, probe: Probe, sender: int) -> None: ...

            @handles(Probe)
            def two(self, probe: Probe, sender: int) -> None: ...

    class Later(Node):
        @handles(Probe)
        async def on_probe(self, probe: Probe, sender: int) -> None: ...  # type: ignore[arg-type]

    with pytest.raises(UserError, match=r"Later.on_probe is a coroutine function \(async def\), whose body is not"):
        small_run(Later)


def test_a_handler_by_type_that_changes_what_arrived_is_named() -> None:
    class Changes(Prober):
        @handles(Probe)
        def on_probe(self, probe: Probe, sender: int) -> None:
            probe.number += 1

    with watching_contents(), pytest.raises(ProtocolError, match=r"Changes\.on_probe .* changed the content"):
        small_run(Changes)
